"""Arrivals, selectors and sources: which txns are submitted, when, and to which tables.

What happens to a txn afterwards is ``endive.transaction``'s; ``endive.simulation`` builds all of this from a
configuration.
"""

from endive.workload.arrivals import (
    NEVER_US,
    NO_MORE,
    Arrivals,
    Closed,
    Jobs,
    Periodic,
    Renewal,
    Trace,
    client_of,
    closed_index,
)
from endive.workload.choice import Choice
from endive.workload.picks import truncated_zipf_pmf
from endive.workload.selectors import (
    PartitionSelector,
    TableSelector,
    UniformPartitionSelector,
    UniformTableSelector,
    ZipfPartitionSelector,
    ZipfTableSelector,
)
from endive.workload.source import Source, draw_kind, draw_transaction
from endive.workload.trace import ICEBERG_OPERATIONS, NOT_GIVEN, TraceLog, read_trace
from endive.workload.workload import Workload, WorkloadConfig

__all__ = [
    "ICEBERG_OPERATIONS",
    "NEVER_US",
    "NOT_GIVEN",
    "NO_MORE",
    "Arrivals",
    "Choice",
    "Closed",
    "Jobs",
    "PartitionSelector",
    "Periodic",
    "Renewal",
    "Source",
    "TableSelector",
    "Trace",
    "TraceLog",
    "UniformPartitionSelector",
    "UniformTableSelector",
    "Workload",
    "WorkloadConfig",
    "ZipfPartitionSelector",
    "ZipfTableSelector",
    "client_of",
    "closed_index",
    "draw_kind",
    "draw_transaction",
    "read_trace",
    "truncated_zipf_pmf",
]
