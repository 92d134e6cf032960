"""What real Iceberg did in every pair: verdict, attempts, requests, what was read. One file per release, in ``data/``.

How the recording comes about lives in ``rigs/java``; the page made of it in ``conflict_page``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from verification.suites.java.request_recording import DATA, NEWEST, read_entries, write_entries
from verification.suites.java.request_trace import Recorded

COMMITTED: Final = "committed"

Reads = Mapping[str, int]  # "list of a rival" -> how many


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPair:
    """How the victim's commit ended; ``reads`` says for each attempt whose lists and manifests it read, if kept."""

    recorded: Recorded
    exception: str  # the class of what it ended with; "" if it committed
    message: str  # how that begins
    reads: tuple[Reads, ...]

    @property
    def is_committed(self) -> bool:
        """Whether the victim got through."""
        return self.recorded.outcome == COMMITTED

    @property
    def attempts(self) -> int:
        """How many it made."""
        return len(self.recorded.attempts) - 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        error = {} if self.is_committed else {"exception": self.exception, "message": self.message}
        reads = {"reads": [dict(sorted(each.items())) for each in self.reads]} if self.reads else {}
        return {**self.recorded.to_dict(), **error, **reads}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RecordedPair:
        """From JSON."""
        return cls(
            recorded=Recorded.from_dict(document),
            exception=document.get("exception", ""),
            message=document.get("message", ""),
            reads=tuple(document.get("reads", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecording:
    """Every pair by its key, and where it comes from."""

    pairs: Mapping[str, RecordedPair]
    iceberg: str
    date: str


@cache
def read_pairs(release: str = NEWEST, folder: Path = DATA, what: str = "pairs") -> PairRecording:
    """The recording of a release that travels with the package."""
    entries, date = read_entries(what, release, folder)
    pairs = {key: RecordedPair.from_dict(value) for key, value in entries.items()}
    return PairRecording(pairs=pairs, iceberg=release, date=date)


def write_pairs(recording: PairRecording, folder: Path = DATA, what: str = "pairs") -> None:
    """One line per pair."""
    entries = {key: each.to_dict() for key, each in recording.pairs.items()}
    write_entries(what, recording.iceberg, recording.date, entries, folder)
