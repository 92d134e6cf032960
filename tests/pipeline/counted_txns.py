"""Txns made by hand and counted: what the tests of counts and of rates share."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from endive.pipeline.analysis.count_tables import OUTCOMES, TIMELINE, slot_tables
from endive.pipeline.analysis.open_dataset import TRANSACTION_COLUMNS
from endive.pipeline.analysis.txn_counts import Labels, count_slots, count_txns, numbered_runs, with_bounds
from endive.results import TRANSACTION_SCHEMA
from endive.tables.run_counts import run_windows

POINT = 3
LABELS = Labels(("validated_overwrite", "fast_append"), ("b", "a"))
_PLAIN = {pa.float64(), pa.int32(), pa.int64()}
_SCHEMA = pa.schema(
    [
        ("study", pa.string()),
        ("point", pa.int32()),
        ("seed", pa.int64()),
        *(
            (name, kind if kind in _PLAIN else pa.string())
            for name, kind in ((name, TRANSACTION_SCHEMA.field(name).type) for name in TRANSACTION_COLUMNS)
        ),
    ]
)
_USUAL = {
    "study": "s",
    "point": POINT,
    "source": "a",
    "kind": "fast_append",
    "reason": "retries_exhausted",
    "in_flight_stage": "committing",
    "attempts": 1,
    "n_behind_first": 0,
    "phase_history_ms": 0.0,
    "history_lists": 0,
}


def counted(spark: Any, *runs: Any, bins: int = 5, known: int | None = None) -> tuple[pa.Table, pa.Table]:
    """Runs of txns as (status, submitted, ended, commit latency), in ms, or as dictionaries; the two counts of them.

    Runs last 10 s, with a window from 2 to 8 s. Of ``known`` runs, all if not said, the analysis has heard.
    """
    rows = [{**_USUAL, "seed": run, **_named(txn)} for run, txns in enumerate(runs) for txn in txns]
    points, known_runs = numbered_runs(run_windows(run_table(len(runs) if known is None else known)))
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, _SCHEMA))
    counts = count_txns(with_bounds(frame, spark.createDataFrame(points)), LABELS, bins)
    slots = count_slots(counts, spark.createDataFrame(known_runs.select(["place", "seed"])), LABELS, bins)
    tables = slot_tables(slots.toArrow(), known_runs, LABELS, bins)
    return tables[TIMELINE], tables[OUTCOMES]


def _named(txn: Any) -> dict[str, Any]:
    if isinstance(txn, dict):
        return txn
    return dict(zip(("status", "submit_ms", "end_ms", "commit_latency_ms"), txn, strict=True))


def run_table(count: int) -> pa.Table:
    """So many of these runs, as the dataset tells of them."""
    return pa.table(
        {
            "study": ["s"] * count,
            "point": pa.array([POINT] * count, pa.int32()),
            "seed": list(range(count)),
            "run_id": [f"r{run}" for run in range(count)],
            "status": ["ok"] * count,
            "duration_ms": [10_000.0] * count,
            "window_start_ms": [2_000.0] * count,
            "window_end_ms": [8_000.0] * count,
        }
    )
