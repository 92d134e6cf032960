"""What an attempt will cost, from what the txn knows.

This file defines how the engine's records become the arguments of the rules (``endive.transaction.rules``), the
detectors and the draw of manifests to merge.
"""

from endive.catalog.rules import SCOPE_PARTITION
from endive.kernel import inlined_step, overwrite, step
from endive.rng import CONFLICTING_MANIFESTS, slot, uniform
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import source_at, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.touching import meets_rival_on_files
from endive.transaction.counts import draw_count
from endive.transaction.detectors import DETECTOR_PARTITION_OVERLAP, is_real_by_chance
from endive.transaction.rules import describe_situation, plan_attempt, rivals_since


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
    if world.detector != DETECTOR_PARTITION_OVERLAP:
        probability = source_at(world, txn.source).real_conflict_probability
        return is_real_by_chance(txn.key, txn.row.attempts, position, probability)
    return overlaps(world, txn, position)


@inlined_step
def plan(world: WorldRecord, txn: TxnRecord) -> bool:
    """Fill in the cost of every written table; whether a real conflict stands in the way."""
    situation = world.situation
    is_real = False
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        filtered = -1
        behind = -1
        if world.num_partitions > 0:
            filtered = partitions_moved(world, txn, position, 0)
            if world.scope == SCOPE_PARTITION:
                behind = partitions_moved(world, txn, position, 1)
        describe_situation(
            txn.operation, txn.attempt, touched.start, touched.previous, touched.base, filtered, behind, situation
        )
        is_by_files = source_at(world, txn.source).is_by_files == 1
        rivals = rivals_since(world.protocol, txn.operation, situation, is_by_files)
        if rivals > 0 and is_real_conflict(world, txn, position):
            is_real = True
            situation.is_real = 1
            u = uniform(txn.key, slot(txn.row.attempts, CONFLICTING_MANIFESTS, position))
            situation.conflicting = draw_count(world.conflicting, u)
        overwrite(touched.cost, world.blank_cost)
        plan_attempt(world.protocol, txn.operation, situation, touched.cost)
    if is_real:
        txn.row.real_conflicts += 1
    elif txn.attempt > 1:
        txn.row.false_conflicts += 1
    return is_real
