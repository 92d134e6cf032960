"""One attempt on one table: the situation it finds, and its plan.

The situation is filled in by ``endive.formats.iceberg.plan`` and ``maintenance``, and so is the plan: how many objects
of each kind the attempt reads and writes there. ``endive.formats.iceberg.payments`` pays for it.
"""

from endive.record import Int8, Int32, Int64, Record, record


@record
class IcebergSituation(Record):
    """One table at one attempt."""

    behind: Int64  # snapshots of this table since the last attempt's base
    behind_read: Int64  # of them, what a protocol without kinds reads
    appended: Int64  # appends since the operation's fixed start
    overwritten: Int64  # overwrites and deletes since the fixed start
    deleting: Int64  # of them, what only deletes
    replaced: Int64  # replacing snapshots since the fixed start
    appended_since: Int64  # appends since the last attempt's base
    overwritten_since: Int64  # overwrites and deletes since the last attempt's base
    deleting_since: Int64  # of them, what only deletes
    data_added: Int64  # data manifests of the history since the fixed start, whatever their partitions
    data_to_check: Int64  # of them, those which pass the partition filter
    removals_to_check: Int64  # data manifests of overwrites and replacements, looked through for removed files
    deletes_to_check: Int64  # delete manifests of that history which pass it, or all of them in a compaction
    deletes_unseen: Int64  # delete manifests of the current list that no attempt before has opened
    live_deletes: Int64  # delete manifests in the list
    live_manifests: Int64  # manifests the current list names
    start_manifests: Int64  # manifests the list named at the fixed start
    conflicting: Int64  # manifest files a real conflict has to merge
    reachable: Int64  # snapshots of its history that are not expired
    expiring: Int64  # snapshots that an expiry takes away
    attempt: Int32  # 1 for the first attempt of the operation
    is_moved: Int8  # the table moved since the version this txn last built on (or loaded)
    is_head_matched: Int8  # the current snapshot is one of those a validation reads
    is_real: Int8  # the conflict on this table is real
    is_history_lost: Int8  # part of the history it must look into was expired


@record
class AttemptCost(Record):
    """What one attempt asks of storage on one table."""

    metadata_reads: Int32
    answers: Int32  # of a REST server to the refresh, with all the metadata in it
    history_lists: Int32  # one after another, or in batches: the protocol says
    validate_reads: Int32  # manifests of that history, one after another
    list_reads: Int32  # of the current list
    filter_reads: Int32  # manifests holding files to be removed, in batches
    filter_writes: Int32
    own_writes: Int32  # manifests of the txn's own files, one after another
    merge_reads: Int32  # in batches of merge_parallel
    merge_writes: Int32
    merge_parallel: Int32 = 1
    deletes_merged: Int32  # 1: the bin of delete manifests is full and becomes one
    list_writes: Int32
    metadata_writes: Int32
    list_appends: Int32
    list_rereads: Int32  # of the list just written
    after_lists: Int32  # lists of rivals that a Transaction reads once it has committed
    check_reads: Int32  # of the metadata object, when the client looks whether its base still stands
    expired: Int32  # snapshots that the attempt expires
    manifests_added: Int32  # to the list, by its commit; negative if it takes more away


@record
class IcebergLeftovers(Record):
    """Objects a txn has written: by attempts that lost, and manifests that its next attempt uses again."""

    lost_lists: Int32
    lost_manifests: Int32
    kept_manifests: Int32
