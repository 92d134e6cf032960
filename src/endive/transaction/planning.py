"""What an attempt finds at the tables it writes, what it will do there, and whether it must end there."""

from typing import TYPE_CHECKING

from endive.catalog.snapshot import CatalogSnapshot, TableMetadata
from endive.formats import data_files, rivals, rules
from endive.formats.file_history import TouchedFiles
from endive.formats.nesting import Plan, Situation
from endive.vocabulary import NO_REASON, VALIDATION_EXCEPTION

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World


def plan_tables(
    txn: "Transaction",
    world: "World",
    attempt: int,
    start: CatalogSnapshot,
    previous: CatalogSnapshot,
    base: CatalogSnapshot,
    begin_us: int,
) -> tuple[list[Plan], int]:
    """What the attempt does, table by table, and the reason why it must end there, if there is one."""
    situations = [Situation() for _ in range(txn.n_written)]
    candidates = []
    for position, situation in enumerate(situations):
        then, before, now = (snapshot.tables[txn.tables[position]] for snapshot in (start, previous, base))
        filtered, behind = -1, -1
        if txn.partitions:
            touched = txn.partitions[position][0]
            filtered = sum(now.partition_versions[q] - then.partition_versions[q] for q in touched)
            if world.is_partition_scoped:
                behind = sum(now.partition_versions[q] - before.partition_versions[q] for q in touched)
        older = _count_older(txn, world, now, begin_us)
        states = then.state, before.state, now.state
        rules.describe(world, txn.operation, attempt, *states, filtered, behind, older, situation)
        if rules.is_beset(world, txn.operation, situation, txn.terms.is_by_files):
            candidates.append(position)
    if "can_have_real_conflict" in txn.own_hooks:
        behind_at = [p for p, each in enumerate(situations) if each.iceberg.behind > 0]
        candidates = behind_at if txn.can_have_real_conflict() else []
    real = tuple(position for position, situation in enumerate(situations) if rules.is_in_conflict(world, situation))
    if candidates:
        real += world.detector.conflicting_positions(txn, base, previous, tuple(candidates))
    for position in real:
        ground = world.detector.ground_of(txn, position, base, previous)
        rules.find_conflict(world, txn.client.key, txn.client.attempt, position, ground, situations[position])
        if rules.checks_in_order(world):
            ground, commits = world.detector.first_rival(txn, position, base, previous)
            rules.stop_at(world, situations[position], ground, commits)
    if real:
        txn.row.real_conflicts += 1
    elif attempt > 1:
        txn.row.false_conflicts += 1
    reason = NO_REASON
    for situation in situations:
        reason = rules.verdict_on(world, txn.operation, situation, reason)
    if "should_abort_on_real_conflict" in txn.own_hooks and reason in (NO_REASON, VALIDATION_EXCEPTION):
        reason = VALIDATION_EXCEPTION if real and txn.should_abort_on_real_conflict() else NO_REASON
    return [txn.plan_attempt(world, situation) for situation in situations], reason


def _count_older(txn: "Transaction", world: "World", table: TableMetadata, begin_us: int) -> int:
    """Snapshots of a table that are older than the age an expiry keeps, counted from when that begins."""
    if table.snapshot_times_us is None or not rules.asks_for_age(txn.operation):
        return 0
    initial = world.tables.initial_snapshots
    known, before_us = rules.snapshot_of(table.state) - initial, begin_us - txn.operation.expire_age_us
    return initial + rules.count_before(table.snapshot_times_us, 0, known, before_us)


def find_files(txn: "Transaction", position: int) -> TouchedFiles:
    """The places of the data files a txn touches in one table it writes, and the changes its commit makes there."""
    partitions: tuple[int, ...] = (0,)
    if txn.partitions:
        touched, n_written = txn.partitions[position]
        partitions = touched[:n_written]
    per_partition = txn.files_per_partition
    places: list[int] = []
    for number, partition in enumerate(partitions):
        count = data_files.files_in_partition(txn.n_touched_files, len(partitions), number)
        if rivals.replaces_whole_partitions(txn.operation):
            count = per_partition
        count = min(count, per_partition)
        first = data_files.first_of_group(count, txn.groups, txn.group)
        places.extend(
            data_files.touched_place(txn.job_key, position, index, partition, per_partition)
            for index in range(first, data_files.first_of_group(count, txn.groups, txn.group + 1))
        )
    changes, everywhere = (
        tuple(change for change in range(data_files.N_CHANGES) if does(txn.operation, change))
        for does in (rivals.makes, rivals.makes_in_partition)
    )
    return TouchedFiles(changes, tuple(places), everywhere, partitions)
