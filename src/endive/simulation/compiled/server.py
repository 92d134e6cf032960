"""The catalog server and contended objects: what is seen and changed at one instant.

Which version is watched, what a commit advances, who has to wait: all that is called from there.
"""

from typing import Final

from endive.catalog import rules
from endive.catalog.rules import SCOPE_PARTITION, take_worker
from endive.catalog.service import SERVED_COMMIT, SERVED_LOCK, SERVED_POSITIONS, SERVED_READ, SERVED_UNLOCK
from endive.distributions.code import draw_us
from endive.formats import rules as formats
from endive.formats.nesting import TableState
from endive.kernel import overwrite, step
from endive.rng import SERVICE, slot
from endive.simulation.compiled import memory
from endive.simulation.compiled.memory import codes, server_object, server_table, touched_at
from endive.simulation.compiled.moments import FIRST_STEP, MOMENT_COMMIT, MOMENT_LOCK, MOMENT_UNLOCK, READ_AS
from endive.simulation.compiled.planning import change_files, note_commit, restore_files
from endive.simulation.compiled.records import CATALOG_APPEND, TxnRecord, WorldRecord
from endive.storage.contention import (
    CROWD_TABLES_MAX,
    CROWDED,
    DELAY,
    PENALTY,
    REFUSAL,
    admitted_us,
    answer_us,
    held_back_us,
    meet_rivals,
)
from endive.vectors import ints_at
from endive.vocabulary import N_OPERATIONS


@step
def catalog_bytes(world: WorldRecord) -> int:
    """Size of the catalog object, or of checkpoint and log together."""
    size_bytes = world.server.catalog_bytes
    if world.catalog.kind == CATALOG_APPEND:
        size_bytes += rules.log_bytes(world.server.log)
    return size_bytes


@step
def watch(world: WorldRecord, txn: TxnRecord) -> None:
    """Settle, once per txn, which versions its commits are checked against."""
    n_read = txn.row.n_tables_read
    tables = memory.table_ids(world, txn)
    watched = memory.watched(world, txn)
    if world.catalog.scope != SCOPE_PARTITION:
        txn.n_watched = rules.watch_tables(world.catalog.scope, world.catalog.num_groups, tables, 0, n_read, watched)
        return
    n_watched = 0
    for position in range(n_read):
        first = memory.first_partition(world, tables[position])
        count = touched_at(world, txn, position).n_partitions
        n_watched = rules.watch_partitions(first, memory.partitions(world, txn, position), 0, count, watched, n_watched)
    txn.n_watched = n_watched


@step
def expect(world: WorldRecord, txn: TxnRecord) -> None:
    """Remember the watched versions of this instant."""
    versions = memory.versions(world)
    watched = memory.watched(world, txn)
    expected = memory.expected(world, txn)
    for i in range(txn.n_watched):
        expected[i] = versions[watched[i]]


@step
def is_current(world: WorldRecord, txn: TxnRecord) -> bool:
    """Whether nothing the txn watches has moved since the state it remembers."""
    versions = memory.versions(world)
    watched = memory.watched(world, txn)
    expected = memory.expected(world, txn)
    for i in range(txn.n_watched):  # noqa: SIM110 - a generator does not compile
        if versions[watched[i]] != expected[i]:
            return False
    return True


@step
def undoable(world: WorldRecord, txn: TxnRecord) -> int:
    """Compactions since the txn's base that the server may undo for its commit; 0 if something else was committed."""
    if world.catalog.undoes_compactions == 0 or txn.row.n_tables_read > 1:
        return 0
    return formats.undoable(world, server_table(world, memory.table_ids(world, txn)[0]), touched_at(world, txn, 0).base)


@step
def undo(world: WorldRecord, txn: TxnRecord) -> None:
    """They are undone, and what they removed is there again."""
    table, base = memory.table_ids(world, txn)[0], touched_at(world, txn, 0).base
    formats.undo(server_table(world, table), base)
    if world.server.notes_files == 1:
        restore_files(world, table, base.version)


@step
def see(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """Take a snapshot of this instant as the txn's base: all it will know of the catalog."""
    expect(world, txn)
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        overwrite(touched_at(world, txn, position).base, server_table(world, tables[position]))
        if world.catalog.num_partitions > 0:
            see_partitions(world, txn, position, tables[position])
    txn.base_us = now
    txn.base_bytes = catalog_bytes(world)
    if world.catalog.kind == CATALOG_APPEND:
        overwrite(txn.base_log, world.server.log)


@step
def see_partitions(world: WorldRecord, txn: TxnRecord, position: int, table: int) -> None:
    """The versions of the touched partitions of one table."""
    first = memory.first_partition(world, table)
    versions = memory.versions(world)
    partitions = memory.partitions(world, txn, position)
    seen = memory.partition_versions(world, txn, position, 2)
    for i in range(touched_at(world, txn, position).n_partitions):
        seen[i] = versions[first + partitions[i]]


@step
def keep_base(world: WorldRecord, txn: TxnRecord, is_start: bool) -> None:
    """The base becomes the state before it; at the start of a txn, its fixed start too."""
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        overwrite(touched.previous, touched.base)
        if is_start:
            overwrite(touched.start, touched.base)
        if world.catalog.num_partitions > 0:
            base = memory.partition_versions(world, txn, position, 2)
            previous = memory.partition_versions(world, txn, position, 1)
            start = memory.partition_versions(world, txn, position, 0)
            for i in range(touched.n_partitions):
                previous[i] = base[i]
                if is_start:
                    start[i] = base[i]


@step
def install(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The txn's commit is the newest state now: one sequence number more."""
    versions = memory.versions(world)
    tables = memory.table_ids(world, txn)
    versions[0] += 1
    operation = txn.operation
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        rules.advance_table(versions, world.catalog.num_groups, tables, 0, position)
        if world.catalog.num_partitions > 0:
            first = memory.first_partition(world, tables[position])
            partitions = memory.partitions(world, txn, position)
            for i in range(touched.n_partitions_written):
                versions[first + partitions[i]] += 1
        table = server_table(world, tables[position])
        world.server.catalog_bytes += formats.install(world, table, operation, touched.plan)
        if world.server.notes_files == 1:
            change_files(world, txn, position, table.version)
            if world.server.commits_kept > 0:
                note_commit(world, txn, position, table.version)
        if world.server.times_max > 0 and formats.installs_snapshot(operation):
            note_time(world, tables[position], table, now)


@step
def note_time(world: WorldRecord, table_id: int, table: TableState, now: int) -> None:
    """Remember when the table's newest snapshot was installed; the loop makes room before the next one."""
    installed = formats.snapshot_of(table) - world.server.initial_snapshots
    memory.snapshot_times(world, table_id)[installed - 1] = now
    if installed == world.server.times_max:
        world.server.is_times_full = 1


# --- contended objects ---------------------------------------------------------------------------------------


@step
def other_us(world: WorldRecord, request: int, what: int, key: int, counter: int, size_bytes: int) -> int:
    """What a conditional request draws beside its latency of success."""
    store, op = world.store, request % N_OPERATIONS
    if what == REFUSAL:
        code = store.refusal[request]
    elif what == PENALTY:
        code = store.penalty[op]
    elif what == DELAY:
        code = store.delay[op]
    else:
        code = store.crowd[op * CROWD_TABLES_MAX + what - CROWDED]
    return draw_us(codes(world), code, key, counter, size_bytes)


@step
def waits_until_us(world: WorldRecord, txn: TxnRecord, number: int, op: int, now: int) -> int:
    """When the object takes a conditional request that reaches it now, or has waited at it until now."""
    state = server_object(world, number)
    if txn.has_reached == 0:
        txn.has_reached = 1
        held_us = held_back_us(other_us, world, world.store.terms, state, txn, op, now, txn.row.txn_id)
        if held_us > 0:
            return now + held_us
    return admitted_us(now, state.next_free_us)


@step
def meets_rival(world: WorldRecord, txn: TxnRecord, number: int, op: int, now: int) -> bool:
    """Whether the request is contended; the object remembers it either way."""
    txn.has_reached = 0
    return meet_rivals(world.store.terms, server_object(world, number), op, now, txn.row.txn_id)


@step
def answered_us(
    world: WorldRecord,
    txn: TxnRecord,
    number: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    success: bool,
    contended: bool,
    now: int,
) -> int:
    """When the answer to a conditional request evaluated now arrives."""
    request, state, terms = object_kind * N_OPERATIONS + op, server_object(world, number), world.store.terms
    return now + answer_us(other_us, world, terms, state, txn, request, size_bytes, now, contended, success)


# --- a catalog server with workers -----------------------------------------------------------------------------

# By moment: where the service time of the request is drawn that is evaluated then.
_SERVED = {moment: SERVED_POSITIONS[step] for moment, step in READ_AS.items() if step in SERVED_POSITIONS}
_SERVED |= {MOMENT_LOCK: SERVED_LOCK, MOMENT_UNLOCK: SERVED_UNLOCK}
SERVED_AT: Final = tuple(_SERVED.get(moment, SERVED_READ) for moment in range(FIRST_STEP))


@step
def be_served(world: WorldRecord, txn: TxnRecord, position: int, now: int) -> None:
    """Queue for a worker until it is done."""
    service_us = 0
    if world.catalog.service_time >= 0:
        counter = slot(txn.row.attempts, SERVICE, position)
        if position == SERVED_COMMIT:
            counter += txn.tries
        elif position == SERVED_LOCK:
            counter += txn.lock_asks
        service_us = draw_us(codes(world), world.catalog.service_time, txn.key, counter, 0)
    txn.time_us = take_worker(
        ints_at(world.server.workers_free, world.catalog.workers), world.catalog.workers, now, service_us
    )


@step
def read_arrives(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A catalog read reaches a server with workers."""
    be_served(world, txn, SERVED_AT[txn.purpose], now)
    return txn.purpose


@step
def commit_arrives(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A commit reaches a server with workers."""
    be_served(world, txn, SERVED_COMMIT, now)
    return MOMENT_COMMIT
