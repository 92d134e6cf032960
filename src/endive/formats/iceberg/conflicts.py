"""Who conflicts with whom: which rivals an operation looks for, and which changes of theirs make it fail.

docs/model/conflicts.md has what Iceberg was recorded doing. A rival that took part of the history away, or the
manifests an operation rewrote, is in ``endive.formats.iceberg.maintenance``.
"""

from endive.formats.data_files import FILE_REMOVED, ROWS_ADDED
from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import IcebergSituation
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import (
    FAST_APPEND,
    HISTORY_EXPIRED,
    MERGE_APPEND,
    NO_REASON,
    OVERWRITE_FILES,
    REPLACE_PARTITIONS,
    REWRITE_FILES,
    ROW_DELTA,
    SERIALIZABLE,
    VALIDATED_OVERWRITE,
    VALIDATION_EXCEPTION,
)


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
def rivals_since(protocol: CommitProtocol, operation: Operation, situation: IcebergSituation, is_by_files: bool) -> int:
    """How many snapshots since the last attempt could hold a real conflict for this operation.

    Where files decide, none is ruled out: an operation fails beside a snapshot its validation never looked into, if
    that took a file it has to remove (``failMissingDeletePaths``).
    """
    if is_by_files or protocol.real_conflict == choices.REAL_MERGE:
        return situation.behind
    replaced = situation.behind - situation.appended_since - situation.overwritten_since
    return matching_snapshots(operation, situation.appended_since, situation.overwritten_since, replaced)


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
    if change == ROWS_ADDED:
        return operation.kind < REWRITE_FILES  # appends and overwrites
    if change == FILE_REMOVED:
        return operation.kind == REWRITE_FILES or (
            operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA
        )
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA


@rule
def minds(operation: Operation, change: int) -> bool:
    """Whether such a change at a place it touches makes this operation fail for good.

    Rows added: ``validateAddedDataFiles``. Files removed: ``validateDataFilesExist`` of a row delta that refers to
    them, ``failMissingDeletePaths`` of an overwrite or rewrite of files. Deletes added to a file that is taken:
    ``validateNoNewDeletesForDataFiles``; a row delta minds deletes anywhere in the partitions it read instead
    (``minds_deletes_anywhere``).
    """
    if operation.kind == REWRITE_FILES:
        return change != ROWS_ADDED
    if operation.kind != VALIDATED_OVERWRITE or operation.form == REPLACE_PARTITIONS:
        return False
    if change == ROWS_ADDED:
        return operation.isolation == SERIALIZABLE
    if operation.form == OVERWRITE_FILES:
        return True
    return change == FILE_REMOVED and operation.is_referring == 1


@rule
def minds_deletes_anywhere(operation: Operation) -> bool:
    """Whether new delete files anywhere in its partitions make it fail (``validateNoNewDeleteFiles``).

    Position deletes have no bounds of rows, so no filter tells one file's deletes from another's.
    """
    return operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA


@rule
def replaces_whole_partitions(operation: Operation) -> bool:
    """Whether the operation takes every file of the partitions it writes."""
    return operation.kind == VALIDATED_OVERWRITE and operation.form == REPLACE_PARTITIONS
