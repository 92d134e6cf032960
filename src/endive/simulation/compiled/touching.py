"""Data files in the compiled engine: when each place of a table was last changed, and whether a txn minds.

One version is kept per change and place, the newest. Asking for changes after a version is exact all the same, because
a txn asks at the instant it is shown the table: nothing newer has happened. Which changes an operation makes and minds
is in ``endive.formats``.
"""

from endive.formats.data_files import N_CHANGES, files_in_partition, first_of_group, touched_place
from endive.formats.rules import (
    ground_in_table,
    makes,
    makes_in_partition,
    minds,
    minds_in_partition,
    reads_beside_writing,
    replaces_whole_partitions,
)
from endive.kernel import pasted, step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import source_at, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.vectors import ints_at


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
