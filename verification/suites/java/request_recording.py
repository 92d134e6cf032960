"""What was recorded from real Iceberg, as it lies in ``data/``: one file per release, read and written here.

A newer release's file says ``"="`` where it did the same as the one before. How the recordings come about lives in
``rigs/java``, what is held against them in ``java_requests``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from verification import recordings
from verification.suites.java.request_trace import Recorded

DATA: Final = Path(__file__).parent / "data"
RELEASES: Final = ("1.9.2", "1.11.0")  # recorded ones, oldest first
NEWEST: Final = RELEASES[-1]
SAMPLED: Final = ("1.10.0",)  # some pairs of them, which stand alone
SAME: Final = "="


def line_of(release: str) -> str:
    """The release line, as ``commit.release`` names it: 1.9 of 1.9.2."""
    return release.rpartition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Every scenario's requests, by its key, and where they come from."""

    scenarios: Mapping[str, Recorded]
    iceberg: str
    date: str


def read_requests(release: str = NEWEST, folder: Path = DATA) -> Recording:
    """The recording of a release that travels with the package."""
    entries, date = read_entries("requests", release, folder)
    return Recording(
        scenarios={key: Recorded.from_dict(value) for key, value in entries.items()}, iceberg=release, date=date
    )


def write_requests(recording: Recording, folder: Path = DATA) -> None:
    """One line per scenario, so that two recordings are compared by eye."""
    entries = {key: each.to_dict() for key, each in recording.scenarios.items()}
    write_entries("requests", recording.iceberg, recording.date, entries, folder)


# ---- files ---------------------------------------------------------------------------------------------


def read_entries(what: str, release: str, folder: Path = DATA) -> tuple[dict[str, Any], str]:
    """The entries of a recording by key, and its date; none if there is no such recording."""
    path = _file_of(what, release, folder)
    if not path.is_file():
        return {}, ""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    older = _older_entries(what, release, folder)
    entries = {key: older[key] if value == SAME else value for key, value in document["entries"].items()}
    return entries, document["date"]


def write_entries(what: str, release: str, date: str, entries: Mapping[str, Any], folder: Path = DATA) -> None:
    """One line per entry."""
    older = _older_entries(what, release, folder)
    told = {key: SAME if older.get(key) == value else value for key, value in entries.items()}
    recordings.write_entries(_file_of(what, release, folder), {"iceberg": release, "date": date}, told)


def _file_of(what: str, release: str, folder: Path) -> Path:
    return folder / f"{what}_{release}.json"


def _older_entries(what: str, release: str, folder: Path) -> dict[str, Any]:
    """Those of the recorded release before; a release that was never recorded stands alone."""
    position = RELEASES.index(release) if release in RELEASES else 0
    return read_entries(what, RELEASES[position - 1], folder)[0] if position > 0 else {}
