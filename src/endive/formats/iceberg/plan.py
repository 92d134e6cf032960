"""What an attempt costs under every protocol: how many objects of each kind it reads and writes on one table.

Pure functions that hold no state, perform no I/O and draw nothing: an engine asks, pays, and asks again. Both engines
call these very functions; there is no second copy. The order of payment is in ``endive.formats.iceberg.payments``.

The counts come from Java Iceberg 1.9 (``SnapshotProducer.apply`` and its subclasses), PyIceberg 0.12 and the
four documents the older protocols were described in; docs/model says which line comes from where.
"""

from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import AttemptCost, IcebergSituation
from endive.formats.iceberg.conflicts import (
    adds_vectors,
    checks_partitions,
    is_row_delta,
    is_serializable,
    looks_for_deletes,
    looks_for_removed,
    looks_from_first,
    matching_snapshots,
)
from endive.formats.iceberg.effects import (
    added_manifests,
    filtered_manifests,
    is_in_transaction,
    merges_bins,
    own_manifests,
    snapshot_number,
    takes_files,
)
from endive.formats.iceberg.protocol import CommitProtocol, IcebergSettings, protocol_of
from endive.formats.nesting import TableState
from endive.formats.operation import CLASS_APPEND, CLASS_DELETE, CLASS_OVERWRITE, CLASS_REPLACE, Operation
from endive.kernel import rule
from endive.vocabulary import (
    CHECKS_ADDED_ROWS,
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    MERGE_APPEND,
    READS_COLUMNS,
    READS_PARTITIONS,
    READS_TABLE,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    VALIDATED_OVERWRITE,
)

# How often PyIceberg reads the list and the manifests of one delete when it validates
# (``_SnapshotProducer._validate_concurrency``): it looks for new delete files and for removed data files, each once
# by filter and once by file, and opens delete manifests for the former, data manifests for the latter. An append is
# read once, for the data it added.
OVERWRITE_LISTS = 4
OVERWRITE_MANIFESTS = 2


@rule
def describe_situation(
    protocol: CommitProtocol,
    operation: Operation,
    attempt: int,
    start: TableState,
    previous: TableState,
    base: TableState,
    partition_manifests: int,
    partition_behind: int,
    situation: IcebergSituation,
) -> None:
    """Fill ``situation`` by subtraction: counters at the fixed start, at the last attempt's base, at this one's.

    ``partition_manifests`` bounds the manifests that pass the partition filter (-1: no partitions);
    ``partition_behind`` counts commits to the txn's partitions since the last attempt (-1: not the scope).
    """
    situation.attempt = attempt
    situation.behind = snapshot_number(base) - snapshot_number(previous)
    situation.behind_read = partition_behind if partition_behind >= 0 else situation.behind
    situation.is_moved = 1 if base.version > previous.version else 0
    since = 0 if looks_from_first(operation) else 1
    situation.appended = base.appends - since * start.appends
    situation.overwritten = base.overwrites - since * start.overwrites
    situation.deleting = base.iceberg.deletes - since * start.iceberg.deletes
    situation.replaced = base.iceberg.replacements - since * start.iceberg.replacements
    situation.appended_since = base.appends - previous.appends
    situation.overwritten_since = base.overwrites - previous.overwrites
    situation.deleting_since = base.iceberg.deletes - previous.iceberg.deletes
    situation.is_head_matched = 1 if is_head_matched(operation, base.iceberg.head_class) else 0
    situation.data_added = base.iceberg.data_manifests - since * start.iceberg.data_manifests
    commits = snapshot_number(base) - snapshot_number(start)
    describe_manifests(protocol, operation, start, base, since, commits, partition_manifests, situation)
    unseen = base.iceberg.delete_manifests - previous.iceberg.delete_manifests
    is_all_unseen = attempt == 1 and not is_in_transaction(operation)
    situation.deletes_unseen = base.iceberg.live_deletes if is_all_unseen else unseen
    situation.live_deletes = base.iceberg.live_deletes
    situation.live_manifests = base.iceberg.manifests
    situation.start_manifests = start.iceberg.manifests
    situation.is_history_lost = 0
    situation.reachable = commits
    situation.is_real = 0
    situation.conflicting = 0
    situation.expiring = 0


@rule
def is_head_matched(operation: Operation, head: int) -> bool:
    """Whether the current snapshot is one of those that a validation looks into, by what it did."""
    appended = 1 if head == CLASS_APPEND else 0
    overwritten = 1 if head == CLASS_OVERWRITE else 0
    deleting = 1 if head == CLASS_DELETE else 0
    replaced = 1 if head == CLASS_REPLACE else 0
    return matching_snapshots(operation, appended, overwritten, deleting, replaced) > 0


@rule
def is_pruned(operation: Operation) -> bool:
    """Whether a filter on partitions tells manifests apart that its validation need not open."""
    if operation.kind == REWRITE_FILES or operation.reads == READS_TABLE or operation.reads == READS_COLUMNS:
        return False
    if checks_partitions(operation) and operation.reads != READS_PARTITIONS:
        return False  # it compares the files of manifests with its partitions, and no filter
    return not looks_from_first(operation)


@rule
def describe_manifests(
    protocol: CommitProtocol,
    operation: Operation,
    start: TableState,
    base: TableState,
    since: int,
    commits: int,
    partition_manifests: int,
    situation: IcebergSituation,
) -> None:
    """The manifests of the history that a validation opens: for rows added, for files removed, for deletes added."""
    deletes = base.iceberg.delete_manifests - since * start.iceberg.delete_manifests
    vectors = deletes
    data = situation.appended + situation.overwritten - situation.deleting  # one with new rows each
    removals = situation.data_added - situation.appended
    removals += base.iceberg.replaced_manifests - start.iceberg.replaced_manifests
    if operation.checks == CHECKS_ADDED_ROWS:  # a file that was dropped is not missed
        removals -= base.iceberg.dropped_manifests - start.iceberg.dropped_manifests
    if partition_manifests >= 0 and is_pruned(operation):
        data = min(data, partition_manifests)
        if commits > 0:
            removals = removals * min(partition_manifests, commits) // commits
        deletes = min(deletes, partition_manifests)
        if protocol.release >= choices.RELEASE_1_11:  # before, the check for vectors has no filter
            vectors = min(vectors, partition_manifests)
    situation.deletes_to_check = deletes if looks_for_deletes(operation) else 0
    if adds_vectors(operation):
        situation.deletes_to_check += vectors
    situation.data_to_check = data if is_serializable(operation) else 0
    situation.removals_to_check = removals if looks_for_removed(operation) else 0


@rule
def plan_history(
    protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """The lists and manifests an attempt reads because others committed; sets the read of the current list."""
    is_retry = situation.attempt > 1
    choice = protocol.history
    cost.list_reads = 1
    if choice == choices.HISTORY_FIXED_START:
        overwritten, deleting = situation.overwritten - situation.deleting, situation.deleting
        matching = matching_snapshots(operation, situation.appended, overwritten, deleting, situation.replaced)
        if situation.is_history_lost == 1:
            is_found_at_once = is_row_delta(operation) and not looks_from_first(operation)
            cost.history_lists = 0 if is_found_at_once else min(matching, situation.reachable)
        elif matching > 0:
            cost.history_lists = matching
            cost.validate_reads = situation.removals_to_check + situation.data_to_check + situation.deletes_to_check
            if situation.is_head_matched == 1:
                cost.list_reads = 0  # the current list is one of them
    elif choice == choices.HISTORY_FIXED_START_ON_RETRY and is_retry:
        if situation.is_history_lost == 1:
            matching = matching_snapshots(operation, situation.appended, situation.overwritten, 0, 0)
            cost.history_lists = min(matching, situation.reachable)
        else:
            plan_repeated_history(operation, situation, cost)
    elif choice == choices.HISTORY_SINCE_LAST and is_retry:
        cost.history_lists = situation.behind
        if not is_serializable(operation):
            cost.history_lists = matching_snapshots(operation, 0, situation.overwritten_since, 0, 0)
        if situation.is_history_lost == 1:
            cost.history_lists = min(cost.history_lists, situation.reachable)
    elif choice == choices.HISTORY_EVERY_KIND and is_retry:
        cost.history_lists = situation.behind_read


@rule
def plan_repeated_history(operation: Operation, situation: IcebergSituation, cost: AttemptCost) -> None:
    """PyIceberg's validation: several passes over the history since the fixed start, no manifest pruned.

    The current list is read once more to build on, even if a pass has read it (``_DeleteFiles._compute_deletes``).
    """
    appended = matching_snapshots(operation, situation.appended, 0, 0, 0)
    overwritten = matching_snapshots(operation, 0, situation.overwritten, 0, 0)
    cost.history_lists = appended + OVERWRITE_LISTS * overwritten
    if overwritten > 0:
        manifests = situation.data_added - situation.appended + situation.deletes_to_check
        cost.validate_reads = OVERWRITE_MANIFESTS * manifests
    cost.validate_reads += appended  # a manifest each


@rule
def plan_own(operation: Operation, cost: AttemptCost) -> None:
    """The manifests of the txn's own files, and the existing ones it takes files out of."""
    cost.own_writes = own_manifests(operation)
    cost.filter_writes = filtered_manifests(operation)
    cost.filter_reads = cost.filter_writes
    if operation.kind == VALIDATED_OVERWRITE and operation.form == REPLACE_PARTITIONS:
        cost.filter_reads *= 2  # once to find the partition's files, once to write the rest


@rule
def plan_manifests(
    protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """The manifest files an attempt reads and writes."""
    is_first = situation.attempt == 1
    is_owning = protocol.own_manifest == choices.OWN_EACH_ATTEMPT or is_first
    if is_owning and protocol.own_manifest != choices.OWN_NONE and not is_in_transaction(operation):
        plan_own(operation, cost)
    if protocol.release != choices.RELEASE_1_9 and takes_files(operation):
        cost.filter_reads += situation.deletes_unseen  # looked through for deletes of the files it takes
    cost.merge_parallel = protocol.parallel_max
    if situation.is_real == 1:
        cost.merge_reads = situation.conflicting
        cost.merge_writes = situation.conflicting
    elif protocol.merging == choices.MERGING_BINS and merges_bins(operation):
        bin_size = situation.live_manifests + 1
        if bin_size >= protocol.merge_count_min:
            cost.merge_reads = bin_size
            cost.merge_writes = 1
            cost.merge_parallel = 1
            cost.deletes_merged = 1 if situation.live_deletes >= protocol.merge_count_min else 0
    elif protocol.merging == choices.MERGING_FLUSH:
        if situation.live_manifests + 1 >= protocol.merge_count_min:
            cost.merge_writes = 1  # a leaf takes the entries, which the root just read holds
    elif protocol.merging == choices.MERGING_N_BEHIND and operation.kind == MERGE_APPEND and not is_first:
        merged = situation.behind * protocol.merge_per_commit_millionths // choices.MILLIONTHS
        cost.merge_reads = merged
        cost.merge_writes = merged


@rule
def plan_attempt(
    settings: IcebergSettings, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """Fill ``cost``, a fresh one, with what this attempt costs on one table, and what its commit adds to the list."""
    protocol = protocol_of(settings, operation)
    if operation.kind == EXPIRE_SNAPSHOTS:
        cost.expired = situation.expiring
    elif not is_in_transaction(operation):
        plan_snapshot(protocol, operation, situation, cost)
    else:
        cost.after_lists = situation.reachable
        if situation.attempt > 1 or situation.is_moved == 1:  # else what it built on the loaded table stands
            plan_snapshot(protocol, operation, situation, cost)
            cost.list_rereads = 0 if operation.kind == FAST_APPEND else 1
    plan_metadata(protocol, situation, cost)
    cost.manifests_added = added_manifests(settings, operation, situation)


@rule
def plan_snapshot(
    protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """The lists and manifests of a new snapshot."""
    is_first = situation.attempt == 1
    is_built = not (is_first and protocol.io == choices.IO_AFTER_FAILURE)
    if is_built:
        plan_history(protocol, operation, situation, cost)
        plan_manifests(protocol, operation, situation, cost)
        cost.list_writes = 1
    elif protocol.own_manifest != choices.OWN_NONE:
        plan_own(operation, cost)
    if protocol.is_list_appended == 1:
        cost.list_writes = 0
        if is_first:
            cost.list_reads = 0
            cost.list_appends = 1
        elif situation.is_real == 1:
            cost.list_appends = 1
        elif protocol.real_conflict == choices.REAL_MERGE:
            cost.list_reads = 0  # the tentative entry stands as it is


@rule
def plan_metadata(protocol: CommitProtocol, situation: IcebergSituation, cost: AttemptCost) -> None:
    """The metadata object, where the client reads and writes it, or a server reads it for a load and a commit."""
    is_first = situation.attempt == 1
    if protocol.is_metadata_servers == 1:
        cost.answers = 1 if protocol.base == choices.BASE_REFRESH or not is_first else 0
    if protocol.is_inlined == 0 and protocol.is_metadata_servers == 1:
        if protocol.server_reads != choices.SERVER_READS_NEVER:
            cost.metadata_reads = 1 if protocol.base == choices.BASE_REFRESH or not is_first else 0
        if protocol.server_reads == choices.SERVER_READS_BOTH:
            cost.metadata_reads += 1
    elif protocol.is_inlined == 0:
        choice = protocol.metadata
        if choice == choices.METADATA_EACH_ATTEMPT or choice == choices.METADATA_IF_CURRENT:
            cost.metadata_reads = situation.is_moved
            cost.metadata_writes = 1
            if choice == choices.METADATA_IF_CURRENT:
                cost.check_reads = 1
        elif is_first:
            cost.metadata_writes = 1  # before the commit, and not again (append design, lines 160 to 174)
        elif choice == choices.METADATA_PER_CONFLICT or situation.is_real == 0:
            cost.metadata_reads = 1
        if protocol.is_metadata_always_read == 1:
            cost.metadata_reads = 1
    elif protocol.reads_root == 1 and not is_first:
        cost.metadata_reads = 1
