"""The words of the model, each defined once: kinds, phases, reasons, objects, operations, and the row of a txn.

Names, and the codes that stand for them; a code is the place of its name. A format names its own kinds, objects and
phases (its ``words``), and they get their codes here. What else can be derived
is derived: counters and columns from ``Row``, the Arrow schema in ``endive.results.schema``. Everything here is a plain
int or a tuple of names, so that compiled code can read it as ``vocabulary.NAME``.

The phases of a txn that ended add up to its total latency, and all but ``runtime`` to its commit latency
(unless it was restarted: the runtime of later tries lies within the commit). A txn in flight says who it
is and how far it got; its attempts, phases, requests, bytes and counters are zero.
"""

from typing import Annotated, Final

from endive.formats.iceberg import words as iceberg
from endive.record import Int64, Record, names_of, record, specs_of

NONE: Final = -1  # a field without a value; null in Arrow

# --- what a txn does -------------------------------------------------------------------------------------

KINDS: Final = iceberg.KINDS
FAST_APPEND, MERGE_APPEND, VALIDATED_OVERWRITE, REWRITE_FILES, REWRITE_MANIFESTS, EXPIRE_SNAPSHOTS = range(len(KINDS))
N_KINDS: Final = len(KINDS)

OVERWRITE_FORMS: Final = iceberg.OVERWRITE_FORMS
ROW_DELTA, OVERWRITE_FILES, REPLACE_PARTITIONS = range(len(OVERWRITE_FORMS))

ISOLATIONS: Final = ("serializable", "snapshot")
SERIALIZABLE, SNAPSHOT = range(len(ISOLATIONS))

# --- how it ended ----------------------------------------------------------------------------------------

STATUSES: Final = ("committed", "aborted", "in_flight_executing", "in_flight_committing")
COMMITTED, ABORTED, IN_FLIGHT_EXECUTING, IN_FLIGHT_COMMITTING = range(len(STATUSES))

REASONS: Final = (
    "none",
    "validation_exception",
    "retries_exhausted",
    "timeout",
    "commit_state_unknown",
    "history_expired",
    "storage_failed",
)
(
    NO_REASON,
    VALIDATION_EXCEPTION,
    RETRIES_EXHAUSTED,
    TIMEOUT,
    COMMIT_STATE_UNKNOWN,
    HISTORY_EXPIRED,
    STORAGE_FAILED,
) = range(len(REASONS))

# --- where its time went ---------------------------------------------------------------------------------

PHASES: Final = ("catalog_read", *iceberg.PHASES, "commit", "backoff", "runtime")
(
    PHASE_CATALOG_READ,
    PHASE_METADATA,
    PHASE_HISTORY,
    PHASE_MANIFESTS,
    PHASE_MANIFEST_LIST,
    PHASE_COMMIT,
    PHASE_BACKOFF,
    PHASE_RUNTIME,
) = range(len(PHASES))

# --- what it asked of storage ----------------------------------------------------------------------------

OBJECTS: Final = ("catalog", *iceberg.OBJECTS, "log")
CATALOG, METADATA, MANIFEST_LIST, MANIFEST, LOG = range(len(OBJECTS))

OPERATIONS: Final = ("read", "write", "cas", "append", "tail_append", "head", "delete")
READ, WRITE, CAS, APPEND, TAIL_APPEND, HEAD, DELETE = range(len(OPERATIONS))

N_OPERATIONS: Final = len(OPERATIONS)
REQUESTS: Final = tuple(f"{obj}_{op}" for obj in OBJECTS for op in OPERATIONS)
N_REQUESTS: Final = len(REQUESTS)  # the place of a request is object * N_OPERATIONS + operation

# --- the row ---------------------------------------------------------------------------------------------


@record
class Row(Record):
    """What is recorded of one txn."""

    txn_id: Int64
    source: Int64
    client: Int64 = NONE  # of a closed loop
    source_index: Int64
    kind: Int64
    status: Int64
    reason: Int64
    submit_us: Int64
    commit_start_us: Int64 = NONE  # when it first began to commit
    end_us: Int64 = NONE
    attempts: Int64
    restarts: Int64
    n_behind_first: Int64 = NONE
    hazard_window_us: Int64 = NONE
    phases_us: Annotated[list[int], "i8", len(PHASES)]
    requests: Annotated[list[int], "i8", N_REQUESTS]
    bytes_read: Int64
    bytes_written: Int64
    history_lists: Int64
    false_conflicts: Int64
    real_conflicts: Int64
    append_physical_success: Int64
    append_physical_failure: Int64
    append_logical_success: Int64
    append_logical_conflict: Int64
    append_compactions_triggered: Int64
    append_compactions_completed: Int64
    append_duplicates: Int64
    manifest_append_physical_success: Int64
    manifest_append_physical_failure: Int64
    manifest_append_sealed_rewrite: Int64
    n_tables_read: Int64
    n_tables_written: Int64


_NAMES: Final = names_of(Row)
COUNTERS: Final = _NAMES[_NAMES.index("false_conflicts") : _NAMES.index("n_tables_read")]
_LISTS: Final = {"phases_us": [f"phase_{name}_us" for name in PHASES], "requests": [f"requests_{r}" for r in REQUESTS]}
ROW_FIELDS: Final = tuple(field for name in _NAMES for field in _LISTS.get(name, [name]))
N_ROW: Final = len(ROW_FIELDS)
assert sum(spec[1] if isinstance(spec, tuple) else 1 for spec in specs_of(Row).values()) == N_ROW


def values_of(row: Row) -> list[int]:
    """A row as the numbers of ``ROW_FIELDS``."""
    values: list[int] = []
    for name in _NAMES:
        value = getattr(row, name)
        if name in _LISTS:
            values.extend(value)
        else:
            values.append(value)
    return values
