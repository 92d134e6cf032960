"""Who conflicts with whom, whatever the table's format: which changes an operation makes, and which it minds.

A part of the seam (``endive.formats.rules``). The kind of the operation says whose rule holds.
"""

from endive.formats.delta import conflicts as delta_conflicts
from endive.formats.iceberg import conflicts
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import FIRST_DELTA_KIND, REWRITE_MANIFESTS

# Operations of Delta's never do.
commutes = conflicts.commutes  # so a server may rebase the change on its own
replaces_whole_partitions = conflicts.replaces_whole_partitions  # it takes every file of the partitions it writes


@rule
def can_conflict(operation: Operation) -> bool:
    """Whether others' changes can make the operation wrong, and not only late."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.has_read(operation)
    if operation.kind == REWRITE_MANIFESTS or conflicts.rewrites_deletes(operation):
        return True  # what it rewrote may be gone
    return conflicts.matching_snapshots(operation, 1, 1, 1, 1) > 0


@rule
def makes(operation: Operation, change: int) -> bool:
    """Whether a commit of the operation makes such a change to the data files it touches."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.makes(operation, change)
    return conflicts.makes(operation, change)


@rule
def minds(operation: Operation, change: int) -> bool:
    """Whether such a change to a data file it touches makes the operation fail for good."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.minds(operation, change)
    return conflicts.minds(operation, change)


@rule
def makes_in_partition(operation: Operation, change: int) -> bool:
    """Whether it makes such a change somewhere in the partitions it writes."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.makes(operation, change)
    return conflicts.makes_in_partition(operation, change)


@rule
def minds_in_partition(operation: Operation, change: int) -> bool:
    """Whether such a change anywhere in its partitions makes it fail for good."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.minds_in_partition(operation, change)
    return conflicts.minds_in_partition(operation, change)


@rule
def reads_beside_writing(operation: Operation) -> bool:
    """Whether its partitions are all that it chose, and not only those it writes."""
    if operation.kind >= FIRST_DELTA_KIND:
        return delta_conflicts.changes_data(operation)
    return conflicts.reads_beside_writing(operation)


@rule
def ground_in_table(operation: Operation, before: TableState, now: TableState) -> int:
    """Whether something that happened anywhere in the table since ``before`` makes it fail for good, and what: the
    change plus one, or 0.
    """
    if before.is_delta == 1:
        return delta_conflicts.met_in_table(operation, before, now)
    return 1 if conflicts.is_met_in_table(operation, before, now) else 0
