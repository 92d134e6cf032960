"""What a catalog server does to its own state: versions watched, versions advanced, a log that fills up.

Owns every decision of a catalog server, as functions over flat integer vectors. The reference
engine passes lists, the compiled engine arrays; neither has a second copy. Does not own time:
when a request reaches the server is the engine's business.

A server's state is three vectors:

* ``versions``: the sequence number, then one counter per group, per table and per (table, partition).
  A txn *watches* some of them; its commit is refused if one it watches has moved.
* ``counters``: ``N_COUNTERS`` figures per table, cumulative, so that the history between two snapshots
  is a subtraction and never a walk.
* ``log``: offset, checkpoint, entries, seal and epoch of an append catalog's log.
"""

from endive.kernel import Ints, MutableInts, rule

# Scopes: which versions a commit is checked against.
SCOPE_CATALOG = 0
SCOPE_GROUP = 1
SCOPE_TABLE = 2
SCOPE_PARTITION = 3
SCOPES = ("catalog", "group", "table", "partition")

# Counters of one table.
VERSION = 0  # snapshots committed
APPENDS = 1  # of them appends
OVERWRITES = 2  # of them overwrites or deletes
DATA_MANIFESTS = 3  # data manifests added by appends and overwrites, ever
DELETE_MANIFESTS = 4  # delete manifests added, ever
MANIFESTS = 5  # manifests in the current manifest list
HEAD_CLASS = 6  # what the current snapshot did (CLASS_*)
LIST_OFFSET = 7  # bytes appended to the current manifest list object (ML+)
LIST_SEALED = 8  # 1 if that object takes no more appends (ML+)
N_COUNTERS = 9

CLASS_NONE = 0
CLASS_APPEND = 1
CLASS_OVERWRITE = 2
CLASS_REPLACE = 3

# Parts of an append catalog's log.
LOG_OFFSET = 0
LOG_CHECKPOINT = 1
LOG_ENTRIES = 2
LOG_SEALED = 3
LOG_EPOCH = 4
N_LOG = 5

# What a conditional append found.
LANDED = 0
MOVED = 1
SEALED = 2


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
    found = 0
    for i in range(count):
        slot = 1 + tables[first + i] % num_groups
        seen = False
        for j in range(found):
            if out[j] == slot:
                seen = True
        if not seen:
            out[found] = slot
            found += 1
    return found


@rule
def watch_partitions(
    first_slot: int,
    partitions: Ints,
    first: int,
    count: int,
    out: MutableInts,
    found: int,
) -> int:
    """Add one table's touched partitions to the slots watched; how many there are now."""
    for i in range(count):
        out[found] = first_slot + partitions[first + i]
        found += 1
    return found


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


@rule
def apply_effect(
    counters: MutableInts,
    table: int,
    effect_class: int,
    data_manifests: int,
    delete_manifests: int,
    manifests_delta: int,
) -> None:
    """Install a snapshot on ``table``: one version more, its manifests counted, the list's length changed."""
    at = table * N_COUNTERS
    counters[at + VERSION] += 1
    if effect_class == CLASS_APPEND:
        counters[at + APPENDS] += 1
    elif effect_class == CLASS_OVERWRITE:
        counters[at + OVERWRITES] += 1
    if effect_class != CLASS_REPLACE:
        counters[at + DATA_MANIFESTS] += data_manifests
    counters[at + DELETE_MANIFESTS] += delete_manifests
    counters[at + MANIFESTS] = max(1, counters[at + MANIFESTS] + manifests_delta)
    counters[at + HEAD_CLASS] = effect_class


@rule
def keeps_one_more(version: int, snapshots_kept_max: int) -> bool:
    """Whether the metadata object holds one snapshot more after the commit that made ``version``."""
    return snapshots_kept_max == 0 or version <= snapshots_kept_max


# --- the log of an append catalog --------------------------------------------------------------


@rule
def find_log(log: Ints, expected_offset: int) -> int:
    """What a conditional append at ``expected_offset`` finds: LANDED, MOVED or SEALED."""
    if log[LOG_SEALED] != 0:
        return SEALED
    if log[LOG_OFFSET] != expected_offset:
        return MOVED
    return LANDED


@rule
def land_entry(
    log: MutableInts, entry_bytes: int, compaction_threshold_bytes: int, compaction_max_entries: int
) -> bool:
    """Put one intention record into the log; whether that sealed it."""
    log[LOG_OFFSET] += entry_bytes
    log[LOG_ENTRIES] += 1
    is_long = log[LOG_OFFSET] - log[LOG_CHECKPOINT] > compaction_threshold_bytes
    is_crowded = compaction_max_entries > 0 and log[LOG_ENTRIES] >= compaction_max_entries
    if is_long or is_crowded:
        log[LOG_SEALED] = 1
        return True
    return False


@rule
def compact_log(log: MutableInts) -> None:
    """A new checkpoint holds everything; the log behind it starts empty."""
    log[LOG_CHECKPOINT] = log[LOG_OFFSET]
    log[LOG_ENTRIES] = 0
    log[LOG_SEALED] = 0
    log[LOG_EPOCH] += 1


# --- manifest lists that are appended to (ML+) ---------------------------------------------------


@rule
def append_to_list(
    counters: MutableInts,
    table: int,
    expected_offset: int,
    entry_bytes: int,
    seal_threshold_bytes: int,
) -> int:
    """Append a tentative entry to the table's manifest list: LANDED, MOVED or SEALED."""
    at = table * N_COUNTERS
    if counters[at + LIST_SEALED] != 0:
        return SEALED
    if counters[at + LIST_OFFSET] != expected_offset:
        return MOVED
    counters[at + LIST_OFFSET] += entry_bytes
    if seal_threshold_bytes > 0 and counters[at + LIST_OFFSET] >= seal_threshold_bytes:
        counters[at + LIST_SEALED] = 1
    return LANDED


@rule
def rewrite_list(counters: MutableInts, table: int) -> None:
    """A fresh manifest list object replaces a sealed one."""
    at = table * N_COUNTERS
    counters[at + LIST_OFFSET] = 0
    counters[at + LIST_SEALED] = 0


# --- sizes ---------------------------------------------------------------------------------------


@rule
def metadata_bytes(version: int, base_bytes: int, bytes_per_snapshot: int, snapshots_kept_max: int) -> int:
    """Size of a table's metadata object after ``version`` snapshots."""
    kept = version
    if snapshots_kept_max > 0 and kept > snapshots_kept_max:
        kept = snapshots_kept_max
    return base_bytes + kept * bytes_per_snapshot


@rule
def list_bytes(manifests: int, base_bytes: int, bytes_per_manifest: int) -> int:
    """Size of a manifest list that names ``manifests`` manifests."""
    return base_bytes + manifests * bytes_per_manifest


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
