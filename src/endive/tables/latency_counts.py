"""Latencies of a run as counts on the grid.

Counts of many runs are added bin by bin, so pooled percentiles need no txn. The grid itself is in
``endive.results.latency_grid``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from endive.results import Statistics
from endive.results import schema as s
from endive.results.latency_grid import count_bins

COMMIT: Final = "commit"
TOTAL: Final = "total"

LATENCY_FIELDS: Final = pa.struct(
    [
        ("source", pa.string()),
        ("kind", pa.string()),
        ("latency", pa.string()),  # which: of the commit, or of the whole transaction
        ("bin", pa.int32()),  # of the grid
        ("txns", pa.int64()),  # committed, submitted in the window
    ]
)
_SCHEMA: Final = pa.schema(list(LATENCY_FIELDS))


def latency_counts(statistics: Statistics) -> pa.Table:
    """Count committed transactions of the window by source, operation type, latency and bin."""
    tables = [_SCHEMA.empty_table()]
    for source, source_name in enumerate(statistics.source_names):
        for kind, kind_name in enumerate(s.KINDS):
            part = statistics.slice(source=source, kind=kind)
            for latency, values_us in ((COMMIT, part.commit_us), (TOTAL, part.total_us)):
                bins, txns = count_bins(values_us)
                if len(bins):
                    tables.append(_table((source_name, kind_name, latency), bins, txns))
    return pa.concat_tables(tables)


def _table(names: tuple[str, ...], bins: np.ndarray, txns: np.ndarray) -> pa.Table:
    labels = [pa.repeat(pa.scalar(name), len(bins)) for name in names]
    return pa.table([*labels, pa.array(bins, pa.int32()), pa.array(txns, pa.int64())], schema=_SCHEMA)
