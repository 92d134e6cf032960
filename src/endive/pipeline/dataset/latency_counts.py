"""Latencies of a run as counts on the grid: the dataset ``latencies``.

Counts of many runs are added bin by bin, so pooled percentiles need no txn. The grid itself is in
``endive.results.latency_grid``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa

from endive.results import Statistics
from endive.results import schema as s
from endive.results.latency_grid import count_bins

COMMIT: Final = "commit"
TOTAL: Final = "total"

_TEXT: Final = pa.dictionary(pa.int32(), pa.string())
LATENCY_SCHEMA: Final = pa.schema(
    [
        pa.field("run_id", _TEXT, nullable=False),
        pa.field("source", _TEXT, nullable=False),
        pa.field("kind", _TEXT, nullable=False),
        pa.field("latency", _TEXT, nullable=False),  # which: of the commit, or of the whole txn
        pa.field("bin", pa.int32(), nullable=False),  # of the grid
        pa.field("txns", pa.int64(), nullable=False),  # committed, submitted in the window
    ]
)


def latency_counts(run_id: str, statistics: Statistics) -> pa.Table:
    """How many committed txns of the window lie in which bin, by source, operation type and latency."""
    tables = []
    for source, source_name in enumerate(statistics.source_names):
        for kind, kind_name in enumerate(s.KINDS):
            part = statistics.slice(source=source, kind=kind)
            for latency, values_us in ((COMMIT, part.commit_us), (TOTAL, part.total_us)):
                bins, txns = count_bins(values_us)
                if len(bins):
                    tables.append(_table((run_id, source_name, kind_name, latency), bins, txns))
    return join_counts(tables)


def join_counts(tables: Iterable[pa.Table]) -> pa.Table:
    """Counts of several runs under each other, in one piece."""
    parts = list(tables)
    return pa.concat_tables(parts).unify_dictionaries().combine_chunks() if parts else LATENCY_SCHEMA.empty_table()


def _table(names: tuple[str, ...], bins: np.ndarray, txns: np.ndarray) -> pa.Table:
    labels = [
        pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(bins)), pa.array([name]))
        for name in names
    ]
    return pa.table([*labels, pa.array(bins, pa.int32()), pa.array(txns, pa.int64())], schema=LATENCY_SCHEMA)
