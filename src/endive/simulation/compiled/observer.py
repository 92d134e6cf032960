"""The observer of the compiled engine: what a txn was shown and installed, held against a second set of books.

The rules are those of ``endive.catalog.ledger``, which the reference engine's observer calls as well. It changes
nothing but its own books; the first violation stays in them, and the engine raises it when the loop comes back.
"""

from endive.catalog import ledger as books
from endive.catalog.ledger import THE_CATALOG, Unit
from endive.formats.rules import replaces
from endive.kernel import step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import server_table, touched_at, unit_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.vocabulary import COMMIT_STATE_UNKNOWN, COMMITTED

UNSEEN = -1  # the version of a unit that a txn meets others on and was shown nothing of


@step
def unit_of_partition(world: WorldRecord, table: int, partition: int) -> Unit:
    """The unit of one partition of a table."""
    catalog = world.catalog
    number = books.unit_of_partition(table, partition, catalog.num_groups, catalog.num_tables, catalog.num_partitions)
    return unit_at(world, number)


@step
def observe_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A txn has just been shown the catalog."""
    ledger = world.books.ledger
    txn.base_commit = ledger.commits
    books.check_instant(ledger, txn.row.txn_id, now, txn.base_us)
    if world.catalog.scope == books.BY_CATALOG:
        books.check_seen(ledger, unit_at(world, THE_CATALOG), txn.row.txn_id, memory.expected(world, txn)[0], now)
    else:
        observe_units_read(world, txn, now)


@step
def observe_units_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """What it was shown of every unit it meets others on."""
    ledger = world.books.ledger
    txn_id = txn.row.txn_id
    expected = memory.expected(world, txn)
    tables = memory.table_ids(world, txn)
    shown = 0
    for position in range(txn.row.n_tables_read):
        table = tables[position]
        if world.catalog.scope == books.BY_PARTITION:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions):
                unit = unit_of_partition(world, table, partitions[i])
                books.check_seen(ledger, unit, txn_id, expected[shown], now)
                shown += 1
        elif world.catalog.scope == books.BY_GROUP:
            unit = unit_at(world, books.unit_of_group(table, world.catalog.num_groups))
            books.check_seen(ledger, unit, txn_id, shown_of_group(world, txn, unit.number), now)
        else:
            unit = unit_at(world, books.unit_of_table(table, world.catalog.num_groups))
            books.check_seen(ledger, unit, txn_id, expected[position], now)


@step
def shown_of_group(world: WorldRecord, txn: TxnRecord, unit: int) -> int:
    """The version of a group that the txn was shown; several of its tables may share it."""
    watched = memory.watched(world, txn)
    for i in range(txn.n_watched):
        if watched[i] == unit:
            return memory.expected(world, txn)[i]
    return UNSEEN


@step
def observe_commit(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A txn's commit has just been installed."""
    ledger = world.books.ledger
    versions = memory.versions(world)
    txn_id = txn.row.txn_id
    books.check_once(ledger, txn_id, txn.times_applied, now)
    txn.times_applied += 1
    if world.catalog.scope == books.BY_CATALOG:
        books.check_base(ledger, unit_at(world, THE_CATALOG), txn_id, txn.base_commit, now, False)
    else:
        observe_base(world, txn, now)
    books.begin_commit(ledger, unit_at(world, THE_CATALOG), replaces(txn.operation))
    books.check_installed(ledger, unit_at(world, THE_CATALOG), txn_id, versions[0], now)
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        table = tables[position]
        unit = unit_at(world, books.unit_of_table(table, world.catalog.num_groups))
        observe_change(world, txn, unit, now)
        books.check_installed(ledger, unit, txn_id, server_table(world, table).version, now)
        if world.catalog.num_groups > 0:
            unit = unit_at(world, books.unit_of_group(table, world.catalog.num_groups))
            observe_change(world, txn, unit, now)
        if world.catalog.num_partitions > 0:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions_written):
                observe_change(world, txn, unit_of_partition(world, table, partitions[i]), now)


@step
def observe_change(world: WorldRecord, txn: TxnRecord, unit: Unit, now: int) -> None:
    """The commit being booked changes a unit, and the catalog has installed the version that follows."""
    books.change_unit(world.books.ledger, unit, replaces(txn.operation))
    installed = memory.versions(world)[unit.number]
    books.check_installed(world.books.ledger, unit, txn.row.txn_id, installed, now)


@step
def observe_base(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """Nothing that the txn touches has changed since the commit it built on."""
    ledger = world.books.ledger
    txn_id = txn.row.txn_id
    tables = memory.table_ids(world, txn)
    can_undo = world.catalog.undoes_compactions == 1 and txn.row.n_tables_read == 1
    for position in range(txn.row.n_tables_read):
        table = tables[position]
        if world.catalog.scope == books.BY_PARTITION:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions):
                unit = unit_of_partition(world, table, partitions[i])
                books.check_base(ledger, unit, txn_id, txn.base_commit, now, False)
        else:
            unit = unit_at(world, books.deciding_unit(world.catalog.scope, table, world.catalog.num_groups))
            books.check_base(ledger, unit, txn_id, txn.base_commit, now, can_undo)


@step
def observe_log(world: WorldRecord, txn: TxnRecord, has_applied: bool, now: int) -> None:
    """A request has just been at the log of an append catalog."""
    log = world.server.log
    txn_id = txn.row.txn_id
    books.check_log(world.books.ledger, txn_id, log.offset, log.epoch, world.catalog.entry_bytes, has_applied, now)


@step
def observe_end(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A txn has ended, and its row says what it was told."""
    if txn.row.reason == COMMIT_STATE_UNKNOWN:
        books.leave_untold(world.books.ledger, txn.times_applied)
        txn.row.commits_untold = txn.times_applied
        return
    is_committed = txn.row.status == COMMITTED
    books.check_told(world.books.ledger, txn.row.txn_id, is_committed, txn.times_applied, now)
