"""What a long list of snapshots adds to a REST server's answers: a scratch table gets one, is loaded, and loses it.

One commit adds the snapshots and one removes them; their manifest lists are named and never written, because nobody
reads them. They are parsed and served one by one, which costs more than as many bytes in one property.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from endive.observation.measurement.clients import timed
from endive.observation.tables.catalogs import pyiceberg

SNAPSHOTS: Final = 1500  # about a MiB
LOADS: Final = 12
WARM_UPS: Final = 3  # a server that runs for the first time through code for long lists is slow
REQUESTS: Final = 2 * (WARM_UPS + LOADS) + 4  # loads, and two commits that are looked at once each
SUMMARY: Final = {  # as Spark writes one
    "added-data-files": "1",
    "added-records": "1000",
    "added-files-size": "104857",
    "changed-partition-count": "1",
    "total-delete-files": "0",
    "total-position-deletes": "0",
    "total-equality-deletes": "0",
    "spark.app.id": "local-1794960000000",
    "engine-version": "4.0.1",
    "engine-name": "spark",
    "iceberg-version": "Apache Iceberg 1.10.0",
}


@dataclass(slots=True, kw_only=True)
class LongAnswers:
    """Loads in ms with the list and, after it, without; what PyIceberg's own parsing takes of the difference."""

    list_bytes: int = 0
    long_ms: list[float] = field(default_factory=list)
    short_ms: list[float] = field(default_factory=list)
    parse_ms: list[float] = field(default_factory=list)

    @property
    def ms_per_mib(self) -> float:
        """What a MiB of the list adds to a load, PyIceberg's parsing included."""
        return (_warm(self.long_ms) - _warm(self.short_ms)) * 2**20 / self.list_bytes

    @property
    def parse_ms_per_mib(self) -> float:
        """Of that, what PyIceberg takes to parse it."""
        return min(self.ms_per_mib, _warm(self.parse_ms) * 2**20 / self.list_bytes)


def _warm(times_ms: Sequence[float]) -> float:
    return median(times_ms[WARM_UPS:])


def measure_long_answers(catalog: Any, name: str, end_s: float) -> LongAnswers | None:
    """Loads with a long list; nothing if the server refuses such a commit, or answers without the list."""
    answers = LongAnswers()
    table = catalog.load_table(name)
    snapshots = _snapshots(table)
    updates = pyiceberg("table.update")
    try:
        catalog.commit_table(table, (), tuple(updates.AddSnapshotUpdate(snapshot=each) for each in snapshots))
        told = catalog.load_table(name).metadata
        if len(told.snapshots) < len(snapshots):
            return None
        answers.list_bytes = sum(len(each.model_dump_json(by_alias=True, exclude_none=True)) for each in snapshots)
        text = told.model_dump_json(by_alias=True)
        for _ in _turns(end_s):
            answers.long_ms.append(timed(catalog.load_table, name)[0])
            answers.parse_ms.append(timed(type(told).model_validate_json, text)[0])
    except Exception:
        return None
    finally:
        with suppress(Exception):  # the table is dropped in any case
            ids = [each.snapshot_id for each in snapshots]
            catalog.commit_table(table, (), (updates.RemoveSnapshotsUpdate(snapshot_ids=ids),))
    answers.short_ms = [timed(catalog.load_table, name)[0] for _ in _turns(end_s)]
    is_enough = min(len(answers.long_ms), len(answers.short_ms)) > WARM_UPS
    return answers if is_enough else None


def _turns(end_s: float) -> Iterator[int]:
    return (turn for turn in range(WARM_UPS + LOADS) if time.monotonic() < end_s)


def _snapshots(table: Any) -> list[Any]:
    """Appends that were never made, each the parent of the next."""
    kept, parent, first = [], None, table.metadata.last_sequence_number + 1
    module = pyiceberg("table.snapshots")
    for place in range(SNAPSHOTS):
        own = secrets.randbits(62)
        totals = {f"total-{what}": str(1000 * (place + 1)) for what in ("records", "files-size", "data-files")}
        kept.append(
            module.Snapshot(
                snapshot_id=own,
                parent_snapshot_id=parent,
                sequence_number=first + place,
                timestamp_ms=table.metadata.last_updated_ms,
                manifest_list=f"{table.location()}/metadata/snap-{own}-1-{secrets.token_hex(16)}.avro",
                summary=module.Summary(module.Operation.APPEND, **SUMMARY, **totals),
                schema_id=table.metadata.current_schema_id,
            )
        )
        parent = own
    return kept
