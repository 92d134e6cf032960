"""What a catalog server does to its own state: versions watched, versions advanced, a log that fills up.

Every decision a server takes on its own state. It knows versions; what a table holds is its format's business
(``endive.formats``). Both engines call these very functions; neither has a second copy. When a request reaches the
server is the engine's business.

A server's state:

* ``versions``: the sequence number, then one counter per group, per table and per (table, partition).
  A txn *watches* some of them; its commit is refused if one it watches has moved.
* a ``LogState``, of an append catalog.
"""

from endive.kernel import Ints, MutableInts, rule
from endive.record import Float, Int8, Int64, Record, record

# Scopes: which versions a commit is checked against.
SCOPES = ("catalog", "group", "table", "partition")
SCOPE_CATALOG, SCOPE_GROUP, SCOPE_TABLE, SCOPE_PARTITION = range(len(SCOPES))


@record
class LogState(Record):
    """The log of an append catalog."""

    offset: Int64
    checkpoint: Int64
    entries: Int64
    epoch: Int64
    is_sealed: Int8


# What a conditional append found.
LANDED, MOVED, SEALED = range(3)


@rule
def table_slot(num_groups: int, table: int) -> int:
    """Where the version of ``table`` stands in ``versions``."""
    return 1 + num_groups + table


@rule
def partition_slot(num_groups: int, num_tables: int, num_partitions: int, table: int, partition: int) -> int:
    """Where the version of one partition stands in ``versions``."""
    return 1 + num_groups + num_tables + table * num_partitions + partition


@rule
def watch_tables(scope: int, num_groups: int, tables: Ints, first: int, count: int, out: MutableInts) -> int:
    """Fill ``out`` with the slots a txn touching ``tables`` watches; how many. Not for partition scope."""
    if scope == SCOPE_CATALOG:
        out[0] = 0
        return 1
    if scope == SCOPE_TABLE:
        for i in range(count):
            out[i] = table_slot(num_groups, tables[first + i])
        return count
    n_watched = 0
    for i in range(count):
        slot = 1 + tables[first + i] % num_groups
        seen = False
        for j in range(n_watched):
            if out[j] == slot:
                seen = True
        if not seen:
            out[n_watched] = slot
            n_watched += 1
    return n_watched


@rule
def watch_partitions(
    first_slot: int,
    partitions: Ints,
    first: int,
    count: int,
    out: MutableInts,
    n_watched: int,
) -> int:
    """Add one table's touched partitions to the slots watched; how many there are now."""
    for i in range(count):
        out[n_watched] = first_slot + partitions[first + i]
        n_watched += 1
    return n_watched


@rule
def advance_table(versions: MutableInts, num_groups: int, tables: Ints, first: int, position: int) -> None:
    """A commit wrote the table at ``position``: its version moves by one, its group's once per commit."""
    table = tables[first + position]
    versions[table_slot(num_groups, table)] += 1
    if num_groups > 0:
        group = table % num_groups
        for earlier in range(position):
            if tables[first + earlier] % num_groups == group:
                return
        versions[1 + group] += 1


# --- the log of an append catalog --------------------------------------------------------------


@rule
def log_bytes(log: LogState) -> int:
    """Bytes of the log behind its checkpoint."""
    return log.offset - log.checkpoint


@rule
def find_log(log: LogState, expected_offset: int) -> int:
    """What a conditional append at ``expected_offset`` finds: LANDED, MOVED or SEALED."""
    if log.is_sealed != 0:
        return SEALED
    if log.offset != expected_offset:
        return MOVED
    return LANDED


@rule
def land_entry(log: LogState, entry_bytes: int, compaction_threshold_bytes: int, compaction_max_entries: int) -> bool:
    """Put one intention record into the log; whether that sealed it."""
    log.offset += entry_bytes
    log.entries += 1
    is_long = log_bytes(log) > compaction_threshold_bytes
    is_crowded = compaction_max_entries > 0 and log.entries >= compaction_max_entries
    if is_long or is_crowded:
        log.is_sealed = 1
        return True
    return False


@rule
def compact_log(log: LogState) -> None:
    """A new checkpoint holds everything; the log behind it starts empty."""
    log.checkpoint = log.offset
    log.entries = 0
    log.is_sealed = 0
    log.epoch += 1


# --- a catalog server with workers -----------------------------------------------------------------


@rule
def take_worker(free_us: MutableInts, workers: int, now_us: int, service_us: int) -> int:
    """Queue for the worker that is free first; when the request will have been served."""
    if workers == 0:
        return now_us + service_us
    best = 0
    for worker in range(1, workers):
        if free_us[worker] < free_us[best]:
            best = worker
    done_us = max(now_us, free_us[best]) + service_us
    free_us[best] = done_us
    return done_us


# --- who orders commits ------------------------------------------------------------------------------

LOCKS = ("none", "hive", "dynamodb")
LOCK_NONE, LOCK_HIVE, LOCK_DYNAMODB = range(len(LOCKS))


@record
class LockTerms(Record):
    """A lock that a client takes before it looks at a table's pointer and swaps it, and how it asks for it."""

    kind: Int8
    wait_ms: Float  # before it asks again: at first,
    multiplier: Float
    wait_max_ms: Float  # and at most
    lease_us: Int64  # that a client waits out once it has seen that the lock is held
    timeout_us: Int64


@rule
def is_locked_out(terms: LockTerms, refusals: int, waited_us: int) -> bool:
    """Whether a client stops asking (``Tasks.runTaskWithRetry``); Hive's first call asks for a place in the queue."""
    checks = refusals - 1 if terms.kind == LOCK_HIVE else refusals
    return checks > 1 and waited_us > terms.timeout_us


@rule
def next_multiple_us(now_us: int, every_us: int) -> int:
    """When whoever gathers commits takes those that are there: at the multiples of its interval."""
    return (now_us + every_us - 1) // every_us * every_us


@record
class Batch(Record):
    """The commits to one table that a server takes together."""

    taken_us: Int64 = -1  # when no other can join
    done_us: Int64  # when all of them are installed


@rule
def join_batch(batch: Batch, now_us: int, every_us: int) -> bool:
    """A commit joins the batch that is open, or opens the next; whether it did the latter."""
    is_open = now_us <= batch.taken_us
    if not is_open:
        batch.taken_us = next_multiple_us(max(now_us, batch.done_us), every_us)
    return not is_open
