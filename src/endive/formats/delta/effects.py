"""What a commit leaves behind: one version more, and after it perhaps a checkpoint and a shorter log."""

from endive.formats.delta.attempt import DeltaPlan
from endive.formats.delta.table import ALL_CHECKSUMS, CHECKSUMS, has_checksum
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import APPEND_AFTER_READ, BLIND_APPEND, MERGE, OPTIMIZE


@rule
def install(table: TableState, operation: Operation, plan: DeltaPlan) -> None:
    """The commit is the table's newest version, without a checksum so far.

    Whoever lost a race makes its own from that of the version before: whether it is there is settled now, half a
    request before it asks.
    """
    table.version += 1
    kept = table.delta
    if plan.checksum_reads > 0 and not has_checksum(kept):
        plan.is_bare = 1
    kept.checksums = (kept.checksums << 1) & ALL_CHECKSUMS
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
    return plan.is_checkpointed == 1 or plan.is_checksummed == 1


@rule
def publish(table: TableState, plan: DeltaPlan) -> None:
    """Its checksum is there; or its checkpoint, and what that made superfluous is gone. Older ones may be later."""
    kept, newer = table.delta, table.version - plan.version
    if plan.is_checksummed == 1 and newer < CHECKSUMS:
        kept.checksums |= 1 << newer
    if plan.is_checkpointed == 1:
        kept.checkpoint = max(kept.checkpoint, plan.version)
        kept.cleaned = max(kept.cleaned, plan.clean_to)
