"""Who conflicts with whom: a winner's added and removed files against what a txn has read and removes.

Delta Spark: ``ConflictChecker``; delta-rs: ``conflict_checker.rs``. Both check added files first, and by the isolation
level: serializable minds all, write-serializable not those of blind appends, snapshot none. A conflict is an exception
and never retried.
"""

from typing import Final

from endive.formats.delta.attempt import DeltaSituation
from endive.formats.delta.protocol import DELTA_RS
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import (
    APPEND_AFTER_READ,
    BLIND_APPEND,
    CONCURRENT_APPEND,
    CONCURRENT_DELETE_DELETE,
    CONCURRENT_DELETE_READ,
    LOG_CLEANED_UP,
    MERGE,
    NO_REASON,
    OPTIMIZE,
    READS_FILES,
    READS_NOTHING,
    READS_PARTITIONS,
    READS_TABLE,
    SERIALIZABLE,
    SNAPSHOT,
)

# What can happen to a place of a table, in the order in which it is checked for. Files that a compaction removes are
# rearranged: no data changed.
BLINDLY_ADDED, ADDED_AFTER_READING, REMOVED, REARRANGED = range(4)
N_DELTA_CHANGES: Final = 4
KEPT_MIN: Final = 16
KEPT_NUMBERS: Final = 1 << 18


@rule
def has_read(operation: Operation) -> bool:
    """Whether it depends on what was in the table, or its client takes it so."""
    return operation.kind != BLIND_APPEND or minds_all_removals(operation)


@rule
def minds_all_removals(operation: Operation) -> bool:
    """Whether data removed anywhere makes it fail: delta-rs takes who has no predicate for a reader of the table."""
    is_without = operation.kind == BLIND_APPEND or operation.kind == OPTIMIZE or operation.reads == READS_NOTHING
    return operation.client == DELTA_RS and is_without


@rule
def changes_data(operation: Operation) -> bool:
    """Whether added files concern it: a compaction is checked as under snapshot isolation."""
    return (operation.kind == APPEND_AFTER_READ or operation.kind == MERGE) and operation.reads != READS_NOTHING


@rule
def minds_added(operation: Operation, change: int) -> bool:
    """Whether files added so, where it has read, make it fail."""
    if not changes_data(operation):
        return False
    if operation.client == DELTA_RS:  # reads no isolation level
        return change == BLINDLY_ADDED or change == ADDED_AFTER_READING
    if operation.isolation == SNAPSHOT:
        return False
    if change == BLINDLY_ADDED:
        return operation.isolation == SERIALIZABLE
    return change == ADDED_AFTER_READING


@rule
def minds_removed(operation: Operation, change: int) -> bool:
    """Whether files removed so, that it has only read, make it fail. delta-rs does not mind compactions."""
    if not changes_data(operation):
        return False
    return change == REMOVED or (change == REARRANGED and operation.client != DELTA_RS)


@rule
def makes(operation: Operation, change: int) -> bool:
    """Whether a commit of the operation makes such a change where it touches the table."""
    kind = operation.kind
    if change == BLINDLY_ADDED:
        return kind == BLIND_APPEND
    if change == ADDED_AFTER_READING:
        return kind == APPEND_AFTER_READ or kind == OPTIMIZE or (kind == MERGE and operation.adds_rows == 1)
    if change == REMOVED:
        return kind == MERGE
    return change == REARRANGED and kind == OPTIMIZE


@rule
def minds(operation: Operation, change: int) -> bool:
    """Whether such a change to a file it touches makes it fail: one it removes itself, or has read.

    delta-rs tells the files apart that match its predicate by their statistics, Delta Spark by their partitions alone.
    """
    if change == REMOVED or change == REARRANGED:
        return operation.kind == MERGE or operation.kind == OPTIMIZE or minds_removed(operation, change)
    is_by_statistics = operation.client == DELTA_RS and operation.reads == READS_FILES
    return is_by_statistics and minds_added(operation, change)


@rule
def minds_in_partition(operation: Operation, change: int) -> bool:
    """Whether such a change anywhere in its partitions makes it fail."""
    if operation.reads == READS_TABLE:
        return False
    if change == REMOVED or change == REARRANGED:
        return operation.reads == READS_PARTITIONS and minds_removed(operation, change)
    is_by_statistics = operation.client == DELTA_RS and operation.reads == READS_FILES
    return not is_by_statistics and minds_added(operation, change)


@rule
def minds_in_table(operation: Operation, change: int) -> bool:
    """Whether such a change anywhere in the table makes it fail."""
    if minds_all_removals(operation):
        return change == REMOVED
    if operation.reads != READS_TABLE:
        return False
    return minds_added(operation, change) or minds_removed(operation, change)


@rule
def met_in_table(operation: Operation, before: TableState, now: TableState) -> int:
    """The ground on which something that happened anywhere in the table makes it fail, or 0."""
    if now.appends > before.appends and minds_in_table(operation, BLINDLY_ADDED):
        return 1 + BLINDLY_ADDED
    if now.delta.added > before.delta.added and minds_in_table(operation, ADDED_AFTER_READING):
        return 1 + ADDED_AFTER_READING
    if now.delta.removed > before.delta.removed and minds_in_table(operation, REMOVED):
        return 1 + REMOVED
    if now.delta.rearranged > before.delta.rearranged and minds_in_table(operation, REARRANGED):
        return 1 + REARRANGED
    return 0


@rule
def ground_against(operation: Operation, changes: int, is_in_partition: bool, is_on_file: bool) -> int:
    """The first of one winner's changes (a bit each) that makes it fail, plus one; 0 if it passes that winner."""
    for change in range(N_DELTA_CHANGES):
        if changes & (1 << change) != 0:
            if minds_in_table(operation, change):
                return 1 + change
            if is_in_partition and minds_in_partition(operation, change):
                return 1 + change
            if is_on_file and minds(operation, change):
                return 1 + change
    return 0


@rule
def commits_kept(num_tables: int, num_partitions: int) -> int:
    """How many of a table's newest commits are remembered one by one: fewer if there is much to remember."""
    return max(KEPT_MIN, KEPT_NUMBERS // (num_tables * (8 + num_partitions)))


@rule
def verdict_on(operation: Operation, situation: DeltaSituation, reason: int) -> int:
    """The exception that ends the attempt, or ``reason``."""
    if reason != NO_REASON:
        return reason
    if situation.is_log_lost == 1:
        return LOG_CLEANED_UP
    if situation.ground == 0:
        return NO_REASON
    change = situation.ground - 1
    if change == BLINDLY_ADDED or change == ADDED_AFTER_READING:
        return CONCURRENT_APPEND
    # What it removes it has read; only delta-rs, which does not mind compactions otherwise, looks at removals alone.
    is_removal_only = operation.client == DELTA_RS and change == REARRANGED
    return CONCURRENT_DELETE_DELETE if is_removal_only else CONCURRENT_DELETE_READ
