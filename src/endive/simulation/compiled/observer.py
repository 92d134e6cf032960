"""The observer of the compiled engine: what a txn was shown and installed, held against a second set of books.

This file defines which records are compared. The rules are those of ``endive.catalog.ledger``, which the reference
engine's observer calls as well. It changes nothing but its own books; the first violation stays in them, and the engine
raises it when the loop comes back.
"""

from endive.catalog import ledger as books
from endive.catalog.ledger import THE_CATALOG
from endive.kernel import step
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import ledger, server_table, touched_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.vocabulary import COMMIT_STATE_UNKNOWN, COMMITTED

UNSEEN = -1  # the version of a unit that a txn meets others on and was shown nothing of


@step
def unit_of_partition(world: WorldRecord, table: int, partition: int) -> int:
    """The unit of one partition of a table."""
    return books.unit_of_partition(table, partition, world.num_groups, world.num_tables, world.num_partitions)


@step
def observe_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A txn has just been shown the catalog."""
    account = ledger(world)
    txn.base_commit = account[books.COMMITS]
    books.check_instant(account, 0, txn.row.txn_id, now, txn.base_us)
    if world.scope == books.BY_CATALOG:
        books.check_seen(account, 0, txn.row.txn_id, THE_CATALOG, memory.expected(world, txn)[0], now)
    else:
        observe_units_read(world, txn, now)


@step
def observe_units_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """What it was shown of every unit it meets others on."""
    account = ledger(world)
    txn_id = txn.row.txn_id
    expected = memory.expected(world, txn)
    tables = memory.table_ids(world, txn)
    shown = 0
    for position in range(txn.row.n_tables_read):
        table = tables[position]
        if world.scope == books.BY_PARTITION:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions):
                unit = unit_of_partition(world, table, partitions[i])
                books.check_seen(account, 0, txn_id, unit, expected[shown], now)
                shown += 1
        elif world.scope == books.BY_GROUP:
            unit = books.unit_of_group(table, world.num_groups)
            books.check_seen(account, 0, txn_id, unit, shown_of_group(world, txn, unit), now)
        else:
            unit = books.unit_of_table(table, world.num_groups)
            books.check_seen(account, 0, txn_id, unit, expected[position], now)


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
    account = ledger(world)
    versions = memory.versions(world)
    txn_id = txn.row.txn_id
    books.check_once(account, 0, txn_id, txn.times_applied, now)
    txn.times_applied += 1
    if world.scope == books.BY_CATALOG:
        books.check_base(account, 0, txn_id, THE_CATALOG, txn.base_commit, now)
    else:
        observe_base(world, txn, now)
    books.begin_commit(account, 0)
    books.check_installed(account, 0, txn_id, THE_CATALOG, versions[0], now)
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        table = tables[position]
        unit = books.unit_of_table(table, world.num_groups)
        books.change_unit(account, 0, unit)
        books.check_installed(account, 0, txn_id, unit, versions[unit], now)
        books.check_installed(account, 0, txn_id, unit, server_table(world, table).version, now)
        if world.num_groups > 0:
            unit = books.unit_of_group(table, world.num_groups)
            books.change_unit(account, 0, unit)
            books.check_installed(account, 0, txn_id, unit, versions[unit], now)
        if world.num_partitions > 0:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions_written):
                unit = unit_of_partition(world, table, partitions[i])
                books.change_unit(account, 0, unit)
                books.check_installed(account, 0, txn_id, unit, versions[unit], now)


@step
def observe_base(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """Nothing that the txn touches has changed since the commit it built on."""
    account = ledger(world)
    txn_id = txn.row.txn_id
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_read):
        table = tables[position]
        if world.scope == books.BY_PARTITION:
            partitions = memory.partitions(world, txn, position)
            for i in range(touched_at(world, txn, position).n_partitions):
                unit = unit_of_partition(world, table, partitions[i])
                books.check_base(account, 0, txn_id, unit, txn.base_commit, now)
        else:
            unit = books.deciding_unit(world.scope, table, world.num_groups)
            books.check_base(account, 0, txn_id, unit, txn.base_commit, now)


@step
def observe_rebase(world: WorldRecord, txn: TxnRecord) -> None:
    """A server that may do so has rebased a change that commutes on the newest state."""
    txn.base_commit = ledger(world)[books.COMMITS]


@step
def observe_log(world: WorldRecord, txn: TxnRecord, has_applied: bool, now: int) -> None:
    """A request has just been at the log of an append catalog."""
    log = world.log
    txn_id = txn.row.txn_id
    books.check_log(ledger(world), 0, txn_id, log.offset, log.epoch, world.entry_bytes, has_applied, now)


@step
def observe_end(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A txn has ended, and its row says what it was told."""
    if txn.row.reason == COMMIT_STATE_UNKNOWN:
        books.leave_untold(ledger(world), 0, txn.times_applied)
        return
    is_committed = txn.row.status == COMMITTED
    books.check_told(ledger(world), 0, txn.row.txn_id, is_committed, txn.times_applied, now)
