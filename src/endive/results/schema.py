"""The transaction record: the one contract between the simulator and everything that reads results.

How rows become Arrow is in ``endive.results.arrow``, what is computed from them in ``endive.results.statistics``, where
they are stored in ``endive.results.writer``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.vocabulary import (
    COUNTERS,
    KINDS,
    N_OPERATIONS,
    N_REQUESTS,
    N_ROW,
    NONE,
    OBJECTS,
    OPERATIONS,
    PHASES,
    REASONS,
    REQUEST_PAIRS,
    REQUESTS,
    ROW_FIELDS,
    STATUSES,
)

__all__ = [  # words of the model that readers of results need beside the schema
    "COUNTERS",
    "KINDS",
    "NONE",
    "N_OPERATIONS",
    "N_REQUESTS",
    "N_ROW",
    "OBJECTS",
    "OPERATIONS",
    "PHASES",
    "REASONS",
    "REQUESTS",
    "REQUEST_PAIRS",
    "ROW_FIELDS",
    "STATUSES",
]

Ints = npt.NDArray[np.int64]

SCHEMA_VERSION: Final = (
    1  # of TRANSACTION_SCHEMA: bump when a column changes name, type or meaning; counts of requests may come and go
)

# ---- the Arrow schema ------------------------------------------------------------------------------


def _field(name: str, kind: pa.DataType, unit: str, meaning: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit, "meaning": meaning})


_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_TABLES: Final = pa.list_(pa.field("element", pa.int32(), nullable=False))

TRANSACTION_SCHEMA: Final = pa.schema(
    [
        _field("txn_id", pa.int64(), "id", "identity of the txn within its run"),
        _field("source", _NAME, "name", "workload source that submitted it"),
        _field("client", pa.int32(), "id", "client of a closed loop; null in open ones", nullable=True),
        _field("source_index", pa.int64(), "id", "names the txn within its source, and its draws"),
        _field("kind", _NAME, "name", "operation type: " + ", ".join(KINDS)),
        _field("status", _NAME, "name", "committed, aborted or in_flight when the simulation ended"),
        _field("in_flight_stage", _NAME, "name", "executing or committing, if in flight", nullable=True),
        _field("reason", _NAME, "name", "why it aborted, if it did: " + ", ".join(REASONS[1:]), nullable=True),
        _field("submit_ms", pa.float64(), "ms", "simulated time of submission"),
        _field("commit_start_ms", pa.float64(), "ms", "when it first began to commit", nullable=True),
        _field("end_ms", pa.float64(), "ms", "when it committed or aborted", nullable=True),
        _field("commit_latency_ms", pa.float64(), "ms", "end_ms - commit_start_ms", nullable=True),
        _field("total_latency_ms", pa.float64(), "ms", "end_ms - submit_ms", nullable=True),
        _field("attempts", pa.int32(), "count", "commit attempts"),
        _field("retries", pa.int32(), "count", "attempts - 1, or 0 if it made none"),
        _field("restarts", pa.int32(), "count", "how often the whole txn began again"),
        _field("commits_untold", pa.int32(), "count", "1 if it committed and ended without knowing"),
        _field("n_behind_first", pa.int64(), "count", "n_behind at the first attempt", nullable=True),
        _field("hazard_window_ms", pa.float64(), "ms", "hazard window of the last attempt", nullable=True),
        *(_field(f"phase_{phase}_ms", pa.float64(), "ms", f"time spent in {phase}") for phase in PHASES),
        *(
            _field(f"requests_{obj}_{op}", pa.int32(), "count", f"{op} requests for {obj} objects")
            for obj, op in REQUEST_PAIRS
        ),
        _field("bytes_read", pa.int64(), "bytes", "bytes read from storage"),
        _field("bytes_written", pa.int64(), "bytes", "bytes written to storage"),
        _field("history_lists", pa.int32(), "count", "manifest lists read to validate history"),
        *(_field(counter, pa.int32(), "count", counter.replace("_", " ")) for counter in COUNTERS),
        _field("tables_read", _TABLES, "id", "tables in the read set"),
        _field("tables_written", _TABLES, "id", "tables in the write set"),
    ]
)
