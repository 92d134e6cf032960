"""The records of the compiled engine: the world, its sources and seats, and a txn in flight.

No rule, no default of the model. ``pack`` fills the records from a simulation's parts, ``memory`` finds them, the other
files read and write them.

A compiled function takes the world and a txn: two pointers. The world knows the addresses of every array; the engine,
which made the arrays, keeps them alive.
"""

from typing import Annotated, Final

from endive.catalog.ledger import Ledger
from endive.catalog.rules import LockTerms, LogState
from endive.distributions.counts import Counting
from endive.formats.nesting import FormatSettings, Leftovers, Plan, Situation, TableState
from endive.formats.operation import Operation
from endive.record import Float, Int8, Int32, Int64, Record, record
from endive.results.columns import Batch
from endive.storage.contention import CROWD_TABLES_MAX, ObjectTerms
from endive.storage.throttled import SlowDown
from endive.transaction.aftermath import Aftermath
from endive.transaction.failures import Failures
from endive.vocabulary import N_OPERATIONS, N_SLOTS, Row
from endive.workload.arrivals import Timing

NOT_THERE: Final = -1  # instead of the place of a distribution, a trace or a free record

CATALOG_CAS, CATALOG_APPEND, CATALOG_INSTANT, CATALOG_SERVICE = range(4)

# Why the loop came back: done, rows to hand over, no record free, no room for a time, or just to look around.
DONE, BATCH_FULL, PLACES_SHORT, TIMES_SHORT, TURN_OVER = range(5)

# Contended objects: the catalog object, the log, then one manifest list, or one log of commit files, per table.
CATALOG_OBJECT, LOG_OBJECT, FIRST_LIST_OBJECT = range(3)


@record
class TxnRecord(Record):
    """A txn in flight: what most events touch first, so that they share few lines of the processor's cache."""

    time_us: Int64  # how far it has got, between two events
    sent_us: Int64  # when the phase under way began
    latency_us: Int64  # of the request under way
    leg_us: Int64
    key: Int64  # of the draws under way: its own, or a status check's
    base_us: Int64  # when the server evaluated the read it builds on
    base_bytes: Int64  # of the catalog object then
    base_commit: Int64  # the observer's: the number of the newest commit then
    begin_us: Int64  # when this operation began to commit
    waited_us: Int64  # the backoff before
    rebased_us: Int64
    server_bytes: Int64  # of the object that a server writes for it
    runtime_us: Int64
    moment: Int8  # what its next event is
    purpose: Int8  # of the catalog read under way: the moment at which it is evaluated
    is_known: Int8  # the newest state was told with a refusal
    is_applied: Int8  # the record, or the commit whose answer was lost
    keeps_table: Int8  # its client goes on from what it knows at its end
    has_looked: Int8  # at its table before its commit, as an epoch does
    is_recalled: Int8  # it begins with a table its client has kept, and looks what is new
    has_reached: Int8  # the conditional request under way has reached its object, and is not evaluated yet
    has_failed: Int8  # a request of a payment was given up: what follows it is not sent
    has_branch_failed: Int8  # or one of the branch beside it
    attempt: Int32  # of this operation; the row holds the txn's total
    tries: Int32
    n_watched: Int32
    place: Int32
    source: Int32
    times_applied: Int32  # the observer's
    has_lock: Int8  # of its table, or a place in the queue for it
    is_looking: Int8  # whether the lock is held, before it tries to take it
    is_locked_out: Int8  # it asked for too long
    after_unlock: Int8  # the step it goes on with
    has_turn: Int8  # it has joined its queue, and commits or waits
    leftovers: Leftovers
    operation: Operation
    row: Row
    own_key: Int64  # from here on: what is set once, or only some catalogs and protocols use
    job_key: Int64  # of what all commits of its job share
    submit_bytes: Int64
    counter: Int64  # of the draws of a request that may meet others
    forked_us: Int64  # when two runs of requests began beside each other
    branch_us: Int64  # and how long the first took
    base_log: LogState
    offset: Int64  # of the log, or of the list appended to, as last seen
    epoch: Int64
    newest_epoch: Int64
    evaluated_us: Int64
    read_bytes: Int64
    lock_us: Int64  # when it first asked for the lock
    lock_asks: Int32
    lock_refusals: Int32
    touched_files: Int32  # of every table it writes, by all commits of its job together
    group: Int32  # which of the job's groups of files it commits
    position: Int32  # of the table whose list is appended to
    next_free: Int32  # next free record, while this one is free
    is_sealed: Int8  # the log, or the list appended to, as last seen
    is_newest_sealed: Int8  # the log as last read whole


@record
class TouchedTable(Record):
    """A table that a txn touches, as it knows it: at its fixed start, at the attempt before, at this one."""

    start: TableState
    previous: TableState
    base: TableState
    plan: Plan  # of this attempt
    n_partitions: Int32
    n_partitions_written: Int32


@record
class SourceRecord(Record):
    """A source of txns; distributions and choices by the place of their code."""

    key: Int64
    arrivals_key: Int64
    timeout_us: Int64
    timing: Timing
    runtime: Int64
    gaps: Int64
    kind_tails: Int64
    tables: Int64
    own_tables: Int64 = NOT_THERE  # the table of each client, if it has one of its own
    partitions: Int64 = NOT_THERE
    partitions_stride: Int64  # from the choice of one table to the next table's; 0: one holds for all
    trace: Int64 = NOT_THERE  # first of its submissions
    first_seat: Int32
    first_kept: Int32  # of its clients' kept states
    queue: Int32 = NOT_THERE  # in which its txns wait for their turn to commit
    threads: Int32  # groups of files that a job with several commits rewrites at a time
    retries_max: Int32
    application_retries: Int32
    operation: Operation
    aftermath: Aftermath
    touched_files: Counting
    says_files: Int8  # how many files its txns touch is said
    is_by_files: Int8  # and decides whom they meet
    only_kind: Int8
    keeps_table: Int8
    backoff: Int8
    backoff_base_ms: Float
    backoff_multiplier: Float
    backoff_max_ms: Float
    backoff_jitter: Float
    real_conflict_probability: Float


@record
class CommitQueue(Record):
    """Txns of one process, which commit one after another; those that wait are linked from ``first`` to ``last``."""

    first: Int64 = NOT_THERE  # place of a txn
    last: Int64 = NOT_THERE
    carried: Int64 = NOT_THERE  # first of those whose files the commit under way carries
    every_us: Int64  # of a coordinator; 0: one after another
    is_busy: Int8


@record
class TableLock(Record):
    """The lock of a table: the place of the txn that holds it, and of those in the queue for it."""

    holder: Int64 = NOT_THERE
    first: Int64 = NOT_THERE
    last: Int64 = NOT_THERE


@record
class Submission(Record):
    """One line of a trace."""

    submit_us: Int64
    runtime_us: Int64
    kind: Int32
    table: Int32


@record
class Seat(Record):
    """Who submits: an open source, or one client of a closed loop."""

    index: Int64  # within the source, of the txn it will submit next
    order: Int64  # whose turn it is at one instant: negative at first, then the number of its client's last txn
    source: Int32


@record
class Kept(Record):
    """What a client that keeps its table knew last; the versions and tables it goes with are arrays of their own."""

    shown_us: Int64
    catalog_bytes: Int64
    commit: Int64  # the observer's: the number of the newest commit then
    is_there: Int8


@record
class Event(Record):
    """An entry of the heap."""

    time_us: Int64
    who: Int64  # place of a txn, or -1 - seat of who waits to submit


@record
class Loop(Record):
    """The clock and the events that are due."""

    end_us: Int64
    now_us: Int64
    events: Int64  # handled so far
    heap: Int64  # an Event each
    heap_size: Int64
    n_rows: Int64  # finished txns waiting in the output batch
    strayed_from: Int32 = NOT_THERE  # where a txn left the table of transitions, if one did
    strayed_to: Int32 = NOT_THERE


@record
class Flight(Record):
    """Txns in flight: how many there are, and where each of their arrays begins."""

    next_id: Int64
    n_places: Int64  # txns there is room for
    txns: Int64
    touched: Int64  # tables_max for every txn
    table_ids: Int64  # likewise, written ones first
    watched: Int64  # watched_max for every txn: versions its commits are checked against
    expected: Int64  # and what they were when it last looked
    partitions: Int64  # tables_max * partitions_max for every txn
    partition_versions: Int64  # three times as many: start, previous, base
    active: Int32  # txns in flight
    active_max: Int32
    free_head: Int32 = NOT_THERE  # of the records that txns have given back, the latest
    n_taken: Int32  # records that were ever taken; those behind them are free as well, and untouched
    tables_max: Int32
    partitions_max: Int32
    watched_max: Int32


@record
class Footprint(Record):
    """What one commit changed in a table."""

    changes: Int64  # a bit each
    job_key: Int64
    position: Int64  # of the table in its txn
    touched_files: Int64
    group: Int64
    groups: Int64
    n_partitions: Int64


@record
class Server(Record):
    """What the catalog's server and the store hold now."""

    catalog_bytes: Int64
    log: LogState
    versions: Int64
    n_versions: Int64
    tables: Int64  # a TableState each
    workers_free: Int64  # when each worker is free
    locks: Int64  # a TableLock for every table, if they have locks
    batches: Int64  # a Batch for every table, if commits are gathered
    objects: Int64  # an ObjectState each
    changed: Int64  # N_CHANGES versions for every place of every table's data files, or partition: when last
    changed_in: Int64
    commits: Int64  # a Footprint for each of the commits_kept newest of every table
    commit_partitions: Int64  # that each of them wrote: partitions_max, at least one
    commits_kept: Int64  # 0: nobody looks at them one by one
    files_per_partition: Int64  # 0: data files are not modelled
    notes_files: Int8  # whether tables remember what happened to their files and partitions
    snapshot_times: Int64  # times_max for every table
    times_max: Int64  # 0: nobody asks how old a snapshot is
    initial_snapshots: Int64  # of every table, older than any time that is kept
    is_times_full: Int8  # a table has no room for the time of its next snapshot


@record
class Demand(Record):
    """Who submits txns, and what is known of them beforehand."""

    sources: Int64
    queues: Int64  # a CommitQueue each
    seats: Int64
    trace: Int64  # a Submission each


@record
class KeptStates(Record):
    """What clients that keep their table took along."""

    states: Int64  # a Kept for every such client
    versions: Int64  # n_versions for each
    tables: Int64  # num_tables for each


@record
class Books(Record):
    """The observer's account."""

    ledger: Ledger
    units: Int64  # a Unit each


@record
class CatalogSettings(Record):
    """The catalog as configured."""

    kind: Int8
    is_object: Int8  # it lies in the store, and requests to it are the store's
    object_kind: Int8  # what kind of object that is
    look: Int8  # what a read asks of it
    swap: Int8  # and a commit
    scope: Int8
    is_refusal_telling: Int8
    is_pointer_checked: Int8
    is_rest: Int8
    is_append_design: Int8
    num_groups: Int32
    num_tables: Int32
    num_partitions: Int32
    server_retries: Int32
    workers: Int32
    physical_attempts_max: Int32
    entry_bytes: Int64
    compaction_bytes: Int64
    compaction_entries: Int64
    latency: Int64 = NOT_THERE  # of an instant catalog or a service
    commit_latency: Int64 = NOT_THERE  # of the request that commits to one
    service_time: Int64 = NOT_THERE
    entry_read: Int64 = NOT_THERE
    lock_latency: Int64 = NOT_THERE
    lock: LockTerms
    batch_us: Int64
    rewrites_list: Int8
    undoes_compactions: Int8


@record
class StoreSettings(Record):
    """The store as configured; latencies by the place of their code, for every request or operation."""

    success: Annotated[list[int], "i8", N_SLOTS]
    refusal: Annotated[list[int], "i8", N_SLOTS]
    slowest: Annotated[list[int], "i8", N_SLOTS]  # of a full batch
    summed: Annotated[list[int], "i8", N_SLOTS]  # of runs of requests, one after another
    summed_batches: Annotated[list[int], "i8", N_SLOTS]  # of runs of full batches
    penalty: Annotated[list[int], "i8", N_OPERATIONS]
    delay: Annotated[list[int], "i8", N_OPERATIONS]
    crowd: Annotated[list[int], "i8", N_OPERATIONS * CROWD_TABLES_MAX]
    terms: ObjectTerms
    slow_down: SlowDown
    parallel_max: Int32  # requests of a batch
    is_throttling: Int8  # at the rate in slow_down


@record
class Blanks(Record):
    """What a new one looks like."""

    row: Row
    plan: Plan
    leftovers: Leftovers


@record
class WorldRecord(Record):
    """A simulation: its settings, the state of its server, and where everything else is."""

    loop: Loop
    flight: Flight
    server: Server
    workload: Demand
    kept: KeptStates
    books: Books
    output: Batch
    codes: Int64  # of distributions and choices, laid end to end
    n_codes: Int64
    format: FormatSettings
    failures: Failures
    catalog: CatalogSettings
    store: StoreSettings
    detector: Int8  # of real conflicts
    blank: Blanks
    situation: Situation  # scratch
