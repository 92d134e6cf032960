"""Who gets which lane of a timeline: one per writer, or as many as a source needs for txns that overlap.

The txns in them are chosen in ``watch``. A client of a closed loop and a job are writers and keep their lane. Txns of
any other source take its first lane that is free when they commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]  # of a txn, as a result has it


@dataclass(slots=True)
class Lane:
    """One row of the timeline: txns one after another."""

    source: str
    number: int  # of the writer, or of the lane among those of its source; from 1
    is_writer: bool
    txns: list[Row] = field(default_factory=list)

    @property
    def label(self) -> str:
        """Whose lane it is."""
        return f"{self.source} {self.number}" if self.is_writer or self.number > 1 else self.source


def lanes_of(txns: Sequence[Row], sources: Sequence[str]) -> list[Lane]:
    """The lanes of txns that have begun to commit, in the order of the sources and their numbers."""
    lanes: dict[tuple[str, int], Lane] = {}
    for txn in sorted(txns, key=lambda txn: (txn["commit_start_ms"], txn["txn_id"])):
        source, client = txn["source"], txn["client"]
        number = _first_free(lanes, txn) if client is None else client + 1
        lanes.setdefault((source, number), Lane(source, number, client is not None)).txns.append(txn)
    return sorted(lanes.values(), key=lambda lane: (sources.index(lane.source), lane.number))


def end_ms(txn: Row) -> float:
    """When a txn is over; never, if the run ended before it."""
    end_ms_or_none: float | None = txn["end_ms"]
    return float("inf") if end_ms_or_none is None else end_ms_or_none


def _first_free(lanes: dict[tuple[str, int], Lane], txn: Row) -> int:
    number = 1
    while (lane := lanes.get((txn["source"], number))) and end_ms(lane.txns[-1]) > txn["commit_start_ms"]:
        number += 1
    return number
