"""What an attempt will cost, from what the txn knows.

This file defines how the engine's records become the arguments of the rules (``endive.formats``), the
detectors and the draw of manifests to merge.
"""

from endive.catalog.rules import SCOPE_PARTITION, count_before, snapshot_number
from endive.distributions.counts import draw_count
from endive.formats.iceberg.conflicts import rivals_since, verdict_on
from endive.formats.iceberg.maintenance import describe_maintenance
from endive.formats.iceberg.plan import describe_situation, plan_attempt
from endive.kernel import overwrite, step
from endive.rng import CONFLICTING_MANIFESTS, slot, uniform
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import source_at, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.touching import meets_rival_on_files
from endive.transaction.detectors import DETECTOR_PARTITION_OVERLAP, is_real_by_chance
from endive.vocabulary import EXPIRE_SNAPSHOTS, NO_REASON


@step
def partitions_moved(world: WorldRecord, txn: TxnRecord, position: int, since: int) -> int:
    """Commits to the touched partitions since its start (0) or the attempt before (1)."""
    then = memory.partition_versions(world, txn, position, since)
    now = memory.partition_versions(world, txn, position, 2)
    moved = 0
    for i in range(touched_at(world, txn, position).n_partitions):
        moved += now[i] - then[i]
    return moved


@step
def overlaps(world: WorldRecord, txn: TxnRecord, position: int) -> bool:
    """Whether a written partition of the table has moved since the attempt before."""
    then = memory.partition_versions(world, txn, position, 1)
    now = memory.partition_versions(world, txn, position, 2)
    for i in range(touched_at(world, txn, position).n_partitions_written):  # noqa: SIM110
        if now[i] != then[i]:
            return True
    return False


@step
def is_real_conflict(world: WorldRecord, txn: TxnRecord, position: int) -> bool:
    """The verdict of the detector on one table."""
    if source_at(world, txn.source).is_by_files == 1:
        return meets_rival_on_files(world, txn, position)
    if world.conflicts.detector != DETECTOR_PARTITION_OVERLAP:
        probability = source_at(world, txn.source).real_conflict_probability
        return is_real_by_chance(txn.key, txn.row.attempts, position, probability)
    return overlaps(world, txn, position)


@step
def older_than(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """Snapshots of a table that are older than the age an expiry keeps, counted from when that begins."""
    if world.server.times_max == 0 or txn.operation.kind != EXPIRE_SNAPSHOTS:
        return 0
    table = memory.table_ids(world, txn)[position]
    known = snapshot_number(touched_at(world, txn, position).base) - world.server.initial_snapshots
    before_us = txn.begin_us - txn.operation.expire_age_us
    return world.server.initial_snapshots + count_before(memory.snapshot_times(world, table), 0, known, before_us)


@step
def plan(world: WorldRecord, txn: TxnRecord) -> int:
    """Fill in the cost of every written table; the reason why the attempt must end there, if there is one."""
    situation = world.situation
    is_real = False
    reason = NO_REASON
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        filtered = -1
        behind = -1
        if world.catalog.num_partitions > 0:
            filtered = partitions_moved(world, txn, position, 0)
            if world.catalog.scope == SCOPE_PARTITION:
                behind = partitions_moved(world, txn, position, 1)
        describe_situation(
            txn.operation, txn.attempt, touched.start, touched.previous, touched.base, filtered, behind, situation
        )
        older = older_than(world, txn, position)
        describe_maintenance(
            world.protocol, txn.operation, touched.start, touched.previous, touched.base, older, situation
        )
        is_by_files = source_at(world, txn.source).is_by_files == 1
        rivals = rivals_since(world.protocol, txn.operation, situation, is_by_files)
        if situation.is_real == 1 or (rivals > 0 and is_real_conflict(world, txn, position)):
            is_real = True
            situation.is_real = 1
            u = uniform(txn.key, slot(txn.row.attempts, CONFLICTING_MANIFESTS, position))
            situation.conflicting = draw_count(world.conflicts.conflicting, u)
        reason = verdict_on(situation, world.protocol, reason)
        overwrite(touched.cost, world.blank.cost)
        plan_attempt(world.protocol, txn.operation, situation, touched.cost)
    if is_real:
        txn.row.real_conflicts += 1
    elif txn.attempt > 1:
        txn.row.false_conflicts += 1
    return reason
