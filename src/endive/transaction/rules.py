"""What an attempt costs and what follows it: the rules of every protocol, as pure functions.

This file defines the cost of an attempt, the verdict after a refusal, and what a commit leaves behind on its table.
It holds no state, performs no I/O and draws nothing: an engine asks, pays, and asks again. Both
engines call these very functions; there is no second copy. The order of payment is in ``endive.transaction.payments``.

The records they read and fill in: the protocol (``endive.transaction.protocol``), the operation, the situation of one
table at one attempt, and the cost (``endive.transaction.transaction_values``): how many objects of each kind the
attempt reads and writes there.

The counts come from Java Iceberg 1.9 (``SnapshotProducer.apply`` and its subclasses), PyIceberg 0.12 and the
four documents the older protocols were described in; docs/model says which line comes from where.
"""

from endive.catalog.rules import (
    CLASS_APPEND,
    CLASS_NONE,
    CLASS_OVERWRITE,
    CLASS_REPLACE,
    ObjectSizes,
    TableState,
    snapshot_number,
)
from endive.kernel import rule
from endive.record import Int8, Int32, Int64, Record, record
from endive.transaction import protocol as choices
from endive.transaction.protocol import CommitProtocol
from endive.transaction.transaction_values import AttemptCost
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    HISTORY_EXPIRED,
    MERGE_APPEND,
    NO_REASON,
    REPLACE_PARTITIONS,
    RETRIES_EXHAUSTED,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    ROW_DELTA,
    SERIALIZABLE,
    TIMEOUT,
    VALIDATED_OVERWRITE,
    VALIDATION_EXCEPTION,
)


@record
class Operation(Record):
    """What a txn does to the tables it writes."""

    expire_age_us: Int64  # an expiry keeps snapshots younger than this; 0: however young
    retain_last: Int32  # and the newest so many
    rewritten: Int32  # existing manifests that hold files to be removed
    kind: Int8
    form: Int8  # of a validated overwrite
    isolation: Int8
    is_referring: Int8  # a row delta that names the data files its deletes belong to


@record
class Situation(Record):
    """One table at one attempt."""

    behind: Int64  # snapshots of this table since the last attempt's base
    behind_read: Int64  # of them, what a protocol without kinds reads
    appended: Int64  # appends since the operation's fixed start
    overwritten: Int64  # overwrites and deletes since the fixed start
    replaced: Int64  # replacing snapshots since the fixed start
    appended_since: Int64  # appends since the last attempt's base
    overwritten_since: Int64  # overwrites and deletes since the last attempt's base
    data_added: Int64  # data manifests of the history since the fixed start, whatever their partitions
    data_to_check: Int64  # of them, those which pass the partition filter
    removals_to_check: Int64  # data manifests of overwrites and replacements, looked through for removed files
    deletes_to_check: Int64  # delete manifests of that history which pass it, or all of them in a compaction
    live_manifests: Int64  # manifests the current list names
    conflicting: Int64  # manifest files a real conflict has to merge
    reachable: Int64  # snapshots of its history that are not expired
    expiring: Int64  # snapshots that an expiry takes away
    attempt: Int32  # 1 for the first attempt of the operation
    is_moved: Int8  # the table moved since the version this txn last built on (or loaded)
    is_head_matched: Int8  # the current snapshot is one of those a validation reads
    is_real: Int8  # the conflict on this table is real
    is_history_lost: Int8  # part of the history it must look into was expired


# How often PyIceberg reads the list and the manifests of one delete when it validates
# (``_SnapshotProducer._validate_concurrency``): it looks for new delete files and for removed data files, each once
# by filter and once by file, and opens delete manifests for the former, data manifests for the latter. An append is
# read once, for the data it added.
OVERWRITE_LISTS = 4
OVERWRITE_MANIFESTS = 2

MANIFEST_TARGET_BYTES = 8 << 20  # of a manifest that is written anew (Iceberg: commit.manifest.target-size-bytes)


@rule
def own_manifests(operation: Operation) -> int:
    """Manifests an operation writes for its own files. Those of a rewrite of manifests are written while it runs."""
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS:
        return 0
    if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA:
        return 2
    return 1


@rule
def is_serializable(operation: Operation) -> bool:
    """Whether the operation must know of every row added beside it."""
    return operation.kind == VALIDATED_OVERWRITE and operation.isolation == SERIALIZABLE


@rule
def looks_for_removed(operation: Operation) -> bool:
    """Whether it checks that the data files it refers to are still there (``BaseRowDelta.validate``)."""
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA and operation.is_referring == 1


@rule
def matching_snapshots(operation: Operation, appended: int, overwritten: int, replaced: int) -> int:
    """How many of a history's snapshots this operation has to look into."""
    if operation.kind == VALIDATED_OVERWRITE and operation.form != REPLACE_PARTITIONS:
        matching = overwritten
        if operation.isolation == SERIALIZABLE:
            matching += appended
        if looks_for_removed(operation):
            matching += replaced
        return matching
    if operation.kind == REWRITE_FILES:
        return overwritten
    return 0


@rule
def rivals_since(protocol: CommitProtocol, operation: Operation, situation: Situation, is_by_files: bool) -> int:
    """How many snapshots since the last attempt could hold a real conflict for this operation.

    Where files decide, none is ruled out: an operation fails beside a snapshot its validation never looked into, if
    that took a file it has to remove (``failMissingDeletePaths``).
    """
    if is_by_files or protocol.real_conflict == choices.REAL_MERGE:
        return situation.behind
    replaced = situation.behind - situation.appended_since - situation.overwritten_since
    return matching_snapshots(operation, situation.appended_since, situation.overwritten_since, replaced)


@rule
def verdict_on(situation: Situation, protocol: CommitProtocol, reason: int) -> int:
    """Why the attempt must end here, after one more table; ``reason`` is what the tables before it said."""
    if situation.is_history_lost == 1:
        return HISTORY_EXPIRED
    if reason == NO_REASON and situation.is_real == 1 and protocol.real_conflict == choices.REAL_ABORT:
        return VALIDATION_EXCEPTION
    return reason


@rule
def may_start_over(reason: int) -> bool:
    """Whether an application that runs the whole txn again may have better fortune."""
    return reason == VALIDATION_EXCEPTION or reason == HISTORY_EXPIRED


@rule
def describe_situation(
    operation: Operation,
    attempt: int,
    start: TableState,
    previous: TableState,
    base: TableState,
    partition_manifests: int,
    partition_behind: int,
    situation: Situation,
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
    head = base.head_class
    is_all = is_serializable(operation)
    is_referring = looks_for_removed(operation)
    is_matched = head == CLASS_OVERWRITE or (is_all and head == CLASS_APPEND)
    situation.is_head_matched = 1 if is_matched or (is_referring and head == CLASS_REPLACE) else 0
    deletes = base.delete_manifests - start.delete_manifests
    data = situation.appended + situation.overwritten  # one with new rows each
    situation.data_added = base.data_manifests - start.data_manifests
    removals = situation.data_added - situation.appended + base.replaced_manifests - start.replaced_manifests
    if partition_manifests >= 0:
        data = min(data, partition_manifests)
        if commits > 0:
            removals = removals * min(partition_manifests, commits) // commits
        if operation.kind != REWRITE_FILES:  # a compaction validates without a filter
            deletes = min(deletes, partition_manifests)
    situation.deletes_to_check = deletes
    situation.data_to_check = data if is_all else 0
    situation.removals_to_check = removals if is_referring else 0
    situation.live_manifests = base.manifests
    situation.is_history_lost = 0
    situation.reachable = commits
    situation.is_real = 0
    situation.conflicting = 0
    situation.expiring = 0


@rule
def plan_history(protocol: CommitProtocol, operation: Operation, situation: Situation, cost: AttemptCost) -> None:
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
def plan_repeated_history(operation: Operation, situation: Situation, cost: AttemptCost) -> None:
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
def filtered_manifests(operation: Operation) -> int:
    """Existing manifests an operation takes files out of, and writes anew."""
    if operation.kind == REWRITE_FILES or (operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA):
        return operation.rewritten
    return 0


@rule
def plan_own(operation: Operation, cost: AttemptCost) -> None:
    """The manifests of the txn's own files, and the existing ones it takes files out of."""
    cost.own_writes = own_manifests(operation)
    cost.filter_writes = filtered_manifests(operation)
    cost.filter_reads = cost.filter_writes
    if operation.kind == VALIDATED_OVERWRITE and operation.form == REPLACE_PARTITIONS:
        cost.filter_reads *= 2  # once to find the partition's files, once to write the rest


@rule
def merges_bins(operation: Operation) -> bool:
    """Whether it merges small manifests on the way, once there are enough of them (``MergingSnapshotProducer``)."""
    return operation.kind == MERGE_APPEND or operation.kind == VALIDATED_OVERWRITE or operation.kind == REWRITE_FILES


@rule
def plan_manifests(protocol: CommitProtocol, operation: Operation, situation: Situation, cost: AttemptCost) -> None:
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
def plan_attempt(protocol: CommitProtocol, operation: Operation, situation: Situation, cost: AttemptCost) -> None:
    """Fill ``cost``, a fresh one, with what this attempt costs on one table."""
    if operation.kind == EXPIRE_SNAPSHOTS:
        cost.expired = situation.expiring
    else:
        plan_snapshot(protocol, operation, situation, cost)
    plan_metadata(protocol, situation, cost)


@rule
def plan_snapshot(protocol: CommitProtocol, operation: Operation, situation: Situation, cost: AttemptCost) -> None:
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
def plan_metadata(protocol: CommitProtocol, situation: Situation, cost: AttemptCost) -> None:
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


@rule
def loads_metadata(protocol: CommitProtocol) -> bool:
    """Whether loading a table at the start of a txn reads its metadata object."""
    if protocol.is_inlined == 1 or protocol.is_metadata_servers == 1:
        return False
    return protocol.metadata == choices.METADATA_EACH_ATTEMPT or protocol.metadata == choices.METADATA_IF_CURRENT


@rule
def must_read_catalog(protocol: CommitProtocol, attempt: int, is_state_known: bool) -> bool:
    """Whether this attempt pays a catalog read before it builds."""
    if protocol.base == choices.BASE_REFRESH:
        return True
    return attempt > 1 and not is_state_known


@rule
def checks_before_metadata(protocol: CommitProtocol) -> bool:
    """Whether the attempt asks if its base is still current before it writes the metadata object."""
    return protocol.metadata == choices.METADATA_IF_CURRENT and protocol.is_metadata_servers == 0


@rule
def reason_to_stop(attempt: int, retries_max: int, elapsed_us: int, timeout_us: int) -> int:
    """After a refusal: NO_REASON to try again, or why not (Iceberg: ``Tasks.runTaskWithRetry``)."""
    if attempt > retries_max:
        return RETRIES_EXHAUSTED
    if timeout_us > 0 and elapsed_us > timeout_us and attempt > 1:
        return TIMEOUT
    return NO_REASON


@rule
def reloads_after_success(protocol: CommitProtocol) -> bool:
    """Whether a committed operation reads its table back (``SnapshotProducer.commit`` after the swap)."""
    return protocol.after_success == choices.AFTER_RELOAD


@rule
def rereads_catalog(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether a committed operation reads the catalog once more to learn the new state.

    A REST server's answer to a commit carries it, and a fast append is content with that (``FastAppend.updateEvent``
    asks for the current state, ``MergingSnapshotProducer.updateEvent`` refreshes).
    """
    return reloads_after_success(protocol) and (protocol.is_metadata_servers == 0 or operation.kind != FAST_APPEND)


@rule
def merged_away(protocol: CommitProtocol, operation: Operation, cost: AttemptCost) -> int:
    """Manifests the txn wrote that the merge of its committed attempt made superfluous: of data, not of deletes.

    Java Iceberg deletes them (``MergingSnapshotProducer.cleanUncommittedAppends``), PyIceberg leaves them.
    """
    if not reloads_after_success(protocol) or protocol.merging != choices.MERGING_BINS or cost.merge_writes == 0:
        return 0
    return own_manifests(operation) - effect_delete_manifests(operation) + filtered_manifests(operation)


@rule
def cleans_up(protocol: CommitProtocol) -> bool:
    """Whether what lost attempts wrote is deleted, one request each."""
    return protocol.after_success != choices.AFTER_NONE


@rule
def writes_beside_list(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether an append writes its own manifest while it reads the current list (``_SnapshotProducer._manifests``)."""
    return protocol.own_manifest == choices.OWN_EACH_ATTEMPT and (
        operation.kind == FAST_APPEND or operation.kind == MERGE_APPEND
    )


@rule
def effect_class(operation: Operation) -> int:
    """What kind of snapshot a commit of this operation installs."""
    if operation.kind == VALIDATED_OVERWRITE:
        return CLASS_OVERWRITE
    if operation.kind == REWRITE_FILES or operation.kind == REWRITE_MANIFESTS:
        return CLASS_REPLACE
    if operation.kind == EXPIRE_SNAPSHOTS:
        return CLASS_NONE
    return CLASS_APPEND


@rule
def effect_data_manifests(operation: Operation) -> int:
    """Data manifests a commit adds to the history others have to check.

    Those of a rewrite of manifests hold nothing new, and nobody opens them (``ManifestGroup.ignoreExisting``).
    """
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS:
        return 0
    return 1 + filtered_manifests(operation)


@rule
def effect_delete_manifests(operation: Operation) -> int:
    """Delete manifests a commit adds."""
    return 1 if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA else 0


@rule
def effect_manifests(
    protocol: CommitProtocol, sizes: ObjectSizes, operation: Operation, start_manifests: int, live_manifests: int
) -> int:
    """By how much a commit changes the number of manifests its list names."""
    if operation.kind == REWRITE_MANIFESTS:
        rewritten_bytes = start_manifests * sizes.manifest_bytes
        return (rewritten_bytes + MANIFEST_TARGET_BYTES - 1) // MANIFEST_TARGET_BYTES - start_manifests
    if (
        merges_bins(operation)
        and protocol.merging == choices.MERGING_BINS
        and live_manifests + 1 >= protocol.merge_count_min
    ):
        return own_manifests(operation) - live_manifests
    return own_manifests(operation)


@rule
def commutes(operation: Operation) -> bool:
    """Whether a server may rebase this change on its own: appends add files and look at nothing."""
    return operation.kind == FAST_APPEND or operation.kind == MERGE_APPEND


@rule
def rewrites_own_manifests(protocol: CommitProtocol) -> bool:
    """Whether each attempt writes the manifests of its own files again, so that a lost one leaves them behind."""
    return protocol.own_manifest == choices.OWN_EACH_ATTEMPT
