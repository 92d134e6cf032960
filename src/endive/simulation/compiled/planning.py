"""What an attempt will cost, from what the txn knows, and whom it meets on data files.

Of every place of a table's data files one version is kept per change, the newest. Asking for changes after a version
is exact all the same, because a txn asks at the instant it is shown the table: nothing newer has happened. Which
changes an operation makes and minds is in ``endive.formats``.
"""

from endive.catalog.rules import SCOPE_PARTITION
from endive.formats import rules as formats
from endive.formats.data_files import (
    N_CHANGES,
    UNDOABLE,
    files_in_partition,
    first_of_group,
    index_of_place,
    touched_place,
)
from endive.formats.nesting import Situation
from endive.formats.rivals import (
    ground_in_table,
    makes,
    makes_in_partition,
    minds,
    minds_in_partition,
    reads_beside_writing,
    replaces_whole_partitions,
)
from endive.formats.rules import ground_against, stop_at
from endive.kernel import overwrite, pasted, step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import footprint_at, source_at, touched_at
from endive.simulation.compiled.records import Footprint, TxnRecord, WorldRecord
from endive.transaction.detectors import BY_CHANCE, DETECTOR_PARTITION_OVERLAP, is_real_by_chance
from endive.vectors import ints_at
from endive.vocabulary import NO_REASON


@pasted
def changed_places(world: WorldRecord, table: int, change: int):  # type: ignore[no-untyped-def]
    """The version that last changed each place of a table so."""
    count = world.server.files_per_partition * max(1, world.catalog.num_partitions)
    return ints_at(world.server.changed + 8 * ((table * N_CHANGES + change) * count), count)


@pasted
def changed_partitions(world: WorldRecord, table: int, change: int):  # type: ignore[no-untyped-def]
    """The version that last changed anything in each partition of a table so."""
    count = max(1, world.catalog.num_partitions)
    return ints_at(world.server.changed_in + 8 * ((table * N_CHANGES + change) * count), count)


@step
def n_partitions_written(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """Partitions of a table that the txn writes; a table without partitions is one."""
    return touched_at(world, txn, position).n_partitions_written if world.catalog.num_partitions > 0 else 1


@step
def partition_written(world: WorldRecord, txn: TxnRecord, position: int, number: int) -> int:
    """The ``number``-th of them."""
    return memory.partitions(world, txn, position)[number] if world.catalog.num_partitions > 0 else 0


@step
def count_in(world: WorldRecord, txn: TxnRecord, n_partitions: int, number: int) -> int:
    """Files the txn's job touches in the ``number``-th partition it writes."""
    if replaces_whole_partitions(txn.operation):
        return world.server.files_per_partition
    return min(files_in_partition(txn.touched_files, n_partitions, number), world.server.files_per_partition)


@step
def change_files(world: WorldRecord, txn: TxnRecord, position: int, version: int) -> None:
    """The txn's commit made ``version`` of the table: its places remember it."""
    table = memory.table_ids(world, txn)[position]
    n_partitions = n_partitions_written(world, txn, position)
    for number in range(n_partitions):
        partition = partition_written(world, txn, position, number)
        for change in range(N_CHANGES):
            if makes_in_partition(txn.operation, change):
                changed_partitions(world, table, change)[partition] = version
        count = count_in(world, txn, n_partitions, number)
        groups = source_at(world, txn.source).timing.commits_per_job
        for index in range(first_of_group(count, groups, txn.group), first_of_group(count, groups, txn.group + 1)):
            place = touched_place(txn.job_key, position, index, partition, world.server.files_per_partition)
            for change in range(N_CHANGES):
                if makes(txn.operation, change):
                    changed_places(world, table, change)[place] = version


@step
def restore_files(world: WorldRecord, table: int, after: int) -> None:
    """Compactions after version ``after`` are undone: the places they changed count as unchanged."""
    for change in UNDOABLE:
        places = changed_places(world, table, change)
        for place in range(world.server.files_per_partition * max(1, world.catalog.num_partitions)):
            if places[place] > after:
                places[place] = 0


@step
def note_commit(world: WorldRecord, txn: TxnRecord, position: int, version: int) -> None:
    """The table remembers the commit that made ``version`` among its newest."""
    table = memory.table_ids(world, txn)[position]
    footprint, partitions = footprint_at(world, table, version), memory.commit_partitions(world, table, version)
    footprint.changes = 0
    for change in range(N_CHANGES):
        if makes(txn.operation, change):
            footprint.changes |= 1 << change
    footprint.job_key, footprint.position, footprint.touched_files = txn.job_key, position, txn.touched_files
    footprint.group, footprint.groups = txn.group, source_at(world, txn.source).timing.commits_per_job
    footprint.n_partitions = n_partitions_written(world, txn, position)
    for number in range(footprint.n_partitions):
        partitions[number] = partition_written(world, txn, position, number)


@step
def stop_at_first(world: WorldRecord, txn: TxnRecord, position: int, situation: Situation) -> None:
    """The commits since are checked in their order, up to the first that the txn minds."""
    table, touched = memory.table_ids(world, txn)[position], touched_at(world, txn, position)
    after, until = touched.previous.version, touched.base.version
    first = max(after + 1, until - world.server.commits_kept + 1)
    for version in range(first, until + 1):
        ground = ground_against_commit(world, txn, position, table, version)
        if ground > 0:
            stop_at(world, situation, ground, version - after)
            return
    stop_at(world, situation, 0, first - 1 - after)


@step
def ground_against_commit(world: WorldRecord, txn: TxnRecord, position: int, table: int, version: int) -> int:
    """The first change of one commit that the txn minds, plus one, or 0."""
    footprint, partitions = footprint_at(world, table, version), memory.commit_partitions(world, table, version)
    n_written = n_partitions_written(world, txn, position)
    n_read = n_written
    if world.catalog.num_partitions > 0 and reads_beside_writing(txn.operation):
        n_read = touched_at(world, txn, position).n_partitions
    is_in_partition = False
    is_on_file = False
    for number in range(n_read):
        partition = partition_written(world, txn, position, number)
        for theirs in range(footprint.n_partitions):
            if partitions[theirs] == partition:
                is_in_partition = True
                if number < n_written and meets_on_file(world, txn, position, number, footprint, theirs):
                    is_on_file = True
    return ground_against(txn.operation, footprint.changes, is_in_partition, is_on_file)


@step
def meets_on_file(
    world: WorldRecord, txn: TxnRecord, position: int, number: int, footprint: Footprint, theirs: int
) -> bool:
    """Whether both touch a file of one partition: the ``number``-th of the txn's, the ``theirs``-th of the commit's."""
    per_partition = world.server.files_per_partition
    partition = partition_written(world, txn, position, number)
    count = count_in(world, txn, n_partitions_written(world, txn, position), number)
    rivals = min(files_in_partition(footprint.touched_files, footprint.n_partitions, theirs), per_partition)
    begin = first_of_group(rivals, footprint.groups, footprint.group)
    end = first_of_group(rivals, footprint.groups, footprint.group + 1)
    groups = source_at(world, txn.source).timing.commits_per_job
    for index in range(first_of_group(count, groups, txn.group), first_of_group(count, groups, txn.group + 1)):
        place = touched_place(txn.job_key, position, index, partition, per_partition)
        if begin <= index_of_place(footprint.job_key, footprint.position, place, partition, per_partition) < end:
            return True
    return False


@step
def ground_of_rival(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """What somebody has done, since the txn's start, to what it has read or touches, and its operation minds, plus one.

    0 if nobody has.
    """
    touched = touched_at(world, txn, position)
    ground = ground_in_table(txn.operation, touched.previous, touched.base)
    if ground == 0:
        ground = ground_in_partitions(world, txn, position)
    if ground == 0:
        ground = ground_on_files(world, txn, position)
    return ground


@step
def ground_in_partitions(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """The first change anywhere in its partitions that it minds there, plus one."""
    table = memory.table_ids(world, txn)[position]
    touched = touched_at(world, txn, position)
    n_partitions = n_partitions_written(world, txn, position)
    if world.catalog.num_partitions > 0 and reads_beside_writing(txn.operation):
        n_partitions = touched.n_partitions
    for change in range(N_CHANGES):
        if minds_in_partition(txn.operation, change):
            for number in range(n_partitions):
                partition = partition_written(world, txn, position, number)
                if changed_partitions(world, table, change)[partition] > touched.start.version:
                    return 1 + change
    return 0


@step
def ground_on_files(world: WorldRecord, txn: TxnRecord, position: int) -> int:
    """The first change of a file it touches that it minds, plus one."""
    table = memory.table_ids(world, txn)[position]
    start = touched_at(world, txn, position).start.version
    n_partitions = n_partitions_written(world, txn, position)
    for number in range(n_partitions):
        partition = partition_written(world, txn, position, number)
        count = count_in(world, txn, n_partitions, number)
        groups = source_at(world, txn.source).timing.commits_per_job
        for index in range(first_of_group(count, groups, txn.group), first_of_group(count, groups, txn.group + 1)):
            place = touched_place(txn.job_key, position, index, partition, world.server.files_per_partition)
            for change in range(N_CHANGES):
                if minds(txn.operation, change) and changed_places(world, table, change)[place] > start:
                    return 1 + change
    return 0


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
