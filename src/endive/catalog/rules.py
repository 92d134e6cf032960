"""What a catalog server does to its own state: versions watched, versions advanced, a log that fills up.

This file defines the state of a server's tables and of its log as records, and every decision a server takes on them.
Both engines call these very functions; neither has a second copy. When a request reaches the server is the
engine's business.

A server's state:

* ``versions``: the sequence number, then one counter per group, per table and per (table, partition).
  A txn *watches* some of them; its commit is refused if one it watches has moved.
* a ``TableState`` per table, cumulative, so that the history between two snapshots is a subtraction and never a walk.
* a ``LogState``, of an append catalog.
"""

from endive.kernel import Ints, MutableInts, rule
from endive.record import Int8, Int64, Record, record

# Scopes: which versions a commit is checked against.
SCOPES = ("catalog", "group", "table", "partition")
SCOPE_CATALOG, SCOPE_GROUP, SCOPE_TABLE, SCOPE_PARTITION = range(len(SCOPES))

# What a snapshot did to its table.
CLASS_NONE, CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE = range(4)


@record
class TableState(Record):
    """One table: what was committed to it, and what its current list holds."""

    version: Int64  # commits; all but those without a snapshot installed one
    appends: Int64  # of them appends
    overwrites: Int64  # of them overwrites or deletes
    data_manifests: Int64  # data manifests added by appends and overwrites, ever
    delete_manifests: Int64  # delete manifests added, ever
    replaced_manifests: Int64  # data manifests added by replacing snapshots, ever
    without_snapshot: Int64  # commits that changed the metadata and nothing else
    expired: Int64  # snapshots expired: the oldest ones
    thinnings: Int64  # commits that took manifests out of the list
    manifests: Int64  # manifests in the current manifest list
    list_offset: Int64  # bytes appended to the current manifest list object (ML+)
    head_class: Int8  # what the current snapshot did (CLASS_*)
    is_list_sealed: Int8  # that object takes no more appends (ML+)


@record
class LogState(Record):
    """The log of an append catalog."""

    offset: Int64
    checkpoint: Int64
    entries: Int64
    epoch: Int64
    is_sealed: Int8


@record
class ObjectSizes(Record):
    """Sizes of a table's objects and of the catalog object, and how they grow."""

    metadata_base_bytes: Int64 = 5_000
    metadata_bytes_per_snapshot: Int64 = 730
    snapshots_kept_max: Int64
    manifest_list_base_bytes: Int64 = 2_000
    manifest_list_bytes_per_manifest: Int64 = 41
    manifest_bytes: Int64 = 8_000
    catalog_base_bytes: Int64 = 1_000
    catalog_bytes_per_table: Int64 = 200


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
def snapshot_number(table: TableState) -> int:
    """How many snapshots were ever installed; the number of the current one, the first being 1."""
    return table.version - table.without_snapshot


@rule
def snapshots_kept(table: TableState) -> int:
    """Snapshots that the table's metadata still names."""
    return snapshot_number(table) - table.expired


@rule
def apply_effect(
    table: TableState,
    effect_class: int,
    data_manifests: int,
    delete_manifests: int,
    manifests_delta: int,
    expired: int,
    is_thinning: int,
) -> None:
    """Install a commit on ``table``: one version more, its manifests counted, the list's length changed.

    A commit without a snapshot leaves the list as it is and expires the oldest snapshots.
    """
    table.version += 1
    table.thinnings += is_thinning
    if effect_class == CLASS_NONE:
        table.without_snapshot += 1
        table.expired += expired
        return
    if effect_class == CLASS_APPEND:
        table.appends += 1
    elif effect_class == CLASS_OVERWRITE:
        table.overwrites += 1
    if effect_class == CLASS_REPLACE:
        table.replaced_manifests += data_manifests
    else:
        table.data_manifests += data_manifests
    table.delete_manifests += delete_manifests
    table.manifests = max(1, table.manifests + manifests_delta)
    table.head_class = effect_class


@rule
def count_before(times_us: Ints, first: int, count: int, before_us: int) -> int:
    """How many of ``count`` ascending times from ``first`` on lie before ``before_us``."""
    low = 0
    high = count
    while low < high:
        middle = (low + high) // 2
        if times_us[first + middle] < before_us:
            low = middle + 1
        else:
            high = middle
    return low


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


# --- manifest lists that are appended to (ML+) ---------------------------------------------------


@rule
def append_to_list(table: TableState, expected_offset: int, entry_bytes: int, seal_threshold_bytes: int) -> int:
    """Append a tentative entry to the table's manifest list: LANDED, MOVED or SEALED."""
    if table.is_list_sealed != 0:
        return SEALED
    if table.list_offset != expected_offset:
        return MOVED
    table.list_offset += entry_bytes
    if seal_threshold_bytes > 0 and table.list_offset >= seal_threshold_bytes:
        table.is_list_sealed = 1
    return LANDED


@rule
def rewrite_list(table: TableState) -> None:
    """A fresh manifest list object replaces a sealed one."""
    table.list_offset = 0
    table.is_list_sealed = 0


# --- sizes ---------------------------------------------------------------------------------------


@rule
def metadata_bytes(sizes: ObjectSizes, snapshots: int) -> int:
    """Size of a table's metadata object that names ``snapshots`` snapshots, or as many as it keeps at most."""
    kept = snapshots
    if sizes.snapshots_kept_max > 0 and kept > sizes.snapshots_kept_max:
        kept = sizes.snapshots_kept_max
    return sizes.metadata_base_bytes + kept * sizes.metadata_bytes_per_snapshot


@rule
def list_bytes(sizes: ObjectSizes, manifests: int) -> int:
    """Size of a manifest list that names ``manifests`` manifests."""
    return sizes.manifest_list_base_bytes + manifests * sizes.manifest_list_bytes_per_manifest


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
