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

from endive.formats.delta import words as delta
from endive.formats.iceberg import words as iceberg
from endive.record import Int32, Int64, Record, names_of, record, specs_of

NONE: Final = -1  # a field without a value; null in Arrow

# --- what a txn does -------------------------------------------------------------------------------------

KINDS: Final = (*iceberg.KINDS, *delta.KINDS)
(
    FAST_APPEND,
    MERGE_APPEND,
    VALIDATED_OVERWRITE,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    EXPIRE_SNAPSHOTS,
    BLIND_APPEND,
    APPEND_AFTER_READ,
    MERGE,
    OPTIMIZE,
) = range(len(KINDS))
N_KINDS: Final = len(KINDS)
FIRST_DELTA_KIND: Final = BLIND_APPEND
KINDS_OF: Final = {"iceberg": iceberg.KINDS, "delta": delta.KINDS}  # by table format

OVERWRITE_FORMS: Final = iceberg.OVERWRITE_FORMS
ROW_DELTA, OVERWRITE_FILES, REPLACE_PARTITIONS = range(len(OVERWRITE_FORMS))

READS: Final = (*iceberg.READS, *delta.READS)
READS_FILES, READS_PARTITIONS, READS_TABLE, READS_COLUMNS, READS_NOTHING = range(len(READS))

CHECKS: Final = iceberg.CHECKS
CHECKS_ALL, CHECKS_ADDED_ROWS, CHECKS_NONE, CHECKS_PARTITIONS = range(len(CHECKS))

RELEASES: Final = iceberg.RELEASES
DELETE_KINDS: Final = iceberg.DELETE_KINDS
(
    DELETES_POSITION,
    DELETES_EQUALITY,
    DELETES_VECTOR,
    DELETES_EQUALITY_AND_POSITION,
    DELETES_EQUALITY_AND_VECTOR,
) = range(len(DELETE_KINDS))

CLIENTS: Final = delta.CLIENTS
LOG_STORES: Final = delta.LOG_STORES

ISOLATIONS: Final = ("serializable", "snapshot", "write_serializable")
SERIALIZABLE, SNAPSHOT, WRITE_SERIALIZABLE = range(len(ISOLATIONS))

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
    *delta.REASONS,
)
(
    NO_REASON,
    VALIDATION_EXCEPTION,
    RETRIES_EXHAUSTED,
    TIMEOUT,
    COMMIT_STATE_UNKNOWN,
    HISTORY_EXPIRED,
    STORAGE_FAILED,
    CONCURRENT_APPEND,
    CONCURRENT_DELETE_READ,
    CONCURRENT_DELETE_DELETE,
    LOG_CLEANED_UP,
) = range(len(REASONS))
# A conflict that no retry can mend: the work itself has to be done again.
CONFLICT_REASONS: Final = ("validation_exception", *delta.REASONS[:3])

# --- where its time went ---------------------------------------------------------------------------------

PHASES: Final = ("catalog_read", *iceberg.PHASES, *delta.PHASES, "commit", "backoff", "runtime")
(
    PHASE_CATALOG_READ,
    PHASE_METADATA,
    PHASE_HISTORY,
    PHASE_MANIFESTS,
    PHASE_MANIFEST_LIST,
    PHASE_WINNERS,
    PHASE_LOG_UPDATE,
    PHASE_CHECKPOINT,
    PHASE_COMMIT,
    PHASE_BACKOFF,
    PHASE_RUNTIME,
) = range(len(PHASES))

# --- what it asked of storage ----------------------------------------------------------------------------

OBJECTS: Final = ("catalog", *iceberg.OBJECTS, "log", *delta.OBJECTS)
(
    CATALOG,
    METADATA,
    MANIFEST_LIST,
    MANIFEST,
    LOG,
    COMMIT_FILE,
    CHECKPOINT,
    LAST_CHECKPOINT,
    CHECKSUM,
) = range(len(OBJECTS))
PHASE_OF: Final = {  # where time with an object goes
    "catalog": "commit",
    "log": "commit",
    **iceberg.PHASE_OF,
    **delta.PHASE_OF,
}

OPERATIONS: Final = ("read", "write", "cas", "append", "tail_append", "head", "delete", "list", "create")
READ, WRITE, CAS, APPEND, TAIL_APPEND, HEAD, DELETE, LIST, CREATE = range(len(OPERATIONS))

N_OPERATIONS: Final = len(OPERATIONS)
N_SLOTS: Final = len(OBJECTS) * N_OPERATIONS  # the slot of a latency is object * N_OPERATIONS + operation

# Requests that are counted: the pairs that formats and commit points declare (create and delete of a catalog are calls
# for the lock of a table, and its release). Whatever else is sent, by parts of the user's own, is counted in one sum. A
# format's pairs are in its words; another format is one more line here.
COMMIT_POINT_REQUESTS: Final = {
    "catalog": ("read", "write", "cas", "create", "delete"),
    "log": ("cas", "append", "head"),
}
_DECLARED: Final = COMMIT_POINT_REQUESTS | iceberg.REQUESTS | delta.REQUESTS
assert set(_DECLARED) <= set(OBJECTS), "a request for an object that nobody has"
assert {op for ops in _DECLARED.values() for op in ops} <= set(OPERATIONS), "an operation that no store has"
OTHER_REQUEST: Final = ("other", "any")
REQUEST_PAIRS: Final = (
    *((obj, op) for obj in OBJECTS for op in OPERATIONS if op in _DECLARED.get(obj, ())),
    OTHER_REQUEST,
)
REQUESTS: Final = tuple(f"{obj}_{op}" for obj, op in REQUEST_PAIRS)
N_REQUESTS: Final = len(REQUESTS)
REQUEST_PLACES: Final = tuple(  # by slot: where it is counted
    REQUEST_PAIRS.index((obj, op) if (obj, op) in REQUEST_PAIRS else OTHER_REQUEST)
    for obj in OBJECTS
    for op in OPERATIONS
)

# --- the row ---------------------------------------------------------------------------------------------


@record
class Row(Record):
    """What is recorded of one txn: first what needs 64 bits, then codes and counts."""

    txn_id: Int64
    source_index: Int64
    submit_us: Int64
    commit_start_us: Int64 = NONE  # when it first began to commit
    end_us: Int64 = NONE
    hazard_window_us: Int64 = NONE
    n_behind_first: Int64 = NONE
    bytes_read: Int64
    bytes_written: Int64
    phases_us: Annotated[list[int], "i8", len(PHASES)]
    source: Int32
    client: Int32 = NONE  # of a closed loop
    kind: Int32
    status: Int32
    reason: Int32
    n_tables_read: Int32
    n_tables_written: Int32
    attempts: Int32
    restarts: Int32
    commits_untold: Int32  # it committed, and ended without knowing
    requests: Annotated[list[int], "i4", N_REQUESTS]
    history_lists: Int32
    false_conflicts: Int32
    real_conflicts: Int32
    append_physical_success: Int32
    append_physical_failure: Int32
    append_logical_success: Int32
    append_logical_conflict: Int32
    append_compactions_triggered: Int32
    append_compactions_completed: Int32
    append_duplicates: Int32
    manifest_append_physical_success: Int32
    manifest_append_physical_failure: Int32
    manifest_append_sealed_rewrite: Int32
    gathered: Int32  # other txns whose files its commit carried
    compactions_undone: Int32  # by its commit, which the catalog put in their place
    answers_kib: Int32  # of table metadata that a REST catalog sent


_NAMES: Final = names_of(Row)
COUNTERS: Final = _NAMES[_NAMES.index("false_conflicts") :]
_LISTS: Final = {"phases_us": [f"phase_{name}_us" for name in PHASES], "requests": [f"requests_{r}" for r in REQUESTS]}
_WIDTHS: Final = [(name, spec[0] if isinstance(spec, tuple) else spec) for name, spec in specs_of(Row).items()]
WIDE_FIELDS: Final = tuple(field for name, width in _WIDTHS if width == "i8" for field in _LISTS.get(name, [name]))
NARROW_FIELDS: Final = tuple(field for name, width in _WIDTHS if width == "i4" for field in _LISTS.get(name, [name]))
ROW_FIELDS: Final = (*WIDE_FIELDS, *NARROW_FIELDS)
N_ROW: Final = len(ROW_FIELDS)
assert tuple(field for name in _NAMES for field in _LISTS.get(name, [name])) == ROW_FIELDS, "the wide ones come first"


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


# --- how well a figure is known, and who says so --------------------------------------------------------

MEASURED: Final = "measured"  # somebody measured it; the source says who and how
PUBLISHED: Final = "published"  # somebody states it, without data we could check
ASSUMED: Final = "assumed"  # nobody states it, or only a range so coarse that the figure is our choice
GIVEN: Final = "given"  # by the user, in the configuration; how well it is known is the user's to say
KNOWN: Final = (MEASURED, PUBLISHED, ASSUMED)  # what a profile may say
