"""What an attempt will cost, from what the txn knows."""

from endive.catalog.rules import SCOPE_PARTITION
from endive.formats import rules as formats
from endive.kernel import overwrite, step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import source_at, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.touching import ground_of_rival, stop_at_first
from endive.transaction.detectors import BY_CHANCE, DETECTOR_PARTITION_OVERLAP, is_real_by_chance
from endive.vocabulary import NO_REASON


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
def ground_of_conflict(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """The verdict of the detector on one table: what makes the conflict real, or 0."""
    if source_at(world, txn.source).is_by_files == 1:
        return ground_of_rival(world, txn, position)
    if world.detector != DETECTOR_PARTITION_OVERLAP:
        probability = source_at(world, txn.source).real_conflict_probability
        return BY_CHANCE if is_real_by_chance(txn.key, txn.row.attempts, position, probability) else 0
    return BY_CHANCE if overlaps(world, txn, position) else 0


@step
def older_than(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """Snapshots of a table that are older than the age an expiry keeps, counted from when that begins."""
    if world.server.times_max == 0 or not formats.asks_for_age(txn.operation):
        return 0
    table = memory.table_ids(world, txn)[position]
    known = formats.snapshot_of(touched_at(world, txn, position).base) - world.server.initial_snapshots
    before_us = txn.begin_us - txn.operation.expire_age_us
    return world.server.initial_snapshots + formats.count_before(
        memory.snapshot_times(world, table), 0, known, before_us
    )


@step
def plan(world: WorldRecord, txn: TxnRecord) -> int:
    """Fill in the plan of every written table; the reason why the attempt must end there, if there is one."""
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
        start, previous, base = touched.start, touched.previous, touched.base
        older = older_than(world, txn, position)
        formats.describe(world, txn.operation, txn.attempt, start, previous, base, filtered, behind, older, situation)
        is_by_files = source_at(world, txn.source).is_by_files == 1
        ground = 0
        if formats.is_in_conflict(world, situation):
            ground = BY_CHANCE
        elif formats.is_beset(world, txn.operation, situation, is_by_files):
            ground = ground_of_conflict(world, txn, position)
        if ground > 0:
            is_real = True
            formats.find_conflict(world, txn.key, txn.row.attempts, position, ground, situation)
            if formats.checks_in_order(world) and is_by_files:
                stop_at_first(world, txn, position, situation)
        reason = formats.verdict_on(world, txn.operation, situation, reason)
        overwrite(touched.plan, world.blank.plan)
        formats.plan(world, txn.operation, situation, touched.plan)
    if is_real:
        txn.row.real_conflicts += 1
    elif txn.attempt > 1:
        txn.row.false_conflicts += 1
    return reason
