"""What an attempt costs under every protocol: how many objects of each kind it reads and writes on one table.

Pure functions that hold no state, perform no I/O and draw nothing: an engine asks, pays, and asks again. Both engines
call these very functions; there is no second copy. The order of payment is in ``endive.formats.iceberg.payments``.

The counts come from Java Iceberg 1.9 (``SnapshotProducer.apply`` and its subclasses), PyIceberg 0.12 and the
four documents the older protocols were described in; docs/model says which line comes from where.
"""

from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import AttemptCost, IcebergSituation
from endive.formats.iceberg.conflicts import is_serializable, looks_for_removed, matching_snapshots
from endive.formats.iceberg.effects import (
    added_manifests,
    filtered_manifests,
    merges_bins,
    own_manifests,
    snapshot_number,
)
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.iceberg.settings import IcebergSettings
from endive.formats.nesting import TableState
from endive.formats.operation import CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE, Operation
from endive.kernel import rule
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    MERGE_APPEND,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    ROW_DELTA,
    SERIALIZABLE,
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
    situation.appended = base.appends - start.appends
    situation.overwritten = base.overwrites - start.overwrites
    commits = snapshot_number(base) - snapshot_number(start)
    situation.replaced = commits - situation.appended - situation.overwritten
    situation.appended_since = base.appends - previous.appends
    situation.overwritten_since = base.overwrites - previous.overwrites
    head = base.iceberg.head_class
    is_all = is_serializable(operation)
    is_referring = looks_for_removed(operation)
    is_matched = head == CLASS_OVERWRITE or (is_all and head == CLASS_APPEND)
    situation.is_head_matched = 1 if is_matched or (is_referring and head == CLASS_REPLACE) else 0
    deletes = base.iceberg.delete_manifests - start.iceberg.delete_manifests
    data = situation.appended + situation.overwritten  # one with new rows each
    situation.data_added = base.iceberg.data_manifests - start.iceberg.data_manifests
    removals = (
        situation.data_added - situation.appended + base.iceberg.replaced_manifests - start.iceberg.replaced_manifests
    )
    if partition_manifests >= 0:
        data = min(data, partition_manifests)
        if commits > 0:
            removals = removals * min(partition_manifests, commits) // commits
        if operation.kind != REWRITE_FILES:  # a compaction validates without a filter
            deletes = min(deletes, partition_manifests)
    situation.deletes_to_check = deletes
    situation.data_to_check = data if is_all else 0
    situation.removals_to_check = removals if is_referring else 0
    situation.live_manifests = base.iceberg.manifests
    situation.start_manifests = start.iceberg.manifests
    situation.is_history_lost = 0
    situation.reachable = commits
    situation.is_real = 0
    situation.conflicting = 0
    situation.expiring = 0


@rule
def plan_history(
    protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """The lists and manifests an attempt reads because others committed; sets the read of the current list."""
    is_retry = situation.attempt > 1
    choice = protocol.history
    cost.list_reads = 1
    if choice == choices.HISTORY_FIXED_START:
        matching = matching_snapshots(operation, situation.appended, situation.overwritten, situation.replaced)
        if situation.is_history_lost == 1:
            is_found_at_once = operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA
            cost.history_lists = 0 if is_found_at_once else min(matching, situation.reachable)
        elif matching > 0:
            cost.history_lists = matching
            cost.validate_reads = situation.removals_to_check + situation.data_to_check + situation.deletes_to_check
            if situation.is_head_matched == 1:
                cost.list_reads = 0  # the current list is one of them
    elif choice == choices.HISTORY_FIXED_START_ON_RETRY and is_retry:
        if situation.is_history_lost == 1:
            cost.history_lists = min(
                matching_snapshots(operation, situation.appended, situation.overwritten, 0), situation.reachable
            )
        else:
            plan_repeated_history(operation, situation, cost)
    elif choice == choices.HISTORY_SINCE_LAST and is_retry:
        is_all = (
            operation.kind == VALIDATED_OVERWRITE
            and operation.isolation == SERIALIZABLE
            and operation.form != REPLACE_PARTITIONS
        )
        cost.history_lists = (
            situation.behind if is_all else matching_snapshots(operation, 0, situation.overwritten_since, 0)
        )
        if situation.is_history_lost == 1:
            cost.history_lists = min(cost.history_lists, situation.reachable)
    elif choice == choices.HISTORY_EVERY_KIND and is_retry:
        cost.history_lists = situation.behind_read


@rule
def plan_repeated_history(operation: Operation, situation: IcebergSituation, cost: AttemptCost) -> None:
    """PyIceberg's validation: several passes over the history since the fixed start, no manifest pruned.

    The current list is read once more to build on, even if a pass has read it (``_DeleteFiles._compute_deletes``).
    """
    appended = matching_snapshots(operation, situation.appended, 0, 0)
    overwritten = matching_snapshots(operation, 0, situation.overwritten, 0)
    cost.history_lists = appended + OVERWRITE_LISTS * overwritten
    if overwritten > 0:
        cost.validate_reads = OVERWRITE_MANIFESTS * (
            situation.data_added - situation.appended + situation.deletes_to_check
        )
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
    if protocol.own_manifest == choices.OWN_EACH_ATTEMPT or (is_first and protocol.own_manifest != choices.OWN_NONE):
        plan_own(operation, cost)
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
    elif protocol.merging == choices.MERGING_N_BEHIND and operation.kind == MERGE_APPEND and not is_first:
        merged = situation.behind * protocol.merge_per_commit_millionths // choices.MILLIONTHS
        cost.merge_reads = merged
        cost.merge_writes = merged


@rule
def plan_attempt(
    settings: IcebergSettings, operation: Operation, situation: IcebergSituation, cost: AttemptCost
) -> None:
    """Fill ``cost``, a fresh one, with what this attempt costs on one table, and what its commit adds to the list."""
    protocol = settings.protocol
    if operation.kind == EXPIRE_SNAPSHOTS:
        cost.expired = situation.expiring
    else:
        plan_snapshot(protocol, operation, situation, cost)
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
    """The metadata object, where the client reads and writes it."""
    is_first = situation.attempt == 1
    if protocol.is_inlined == 0 and protocol.is_metadata_servers == 0:
        choice = protocol.metadata
        if choice == choices.METADATA_EACH_ATTEMPT or choice == choices.METADATA_IF_CURRENT:
            cost.metadata_reads = situation.is_moved
            cost.metadata_writes = 1
            if choice == choices.METADATA_IF_CURRENT:
                cost.check_reads = 1
        elif choice == choices.METADATA_PER_CONFLICT or (
            choice == choices.METADATA_PER_FALSE_CONFLICT and situation.is_real == 0
        ):
            cost.metadata_reads = 0 if is_first else 1
        if protocol.is_metadata_always_read == 1:
            cost.metadata_reads = 1
