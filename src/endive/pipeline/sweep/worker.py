"""Inside ``mapInArrow``: runs in, simulated parts on disk, one row per run out.

This file defines the two schemas of that step. It is called in a Python worker of Spark; what happens there is in
``endive.pipeline.sweep.part``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from endive.pipeline.sweep.work import ProgressNotes, RunSpec, Work

TASK_SCHEMA: Final = pa.schema(
    [
        pa.field("task", pa.int32(), nullable=False),
        pa.field("part", pa.string(), nullable=False),
        pa.field("part_position", pa.int32(), nullable=False),  # of the part in its task
        pa.field("run_position", pa.int32(), nullable=False),  # of the run in its part
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("config", pa.string(), nullable=False),
        pa.field("config_hash", pa.string(), nullable=False),
        pa.field("keeps_transactions", pa.bool_(), nullable=False),
    ]
)
OUTCOME_SCHEMA: Final = pa.schema(
    [
        pa.field("part", pa.string(), nullable=False),
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("txns", pa.int64()),
    ]
)
OUTCOME_DDL: Final = "part string, run_id string, status string, txns bigint"


def simulate_task(work: Work, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Simulate the parts of one task, in their order, and tell of each run after its part is committed."""
    rows: list[dict[str, Any]] = [row for batch in batches for row in batch.to_pylist()]
    parts: dict[str, list[RunSpec]] = {}
    for row in sorted(rows, key=lambda row: (row["part_position"], row["run_position"])):
        spec = RunSpec(row["run_id"], row["seed"], row["config"], row["config_hash"], row["keeps_transactions"])
        parts.setdefault(row["part"], []).append(spec)
    for name, specs in parts.items():
        yield _outcome(name, simulate_or_read(work, name, specs))


def simulate_or_read(work: Work, name: str, specs: Sequence[RunSpec]) -> list[dict[str, Any]]:
    """The records of a part, which another attempt at this task may have committed already."""
    from endive.pipeline.dataset.part_files import Part, PartFiles
    from endive.pipeline.dataset.places import place_of
    from endive.pipeline.sweep.part import simulate_part

    kept = {spec.run_id for spec in specs if spec.keeps_transactions}
    files = PartFiles(place_of(work.folder), work.study, Part.of(name, [spec.run_id for spec in specs], kept))
    if files.is_complete:
        records: list[dict[str, Any]] = files.read_record()["runs"]
        return records
    notes = ProgressNotes(place_of(work.progress), name)
    return simulate_part(files, specs, work.engine, notes.write, notes.lost_runs())


def _outcome(name: str, records: list[dict[str, Any]]) -> pa.RecordBatch:
    rows = [
        {"part": name, "run_id": record["run_id"], "status": record["status"], "txns": record.get("txns")}
        for record in records
    ]
    return pa.RecordBatch.from_pylist(rows, schema=OUTCOME_SCHEMA)
