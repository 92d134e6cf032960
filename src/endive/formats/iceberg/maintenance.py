"""Maintenance as an actor: snapshots that expire, manifests that are rewritten, and what both do to others.

What an expiry takes away, whom it leaves without a history, and when a rewrite of manifests has lost what it rewrote.
What the attempts cost is in ``endive.formats.iceberg.plan``, with that of every other kind.
"""

from endive.catalog.rules import TableState, count_before, snapshot_number, snapshots_kept
from endive.catalog.snapshot import TableMetadata
from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import Situation
from endive.formats.iceberg.conflicts import matching_snapshots
from endive.formats.iceberg.protocol import CommitProtocol
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
    and so does PyIceberg (``_validation_history``).
    """
    if matching_snapshots(operation, 1, 1, 1) == 0:
        return False
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
    return snapshot_number(base) > known and base.expired >= needed


@rule
def misses_manifests(operation: Operation, start: TableState, base: TableState) -> bool:
    """Whether a manifest that the operation rewrote is gone (``BaseRewriteManifests.validateDeletedManifests``).

    It rewrites all of them; whoever took some out of the list since took one of those.
    """
    return operation.kind == REWRITE_MANIFESTS and base.thinnings > start.thinnings


@rule
def snapshots_to_expire(operation: Operation, table: TableState, older: int) -> int:
    """How many snapshots an expiry takes away; the oldest ``older`` were installed before the age it keeps."""
    if operation.kind != EXPIRE_SNAPSHOTS:
        return 0
    beyond = snapshot_number(table) - operation.retain_last
    if operation.expire_age_us > 0:
        beyond = min(beyond, older)
    return max(0, beyond - table.expired)


@rule
def describe_maintenance(
    protocol: CommitProtocol,
    operation: Operation,
    start: TableState,
    previous: TableState,
    base: TableState,
    older: int,
    situation: Situation,
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
    added = others + table.data_manifests + table.delete_manifests
    return snapshots * added // max(1, snapshot_number(table))


def older_than(operation: Operation, table: TableMetadata, begin_us: int, initial: int) -> int:
    """Snapshots of a table that are older than the age an expiry keeps, counted from when that begins.

    The reference engine's; ``initial`` of them were there at first and are older than any age.
    """
    if table.snapshot_times_us is None or operation.kind != EXPIRE_SNAPSHOTS:
        return 0
    known, before_us = snapshot_number(table.state) - initial, begin_us - operation.expire_age_us
    return initial + count_before(table.snapshot_times_us, 0, known, before_us)
