"""Txns made by hand, written as a file and counted: what the tests of counts and of rates share."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from endive.pipeline.analysis.txn_counts import CountedRun, count_txns

RUN = CountedRun(point=3, duration_us=10_000_000, window_start_us=2_000_000, window_end_us=8_000_000)
_NAMES = ("run_id", "source", "kind", "status")
_SCHEMA = pa.schema(
    [
        *((name, pa.dictionary(pa.int32(), pa.string())) for name in _NAMES),
        *((name, pa.float64()) for name in ("submit_ms", "end_ms", "commit_latency_ms")),
        ("attempts", pa.int32()),
        ("n_behind_first", pa.int64()),
        ("phase_history_ms", pa.float64()),
        ("history_lists", pa.int32()),
    ]
)
_USUAL = {
    "source": "a",
    "kind": "fast_append",
    "attempts": 1,
    "n_behind_first": 0,
    "phase_history_ms": 0.0,
    "history_lists": 0,
}


def counted(*runs: Any, bins: int = 5, row_group: int = 2, known: int | None = None) -> tuple[pa.Table, pa.Table]:
    """Runs of txns as (status, submitted, ended, commit latency), in ms, or as dictionaries; the two counts of them.

    Runs last 10 s, with a window from 2 to 8 s. Of ``known`` runs, all if not said, the analysis has heard.
    """
    rows = [{**_USUAL, "run_id": f"r{run}", **_named(txn)} for run, txns in enumerate(runs) for txn in txns]
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), stream, row_group_size=row_group)
    with pq.ParquetFile(stream) as file:
        return count_txns(file, {f"r{run}": RUN for run in range(len(runs) if known is None else known)}, bins)


def _named(txn: Any) -> dict[str, Any]:
    if isinstance(txn, dict):
        return txn
    return dict(zip(("status", "submit_ms", "end_ms", "commit_latency_ms"), txn, strict=True))


def add_study(counts: pa.Table) -> pa.Table:
    """Counts of one file as counts of a study."""
    return counts.append_column("study", pa.array(["s"] * counts.num_rows, pa.string()))


def run_table(count: int) -> pa.Table:
    """So many of these runs, as the dataset tells of them."""
    return pa.table(
        {
            "study": ["s"] * count,
            "point": pa.array([RUN.point] * count, pa.int32()),
            "duration_ms": [10_000.0] * count,
            "window_start_ms": [2_000.0] * count,
            "window_end_ms": [8_000.0] * count,
        }
    )
