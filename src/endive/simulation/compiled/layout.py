"""Where everything stands in the arrays of the compiled engine.

Owns the names of positions and nothing else: no rule, no default, no number of the model. ``pack`` fills the
arrays from a simulation's parts, the stages read and write them.

Three arrays go everywhere: ``m`` (int64: settings, the server's state, the sources), ``f`` (float64: settings, codes
of distributions and choices) and ``x`` (int64: one record per txn in flight). Few and flat on purpose: every array
a compiled function takes is seven words to pass, and each function in a txn's path is called for every event.
"""

from typing import Final

from endive.catalog.rules import N_COUNTERS, N_LOG
from endive.results.schema import N_REQUEST_SLOTS, N_ROW
from endive.storage.requests import N_OPERATIONS
from endive.transaction.protocol import N_PROTOCOL
from endive.transaction.rules import N_OPERATION, N_PLAN, N_SITUATION

# --- m: settings first ---------------------------------------------------------------------------

CATALOG_CAS: Final = 0
CATALOG_APPEND: Final = 1
CATALOG_INSTANT: Final = 2
CATALOG_SERVICE: Final = 3
CATALOG_TYPES: Final = ("cas", "append", "instant", "service")

C_END_US: Final = 0
C_CATALOG: Final = 1
C_SCOPE: Final = 2
C_GROUPS: Final = 3
C_TABLES: Final = 4
C_PARTITIONS: Final = 5
C_REFUSAL_TELLS: Final = 6
C_POINTER_CHECKED: Final = 7
C_IS_REST: Final = 8
C_SERVER_RETRIES: Final = 9
C_WORKERS: Final = 10
C_IS_SEED004: Final = 11
C_ENTRY_BYTES: Final = 12
C_COMPACTION_BYTES: Final = 13
C_COMPACTION_ENTRIES: Final = 14
C_PHYSICAL_MAX: Final = 15
C_LIST_ENTRY_BYTES: Final = 16
C_LIST_SEAL_BYTES: Final = 17
C_DETECTOR: Final = 18
C_CONFLICTING: Final = 19
C_CONFLICTING_VALUE: Final = 20
C_CONFLICTING_MIN: Final = 21
C_CONFLICTING_MAX: Final = 22
C_METADATA_BASE: Final = 23
C_METADATA_STEP: Final = 24
C_KEPT_MAX: Final = 25
C_LIST_BASE: Final = 26
C_LIST_STEP: Final = 27
C_MANIFEST_BYTES: Final = 28
C_SPACING_US: Final = 29
C_LATENCY: Final = 30  # offset in f of the catalog's latency (instant, service)
C_SERVICE_TIME: Final = 31  # offset, or -1
C_ENTRY_READ: Final = 32  # offset, or -1
C_IS_INLINED: Final = 33
C_SOURCES: Final = 34
C_PROTOCOL: Final = 40  # N_PROTOCOL places
C_SUCCESS: Final = C_PROTOCOL + N_PROTOCOL  # offset in f by request slot
C_REFUSAL: Final = C_SUCCESS + N_REQUEST_SLOTS
C_SLOWEST: Final = C_REFUSAL + N_REQUEST_SLOTS  # offset by request slot of the slowest of a full batch, or -1
C_PENALTY: Final = C_SLOWEST + N_REQUEST_SLOTS  # offset by operation, or -1
C_WINDOW_US: Final = C_PENALTY + N_OPERATIONS  # contention window by operation
C_DELAY: Final = C_WINDOW_US + N_OPERATIONS  # of throttling: offset by operation, or -1
C_THROTTLE_US: Final = C_DELAY + N_OPERATIONS  # window of throttling by operation
# places at B
C_B_WATCHED: Final = C_THROTTLE_US + N_OPERATIONS
C_B_EXPECTED: Final = C_B_WATCHED + 1
C_B_SNAPSHOTS: Final = C_B_WATCHED + 2
C_B_PLANS: Final = C_B_WATCHED + 3
C_B_PARTITION_COUNTS: Final = C_B_WATCHED + 4
C_B_PARTITIONS: Final = C_B_WATCHED + 5
C_B_PARTITION_VERSIONS: Final = C_B_WATCHED + 6
C_TABLES_MAX: Final = C_B_WATCHED + 7  # tables of one txn at most
C_PARTITIONS_MAX: Final = C_B_WATCHED + 8  # partitions of one table of one txn at most
# where the rest of m begins
C_V: Final = C_B_WATCHED + 9  # versions
C_Q: Final = C_B_WATCHED + 10  # counters of the tables; right behind the versions
C_FREE: Final = C_B_WATCHED + 11  # when each worker is free
C_OBJECTS: Final = C_B_WATCHED + 12  # N_OBJECT places per contended object
C_TRACE: Final = C_B_WATCHED + 13  # four columns of C_TRACE_COUNT cells
C_TRACE_COUNT: Final = C_B_WATCHED + 14
C_SEATS: Final = C_B_WATCHED + 15  # N_SEAT places per seat: who submits
C_LEDGER: Final = C_B_WATCHED + 16  # the observer's account (``endive.catalog.ledger``)
N_C: Final = C_B_WATCHED + 17

# one source's block in m
SOURCE_KEY: Final = 0
SOURCE_ARRIVALS_KEY: Final = 1
SOURCE_RETRIES_MAX: Final = 2
SOURCE_TIMEOUT_US: Final = 3
SOURCE_APPLICATION_RETRIES: Final = 4
SOURCE_BACKOFF: Final = 5
SOURCE_ONLY_KIND: Final = 6
SOURCE_RUNTIME: Final = 7  # offset in f
SOURCE_GAPS: Final = 8  # offset in f
SOURCE_KIND_TAILS: Final = 9  # offset in f
SOURCE_TABLES: Final = 10  # offset in f
SOURCE_PARTITIONS: Final = 11  # offset in f, or -1
SOURCE_TRACE: Final = 12  # first of its cells in the trace's columns, or -1
SOURCE_FIRST_SEAT: Final = 13  # first of its clients' rows in k
SOURCE_OPERATIONS: Final = 14  # N_OPERATION places for each of the four kinds
SOURCE_ARRIVALS: Final = SOURCE_OPERATIONS + 4 * N_OPERATION  # N_ARRIVALS places
N_SOURCE: Final = SOURCE_ARRIVALS + 8

# one source's block in f, from FIRST_SOURCE_FLOAT
FS_BASE_MS: Final = 0
FS_MULTIPLIER: Final = 1
FS_MAX_MS: Final = 2
FS_JITTER: Final = 3
FS_REAL_PROBABILITY: Final = 4
N_FS: Final = 5

# --- f: floats -----------------------------------------------------------------------------

F_SHARES: Final = 0  # request leg by operation
F_CONFLICTING_MEAN: Final = N_OPERATIONS
FIRST_SOURCE_FLOAT: Final = N_OPERATIONS + 1  # then the codes of distributions and choices

# --- m: the state of the server and of the loop, at G ------------------------------------------------

G: Final = N_C
G_CATALOG_BYTES: Final = 0
G_LOG: Final = 1
G_NEXT_ID: Final = 1 + N_LOG
G_HEAP_SIZE: Final = 2 + N_LOG
G_FREE_HEAD: Final = 3 + N_LOG  # first free record of x; -1: none
G_ROWS: Final = 4 + N_LOG  # result rows waiting in the output batch
G_ROW_TABLES: Final = 5 + N_LOG  # table ids waiting with them
G_EVENTS: Final = 6 + N_LOG
G_NOW_US: Final = 7 + N_LOG
G_SITUATION: Final = 8 + N_LOG  # scratch: N_SITUATION places
G_ACTIVE: Final = G_SITUATION + N_SITUATION  # txns in flight
G_ACTIVE_MAX: Final = G_ACTIVE + 1
N_G: Final = G_ACTIVE + 2
FIRST_SOURCE: Final = G + N_G  # then one block of N_SOURCE places per source

# objects: the catalog object, the log, then one manifest list per table
OBJECT_NEXT_FREE: Final = 0
OBJECT_LAST_US: Final = 1
OBJECT_LAST_TXN: Final = 2
OBJECT_REACHED_US: Final = 3
OBJECT_REACHED_TXN: Final = 4
N_OBJECT: Final = 5
CATALOG_OBJECT: Final = 0
LOG_OBJECT: Final = 1
FIRST_LIST_OBJECT: Final = 2

# --- x: a record per txn in flight: fields, then the result row at R, then tables and snapshots at B ----

X_STAGE: Final = 0
X_SOURCE: Final = 1
X_KEY: Final = 2
X_ATTEMPT: Final = 3  # of this operation; the row holds the txn's total
X_PURPOSE: Final = 4  # of the catalog read under way
X_LATENCY: Final = 5
X_LEG: Final = 6
X_COUNTER: Final = 7
X_SENT_US: Final = 8  # when the phase under way began
X_RUNTIME: Final = 9
X_BEGIN_US: Final = 10  # when this operation began to commit
X_BASE_US: Final = 11
X_BASE_BYTES: Final = 12
X_BASE_OFFSET: Final = 13
X_BASE_SEALED: Final = 14
X_BASE_EPOCH: Final = 15
X_IS_KNOWN: Final = 16
X_WAITED: Final = 17
X_LOST_LISTS: Final = 18
X_LOST_MANIFESTS: Final = 19
X_KEPT_MANIFESTS: Final = 20
X_POSITION: Final = 21
X_TRIES: Final = 22
X_OFFSET: Final = 23
X_SEALED: Final = 24
X_EPOCH: Final = 25
X_NEWEST_SEALED: Final = 26
X_NEWEST_EPOCH: Final = 27
X_EVALUATED_US: Final = 28
X_REBASED_US: Final = 29
X_N_WATCHED: Final = 30
X_METADATA_BYTES: Final = 31
X_IS_APPLIED: Final = 32
X_READ_BYTES: Final = 33
X_SUBMIT_BYTES: Final = 34
X_NEXT_FREE: Final = 35  # next free record, while this one is free
X_OPERATION: Final = 36  # where its operation vector starts in m
X_HAS_REACHED: Final = 37  # the conditional request under way has reached its object, and is not evaluated yet
X_BASE_COMMIT: Final = 38  # the observer's: the number of the newest commit when its base was read
X_TIMES_APPLIED: Final = 39  # the observer's
R: Final = 40
B: Final = R + N_ROW

# purposes of a catalog read
READ_START: Final = 0
READ_REFRESH: Final = 1
READ_CHECK: Final = 2
READ_DISCOVERY: Final = 3
READ_COMPACTION: Final = 4
READ_NEW_STATE: Final = 5

# stages: what the next event of a txn is
STAGE_READ_ARRIVES: Final = 0
STAGE_READ: Final = 1
STAGE_LIST_APPEND: Final = 2
STAGE_LIST_REWRITTEN: Final = 3
STAGE_COMMIT_ARRIVES: Final = 4
STAGE_COMMIT: Final = 5
STAGE_REST_SWAP: Final = 6
STAGE_LOG_APPEND: Final = 7
STAGE_LOG_HEAD: Final = 8
STAGE_COMPACTION: Final = 9
STAGE_END: Final = 10

# steps: what a txn does next without anybody noticing; never in the heap
STEP_START: Final = 16
STEP_BEGIN: Final = 17
STEP_BUILD: Final = 18
STEP_NEXT_LIST: Final = 19
STEP_LIST_APPEND: Final = 20
STEP_SWAP: Final = 21
STEP_COMMIT: Final = 22
STEP_LOG: Final = 23
STEP_COMPACT: Final = 24
STEP_DISCOVER: Final = 25
STEP_LOG_MISSED: Final = 26
STEP_REFUSED: Final = 27
STEP_COMMITTED: Final = 28
STEP_STOP: Final = 29
STEP_RELOAD: Final = 30
FIRST_STEP: Final = STEP_START

# at B: the tables it reads, then the parts whose places C_B_* name; per written table three snapshots

SNAP_START: Final = 0
SNAP_PREVIOUS: Final = N_COUNTERS
SNAP_BASE: Final = 2 * N_COUNTERS
N_SNAPS: Final = 3 * N_COUNTERS
N_PLANS: Final = N_PLAN

# --- h: the heap, entries of two words from H_ROOT on ----------------------------------------------------

H_WHO: Final = 1  # after the time: where a txn's record begins in x, or -1 - seat of who waits to submit
N_H: Final = 2
H_ROOT: Final = 3 * N_H  # so that the four children of a node share a cache line
H_BEYOND: Final = H_ROOT + 4 * N_H  # words that are no entry of their own: before the root, behind the last
NEVER: Final = (1 << 63) - 1  # the time of an entry that is free

# seats: who submits, an open source or one client of a closed loop
SEAT_SOURCE: Final = 0
SEAT_INDEX: Final = 1  # index within the source of the txn it will submit next
SEAT_ORDER: Final = 2  # whose turn it is at one instant: negative at first, then the number of its client's last txn
N_SEAT: Final = 3

# --- why the loop came back ------------------------------------------------------------------------------

DONE: Final = 0
BATCH_FULL: Final = 1
PLACES_SHORT: Final = 2  # no record of x is free
TURN_OVER: Final = 3  # events of one turn used up; let the caller look around
