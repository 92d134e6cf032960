"""Who conflicts with whom: which rivals an operation looks for, and which changes of theirs make it fail.

docs/model/conflicts.md has what Iceberg was recorded doing. A rival that took part of the history away, or the
manifests an operation rewrote, is in ``endive.formats.iceberg.maintenance``.
"""

from endive.formats.data_files import (
    DELETES_ADDED,
    DELETES_REPLACED,
    FILE_DROPPED,
    FILE_REMOVED,
    KEYS_DELETED,
    ROWS_ADDED,
)
from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import IcebergSituation
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import (
    CHECKS_ALL,
    CHECKS_NONE,
    CHECKS_PARTITIONS,
    DELETES_EQUALITY,
    DELETES_EQUALITY_AND_VECTOR,
    DELETES_POSITION,
    DELETES_VECTOR,
    FAST_APPEND,
    HISTORY_EXPIRED,
    MERGE_APPEND,
    NO_REASON,
    OVERWRITE_FILES,
    READS_COLUMNS,
    READS_FILES,
    READS_PARTITIONS,
    READS_TABLE,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    ROW_DELTA,
    SERIALIZABLE,
    VALIDATED_OVERWRITE,
    VALIDATION_EXCEPTION,
)


@rule
def is_validated(operation: Operation) -> bool:
    """Whether an overwrite checks what others did; its caller may ask for nothing."""
    if operation.form == REPLACE_PARTITIONS:
        return operation.kind == VALIDATED_OVERWRITE and operation.checks == CHECKS_PARTITIONS
    return operation.kind == VALIDATED_OVERWRITE and operation.checks != CHECKS_NONE


@rule
def checks_partitions(operation: Operation) -> bool:
    """Whether it holds what others did in the partitions it replaces against them (``BaseReplacePartitions``)."""
    return operation.form == REPLACE_PARTITIONS and is_validated(operation)


@rule
def is_serializable(operation: Operation) -> bool:
    """Whether the operation must know of every row added beside it."""
    return is_validated(operation) and operation.isolation == SERIALIZABLE


@rule
def is_row_delta(operation: Operation) -> bool:
    """Whether it deletes rows and leaves their files where they are."""
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA


@rule
def rewrites_deletes(operation: Operation) -> bool:
    """Whether it rewrites files of position deletes and leaves data files alone. It checks nothing but that they are
    there (``BaseRewriteFiles.validate``).
    """
    return operation.kind == REWRITE_FILES and operation.is_of_deletes == 1


@rule
def adds_vectors(operation: Operation) -> bool:
    """Whether it writes deletion vectors, of which a data file has one (format v3)."""
    return is_row_delta(operation) and (
        operation.deletes == DELETES_VECTOR or operation.deletes == DELETES_EQUALITY_AND_VECTOR
    )


@rule
def looks_from_first(operation: Operation) -> bool:
    """Whether it looks through all snapshots that are kept: vectors, committed by a sink that says no start."""
    return operation.checks == CHECKS_NONE and adds_vectors(operation)


@rule
def looks_for_removed(operation: Operation) -> bool:
    """Whether it checks that data files are still there: those it refers to (``BaseRowDelta.validate``), or all of
    the partitions it replaces (``validateDeletedDataFiles``).
    """
    if checks_partitions(operation):
        return True
    return is_row_delta(operation) and operation.checks != CHECKS_NONE and operation.is_referring == 1


@rule
def looks_for_deletes(operation: Operation) -> bool:
    """Whether it looks for delete files that others added. Spark's merge-on-read DELETE does not."""
    if operation.kind == REWRITE_FILES:
        return operation.is_of_deletes == 0
    return is_validated(operation) and (operation.form != ROW_DELTA or operation.checks == CHECKS_ALL)


@rule
def matching_snapshots(operation: Operation, appended: int, overwritten: int, deleting: int, replaced: int) -> int:
    """How many of a history's snapshots this operation has to look into, by what they did.

    Rows added: appends and overwrites. Delete files added: overwrites and deletes. Data files removed: overwrites and
    replacements, and deletes where those are validated. Vectors added: overwrites, deletes and replacements.
    """
    has_vectors, is_deleting = adds_vectors(operation), looks_for_deletes(operation)
    is_removing, is_all = looks_for_removed(operation), is_serializable(operation)
    matching = 0
    if is_all:
        matching += appended
    if is_all or is_deleting or is_removing or has_vectors:
        matching += overwritten
    if is_deleting or has_vectors:
        matching += deleting
    if is_removing or has_vectors:
        matching += replaced
    return matching


@rule
def rivals_since(protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, is_by_files: bool) -> int:
    """How many snapshots since the last attempt could hold a real conflict for this operation.

    Where files decide, none is ruled out: an operation fails beside a snapshot its validation never looked into, if
    that took a file it has to remove (``failMissingDeletePaths``).
    """
    if is_by_files or protocol.real_conflict == choices.REAL_MERGE:
        return situation.behind
    replaced = situation.behind - situation.appended_since - situation.overwritten_since
    overwritten = situation.overwritten_since - situation.deleting_since
    return matching_snapshots(operation, situation.appended_since, overwritten, situation.deleting_since, replaced)


@rule
def verdict_on(situation: IcebergSituation, protocol: CommitProtocol, reason: int) -> int:
    """Why the attempt must end here, after one more table; ``reason`` is what the tables before it said."""
    if situation.is_history_lost == 1:
        return HISTORY_EXPIRED
    if reason == NO_REASON and situation.is_real == 1 and protocol.real_conflict == choices.REAL_ABORT:
        return VALIDATION_EXCEPTION
    return reason


@rule
def commutes(operation: Operation) -> bool:
    """Whether a server may rebase this change on its own: appends add files and look at nothing."""
    return operation.kind == FAST_APPEND or operation.kind == MERGE_APPEND


@rule
def makes(operation: Operation, change: int) -> bool:
    """Whether a commit of this operation makes such a change where it touches the table."""
    if operation.kind > REWRITE_FILES:
        return False
    if change == DELETES_REPLACED or rewrites_deletes(operation):
        return change == DELETES_REPLACED and takes_delete_files(operation)
    if change == ROWS_ADDED:
        is_adding = operation.kind < REWRITE_FILES and operation.adds_rows == 1  # appends and overwrites
        return is_adding and operation.adds_apart == 0
    is_taking = operation.kind == REWRITE_FILES or (
        operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA
    )
    is_dropping = operation.kind != REWRITE_FILES and operation.adds_rows == 0
    if change == FILE_REMOVED:
        return is_taking and not is_dropping
    if change == FILE_DROPPED:
        return is_taking and is_dropping
    if not is_row_delta(operation):
        return False
    is_by_key = operation.deletes != DELETES_POSITION and operation.deletes != DELETES_VECTOR
    return is_by_key if change == KEYS_DELETED else not is_by_key


@rule
def takes_delete_files(operation: Operation) -> bool:
    """Whether the delete files go that its data files have: rewritten, replaced by its own, or with all of a partition
    (``MergingSnapshotProducer.dropPartition``, ``deleteByRowFilter``). Who takes data files leaves them.
    """
    if is_row_delta(operation):
        return operation.replaces_deletes == 1
    return rewrites_deletes(operation) or replaces_whole_partitions(operation)


@rule
def makes_in_partition(operation: Operation, change: int) -> bool:
    """The same for the partitions it writes: a sink's positions and vectors are those of files it adds itself."""
    if change == DELETES_ADDED and is_row_delta(operation):
        return operation.deletes != DELETES_EQUALITY
    if change == ROWS_ADDED:
        return operation.kind < REWRITE_FILES and operation.adds_rows == 1
    return makes(operation, change)


@rule
def minds(operation: Operation, change: int) -> bool:
    """Whether such a change at a place it touches makes this operation fail for good.

    Rows added: ``validateAddedDataFiles``, where statistics tell the files apart that it has read. Files removed:
    ``validateDataFilesExist`` of a row delta that refers to them, ``failMissingDeletePaths`` of an overwrite or rewrite
    of files. Deletes added to a file that is taken: ``validateNoNewDeletesForDataFiles``; a compaction that carries the
    starting sequence number survives deletes by key. A second vector for a file: ``validateAddedDVs``. A delete file
    that others replaced: ``failMissingDeletePaths`` of a rewrite of delete files, and from 1.10 on of a row delta that
    calls ``validateDeletedFiles`` (Spark's MERGE and UPDATE, not its DELETE).
    """
    if change == DELETES_REPLACED:
        return rewrites_deletes(operation) or (is_row_delta(operation) and operation.misses_deletes == 1)
    if rewrites_deletes(operation):
        return False
    if operation.kind == REWRITE_FILES:
        return change != ROWS_ADDED and (change != KEYS_DELETED or operation.is_sequenced == 0)
    if not is_validated(operation) or checks_partitions(operation):
        return False
    is_by_statistics = operation.reads == READS_FILES or operation.reads == READS_COLUMNS
    if change == ROWS_ADDED:
        return operation.isolation == SERIALIZABLE and is_by_statistics
    if operation.form == OVERWRITE_FILES:
        return True
    if change == FILE_REMOVED:
        return operation.is_referring == 1
    if change == FILE_DROPPED:
        return operation.is_referring == 1 and operation.checks == CHECKS_ALL
    if change == KEYS_DELETED:
        return operation.checks == CHECKS_ALL and is_by_statistics
    return adds_vectors(operation)


@rule
def minds_in_partition(operation: Operation, change: int) -> bool:
    """Whether such a change anywhere in its partitions makes it fail for good.

    New rows, if it has read whole partitions. New delete files (``validateNoNewDeleteFiles``): position deletes have no
    bounds of rows, so no filter tells one file's deletes from another's. Who replaces partitions and checks them minds
    every change there, at snapshot isolation all but new rows; that delete files were rewritten is none of those.
    """
    if change == DELETES_REPLACED:
        return False
    if checks_partitions(operation):
        return change != ROWS_ADDED or operation.isolation == SERIALIZABLE
    if not is_validated(operation) or operation.reads == READS_TABLE:
        return False
    if change == ROWS_ADDED:
        return operation.reads == READS_PARTITIONS and operation.isolation == SERIALIZABLE
    if operation.form != ROW_DELTA or operation.checks != CHECKS_ALL or operation.reads == READS_COLUMNS:
        return False
    return change == DELETES_ADDED or (change == KEYS_DELETED and operation.reads == READS_PARTITIONS)


@rule
def reads_beside_writing(operation: Operation) -> bool:
    """Whether what it has read is all partitions it chose, and not only those it writes."""
    return operation.reads == READS_PARTITIONS and is_validated(operation) and operation.form != REPLACE_PARTITIONS


@rule
def snapshots_with_rows(table: TableState) -> int:
    """Snapshots that added rows."""
    return table.appends + table.overwrites - table.iceberg.deletes


@rule
def is_met_in_table(operation: Operation, before: TableState, now: TableState) -> bool:
    """Whether something happened anywhere in the table, since ``before``, that makes it fail for good.

    Rows, if it has read the table: a MERGE without a predicate on its target. Delete files, if no predicate on
    partitions tells them apart.
    """
    if not is_validated(operation) or operation.reads == READS_FILES or operation.reads == READS_PARTITIONS:
        return False
    if checks_partitions(operation):
        return False
    is_all = operation.isolation == SERIALIZABLE and operation.reads == READS_TABLE
    if is_all and snapshots_with_rows(now) > snapshots_with_rows(before):
        return True
    is_minding = operation.form == ROW_DELTA and operation.checks == CHECKS_ALL
    if operation.reads == READS_COLUMNS:
        return is_minding and now.iceberg.position_manifests > before.iceberg.position_manifests
    return is_minding and now.iceberg.delete_manifests > before.iceberg.delete_manifests


@rule
def replaces_whole_partitions(operation: Operation) -> bool:
    """Whether the operation takes every file of the partitions it writes."""
    return operation.kind == VALIDATED_OVERWRITE and operation.form == REPLACE_PARTITIONS
