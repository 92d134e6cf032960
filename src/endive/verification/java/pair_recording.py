"""What real Iceberg did in every pair, as it lies in ``data/pairs.json``: verdict, attempts, requests, what was read.

This file defines the form of the recording. How it comes about lives in ``verification/java_rig``; the page made of it
in ``conflict_page``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.verification.java.request_recording import DATA
from endive.verification.java.request_trace import Recorded

PAIRS_FILE: Final = DATA / "pairs.json"
COMMITTED: Final = "committed"

Reads = Mapping[str, int]  # "list of a rival" -> how many


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedPair:
    """How the victim's commit ended; ``reads`` says for each attempt whose lists and manifests it read."""

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
        return {**self.recorded.to_dict(), **error, "reads": [dict(sorted(each.items())) for each in self.reads]}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> RecordedPair:
        """From JSON."""
        return cls(
            recorded=Recorded.from_dict(document),
            exception=document.get("exception", ""),
            message=document.get("message", ""),
            reads=tuple(document["reads"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRecording:
    """Every pair by its key, and where it comes from."""

    pairs: Mapping[str, RecordedPair]
    iceberg: str
    date: str


def read_pairs(path: Path = PAIRS_FILE) -> PairRecording:
    """The recording that travels with the package."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    pairs = {key: RecordedPair.from_dict(value) for key, value in document["pairs"].items()}
    return PairRecording(pairs=pairs, iceberg=document["iceberg"], date=document["date"])


def write_pairs(recording: PairRecording, path: Path = PAIRS_FILE) -> None:
    """One line per pair."""
    head = f'{{"iceberg": {json.dumps(recording.iceberg)}, "date": {json.dumps(recording.date)}, "pairs": {{'
    entries = [f"{json.dumps(key)}: {json.dumps(each.to_dict())}" for key, each in recording.pairs.items()]
    path.write_text("\n".join([head, ",\n".join(entries), "}}"]) + "\n", encoding="utf-8")
