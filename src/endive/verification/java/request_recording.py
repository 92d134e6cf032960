"""What was recorded from real Iceberg, as it lies in ``data/``: read, and written by the command that records.

This file defines their form. How they come about lives in ``verification/java_rig``, what is held against them in
``java_requests``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.verification.java.request_trace import Recorded

DATA: Final = Path(__file__).parent / "data"
REQUESTS_FILE: Final = DATA / "requests.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Every scenario's requests, by its key, and where they come from."""

    scenarios: Mapping[str, Recorded]
    iceberg: str
    date: str


def read_requests(path: Path = REQUESTS_FILE) -> Recording:
    """The recording that travels with the package."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    scenarios = {key: Recorded.from_dict(value) for key, value in document["scenarios"].items()}
    return Recording(scenarios=scenarios, iceberg=document["iceberg"], date=document["date"])


def write_requests(recording: Recording, path: Path = REQUESTS_FILE) -> None:
    """One line per scenario, so that two recordings are compared by eye."""
    lines = [f'{{"iceberg": {json.dumps(recording.iceberg)}, "date": {json.dumps(recording.date)}, "scenarios": {{']
    entries = [f"{json.dumps(key)}: {json.dumps(each.to_dict())}" for key, each in recording.scenarios.items()]
    path.write_text("\n".join([*lines, ",\n".join(entries), "}}"]) + "\n", encoding="utf-8")
