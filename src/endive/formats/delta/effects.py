"""What a commit leaves behind: one version more, and after it perhaps a checkpoint and a shorter log."""

from endive.formats.delta.attempt import DeltaPlan
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import APPEND_AFTER_READ, BLIND_APPEND, MERGE, OPTIMIZE


@rule
def install(table: TableState, operation: Operation) -> None:
    """The commit is the table's newest version."""
    table.version += 1
    kept = table.delta
    if operation.kind == BLIND_APPEND:
        table.appends += 1
        return
    if operation.kind != MERGE or operation.adds_rows == 1:
        kept.added += 1
    if operation.kind == MERGE:
        table.overwrites += 1
        kept.removed += 1
    elif operation.kind == OPTIMIZE:
        kept.rearranged += 1
    else:
        assert operation.kind == APPEND_AFTER_READ


@rule
def publishes(plan: DeltaPlan) -> bool:
    """Whether others will find something new in the log besides the commit."""
    return plan.is_checkpointed == 1


@rule
def publish(table: TableState, plan: DeltaPlan) -> None:
    """The checkpoint is there, and what it made superfluous is gone. An older one may be finished later."""
    table.delta.checkpoint = max(table.delta.checkpoint, plan.version)
    table.delta.cleaned = max(table.delta.cleaned, plan.clean_to)
