"""Maintenance as an actor: snapshots that expire, manifests that are rewritten, and what both do to others.

What an expiry takes away, whom it leaves without a history, and when a rewrite of manifests has lost what it rewrote.
What the attempts cost is in ``endive.formats.iceberg.plan``, with that of every other kind.
"""

from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import IcebergSituation
from endive.formats.iceberg.conflicts import looks_from_first, matching_snapshots
from endive.formats.iceberg.effects import is_in_transaction, snapshot_number, snapshots_kept
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.nesting import TableState
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import EXPIRE_SNAPSHOTS, REWRITE_MANIFESTS, ROW_DELTA, VALIDATED_OVERWRITE


@rule
def loses_history(
    protocol: CommitProtocol,
    operation: Operation,
    attempt: int,
    start: TableState,
    previous: TableState,
    base: TableState,
) -> bool:
    """Whether a snapshot that the operation has to know of was expired since it started.

    Java Iceberg walks from the current snapshot to the one after the start and fails if one is missing
    (``MergingSnapshotProducer.validationHistory``); a row delta wants the start itself too (``BaseRowDelta.validate``),
    and so does PyIceberg (``_validation_history``). A Transaction begins with the list of the snapshot it loaded, which
    an expiry deletes.
    """
    if attempt == 1 and is_in_transaction(operation) and 0 < snapshot_number(start) <= base.iceberg.expired:
        return True
    if matching_snapshots(operation, 1, 1, 1, 1) == 0:
        return False
    if looks_from_first(operation):  # it walks to the very first snapshot, and misses it from the first expiry on
        return protocol.history == choices.HISTORY_FIXED_START and base.iceberg.expired > 0
    known = snapshot_number(start)
    needed = known + 1
    if protocol.history == choices.HISTORY_FIXED_START:
        if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA:
            needed = max(1, known)
    elif attempt == 1:
        return False
    elif protocol.history == choices.HISTORY_FIXED_START_ON_RETRY:
        needed = max(1, known)
    elif protocol.history == choices.HISTORY_SINCE_LAST:
        known = snapshot_number(previous)
        needed = known + 1
    else:
        return False
    return snapshot_number(base) > known and base.iceberg.expired >= needed


@rule
def misses_manifests(operation: Operation, start: TableState, base: TableState) -> bool:
    """Whether a manifest that the operation rewrote is gone (``BaseRewriteManifests.validateDeletedManifests``).

    It rewrites all of them; whoever took some out of the list since took one of those.
    """
    return operation.kind == REWRITE_MANIFESTS and base.iceberg.thinnings > start.iceberg.thinnings


@rule
def snapshots_to_expire(operation: Operation, table: TableState, older: int) -> int:
    """How many snapshots an expiry takes away; the oldest ``older`` were installed before the age it keeps."""
    if operation.kind != EXPIRE_SNAPSHOTS:
        return 0
    beyond = snapshot_number(table) - table.iceberg.undone - operation.retain_last
    if operation.expire_age_us > 0:
        beyond = min(beyond, older)
    return max(0, beyond - table.iceberg.expired)


@rule
def describe_maintenance(
    protocol: CommitProtocol,
    operation: Operation,
    start: TableState,
    previous: TableState,
    base: TableState,
    older: int,
    situation: IcebergSituation,
) -> None:
    """Fill in what maintenance means for this attempt; ``older`` as in ``snapshots_to_expire``."""
    situation.is_history_lost = 1 if loses_history(protocol, operation, situation.attempt, start, previous, base) else 0
    situation.reachable = min(situation.reachable, snapshots_kept(base))
    situation.expiring = snapshots_to_expire(operation, base, older)
    if misses_manifests(operation, start, base):
        situation.is_real = 1


@rule
def manifests_to_scan(table: TableState, snapshots: int) -> int:
    """Manifests that so many snapshots added, at the table's average: what a clean-up after expiry looks through.

    Snapshots that were there at first, and replacing ones, count as one manifest each.
    """
    others = snapshot_number(table) - table.appends - table.overwrites
    added = others + table.iceberg.data_manifests + table.iceberg.delete_manifests
    return snapshots * added // max(1, snapshot_number(table))
