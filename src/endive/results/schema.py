"""The transaction record: the one contract between the simulator and everything that reads results.

Owns the layout of the internal row (int64 fields, one row per txn, written by every engine), the names
behind its codes, and the Arrow schema made from it. Refuses to own how rows become Arrow
(``endive.results.arrow``), what is computed from them (``endive.results.statistics``) and where they are
stored (``endive.results.writer``).

The phases of a txn that ended add up to its total latency, and all but ``runtime`` to its commit latency
(unless it was restarted: the runtime of later tries lies within the commit). A txn in flight says who it
is and how far it got; its attempts, phases, requests, bytes and counters are zero.

All ``ROW_*`` and code constants are plain ints, so that a compiled kernel may read them as globals.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]

SCHEMA_VERSION: Final = 1  # of TRANSACTION_SCHEMA: bump when a column changes name, type or meaning
NONE: Final = -1  # an int64 field without a value; null in Arrow

# ---- codes and their names: the name's index is the code -------------------------------------------

KINDS: Final = ("fast_append", "merge_append", "validated_overwrite", "rewrite_files")
KIND_FAST_APPEND: Final = 0
KIND_MERGE_APPEND: Final = 1
KIND_VALIDATED_OVERWRITE: Final = 2
KIND_REWRITE_FILES: Final = 3

STATUSES: Final = ("committed", "aborted", "in_flight_executing", "in_flight_committing")
STATUS_COMMITTED: Final = 0
STATUS_ABORTED: Final = 1
STATUS_IN_FLIGHT_EXECUTING: Final = 2
STATUS_IN_FLIGHT_COMMITTING: Final = 3

REASONS: Final = ("none", "validation_exception", "retries_exhausted", "timeout")
REASON_NONE: Final = 0
REASON_VALIDATION_EXCEPTION: Final = 1
REASON_RETRIES_EXHAUSTED: Final = 2
REASON_TIMEOUT: Final = 3

PHASES: Final = (
    "catalog_read",
    "metadata",
    "history",
    "manifests",
    "manifest_list",
    "commit",
    "backoff",
    "runtime",
)
PHASE_CATALOG_READ: Final = 0
PHASE_METADATA: Final = 1
PHASE_HISTORY: Final = 2
PHASE_MANIFESTS: Final = 3
PHASE_MANIFEST_LIST: Final = 4
PHASE_COMMIT: Final = 5
PHASE_BACKOFF: Final = 6
PHASE_RUNTIME: Final = 7
N_PHASES: Final = 8

OBJECTS: Final = ("catalog", "metadata", "manifest_list", "manifest", "log")
OPERATIONS: Final = ("read", "write", "cas", "append", "tail_append", "head", "delete")
N_OPERATIONS: Final = 7
N_REQUEST_SLOTS: Final = 35  # slot = object * N_OPERATIONS + operation

# ---- the internal row ------------------------------------------------------------------------------

ROW_TXN_ID: Final = 0
ROW_SOURCE: Final = 1
ROW_CLIENT: Final = 2
ROW_SOURCE_INDEX: Final = 3
ROW_KIND: Final = 4
ROW_STATUS: Final = 5
ROW_REASON: Final = 6
ROW_SUBMIT_US: Final = 7
ROW_COMMIT_START_US: Final = 8  # NONE if it never began to commit
ROW_END_US: Final = 9  # NONE if in flight
ROW_ATTEMPTS: Final = 10
ROW_RESTARTS: Final = 11
ROW_N_BEHIND_FIRST: Final = 12
ROW_HAZARD_US: Final = 13
ROW_PHASES: Final = 14  # first of N_PHASES: ROW_PHASES + PHASE_*
ROW_PHASE_CATALOG_READ: Final = 14
ROW_PHASE_METADATA: Final = 15
ROW_PHASE_HISTORY: Final = 16
ROW_PHASE_MANIFESTS: Final = 17
ROW_PHASE_MANIFEST_LIST: Final = 18
ROW_PHASE_COMMIT: Final = 19
ROW_PHASE_BACKOFF: Final = 20
ROW_PHASE_RUNTIME: Final = 21
ROW_REQUESTS: Final = 22  # first of N_REQUEST_SLOTS: ROW_REQUESTS + object * N_OPERATIONS + operation
ROW_BYTES_READ: Final = 57
ROW_BYTES_WRITTEN: Final = 58
ROW_HISTORY_LISTS: Final = 59
ROW_FALSE_CONFLICTS: Final = 60
ROW_REAL_CONFLICTS: Final = 61
ROW_APPEND_PHYSICAL_SUCCESS: Final = 62
ROW_APPEND_PHYSICAL_FAILURE: Final = 63
ROW_APPEND_LOGICAL_SUCCESS: Final = 64
ROW_APPEND_LOGICAL_CONFLICT: Final = 65
ROW_APPEND_COMPACTIONS_TRIGGERED: Final = 66
ROW_APPEND_COMPACTIONS_COMPLETED: Final = 67
ROW_APPEND_DUPLICATES: Final = 68
ROW_MANIFEST_APPEND_PHYSICAL_SUCCESS: Final = 69
ROW_MANIFEST_APPEND_PHYSICAL_FAILURE: Final = 70
ROW_MANIFEST_APPEND_SEALED_REWRITE: Final = 71
ROW_N_TABLES_READ: Final = 72
ROW_N_TABLES_WRITTEN: Final = 73
N_ROW: Final = 74

COUNTERS: Final = (  # ROW_FALSE_CONFLICTS .. ROW_MANIFEST_APPEND_SEALED_REWRITE
    "false_conflicts",
    "real_conflicts",
    "append_physical_success",
    "append_physical_failure",
    "append_logical_success",
    "append_logical_conflict",
    "append_compactions_triggered",
    "append_compactions_completed",
    "append_duplicates",
    "manifest_append_physical_success",
    "manifest_append_physical_failure",
    "manifest_append_sealed_rewrite",
)

# Places in a txn's own list of counters (row field - ROW_FALSE_CONFLICTS).
N_COUNTERS: Final = 12
COUNTER_FALSE_CONFLICTS: Final = 0
COUNTER_REAL_CONFLICTS: Final = 1
COUNTER_APPEND_PHYSICAL_SUCCESS: Final = 2
COUNTER_APPEND_PHYSICAL_FAILURE: Final = 3
COUNTER_APPEND_LOGICAL_SUCCESS: Final = 4
COUNTER_APPEND_LOGICAL_CONFLICT: Final = 5
COUNTER_APPEND_COMPACTIONS_TRIGGERED: Final = 6
COUNTER_APPEND_COMPACTIONS_COMPLETED: Final = 7
COUNTER_APPEND_DUPLICATES: Final = 8
COUNTER_MANIFEST_APPEND_PHYSICAL_SUCCESS: Final = 9
COUNTER_MANIFEST_APPEND_PHYSICAL_FAILURE: Final = 10
COUNTER_MANIFEST_APPEND_SEALED_REWRITE: Final = 11

REQUESTS: Final = tuple(f"{obj}_{op}" for obj in OBJECTS for op in OPERATIONS)

ROW_FIELDS: Final = (
    "txn_id",
    "source",
    "client",
    "source_index",
    "kind",
    "status",
    "reason",
    "submit_us",
    "commit_start_us",
    "end_us",
    "attempts",
    "restarts",
    "n_behind_first",
    "hazard_us",
    *(f"phase_{phase}_us" for phase in PHASES),
    *(f"requests_{request}" for request in REQUESTS),
    "bytes_read",
    "bytes_written",
    "history_lists",
    *COUNTERS,
    "n_tables_read",
    "n_tables_written",
)
assert len(ROW_FIELDS) == N_ROW


def check_rows(rows: Ints, table_ids: Ints) -> None:
    """What an engine promises about the rows it hands over."""
    assert rows.shape == (len(rows), N_ROW), f"rows of {N_ROW} fields, not {rows.shape}"
    assert rows.dtype == table_ids.dtype == np.int64, "rows and table ids are int64"
    n_read = rows[:, ROW_N_TABLES_READ]
    assert table_ids.shape == (n_read.sum(),), f"{n_read.sum()} table ids promised, {table_ids.shape} given"
    assert (rows[:, ROW_N_TABLES_WRITTEN] <= n_read).all(), "a txn reads every table it writes"
    status = rows[:, ROW_STATUS]
    has_reason = rows[:, ROW_REASON] != REASON_NONE
    assert ((status == STATUS_ABORTED) == has_reason).all(), "exactly the aborted txns have a reason"
    has_ended = rows[:, ROW_END_US] != NONE
    assert ((status <= STATUS_ABORTED) == has_ended).all(), "exactly the txns not in flight have an end"
    never_began = rows[:, ROW_COMMIT_START_US] == NONE
    assert not (never_began & (status == STATUS_COMMITTED)).any(), "a committed txn began to commit"


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
        _field("source_index", pa.int64(), "id", "names the txn within its source, and its luck"),
        _field("kind", _NAME, "name", "operation type: " + ", ".join(KINDS)),
        _field("status", _NAME, "name", "committed, aborted or in_flight when the clock stopped"),
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
        _field("n_behind_first", pa.int64(), "count", "n_behind at the first attempt", nullable=True),
        _field("hazard_window_ms", pa.float64(), "ms", "hazard window of the last attempt", nullable=True),
        *(_field(f"phase_{phase}_ms", pa.float64(), "ms", f"time spent in {phase}") for phase in PHASES),
        *(
            _field(f"requests_{obj}_{op}", pa.int32(), "count", f"{op} requests for {obj} objects")
            for obj in OBJECTS
            for op in OPERATIONS
        ),
        _field("bytes_read", pa.int64(), "bytes", "bytes read from storage"),
        _field("bytes_written", pa.int64(), "bytes", "bytes written to storage"),
        _field("history_lists", pa.int32(), "count", "manifest lists read to validate history"),
        *(_field(counter, pa.int32(), "count", counter.replace("_", " ")) for counter in COUNTERS),
        _field("tables_read", _TABLES, "id", "tables in the read set"),
        _field("tables_written", _TABLES, "id", "tables in the write set"),
    ]
)
