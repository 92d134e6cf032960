"""The life of a txn between two events.

From one shared moment to the next, everything in between that nobody can observe is summed on the way. What an attempt
costs is planned and paid by the rules of the table's format (``endive.formats``), as in the reference engine.

Every function here begins at the txn's ``time_us``, moves it on, and returns what comes next (``transitions``).
"""

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_NONE
from endive.formats import paying
from endive.formats import rules as formats
from endive.kernel import step
from endive.rng import BACKOFF, BASE_READ, COMMIT, POINTER_READ, READ_BACK, REFRESH, slot, uniform
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import adding_up
from endive.simulation.compiled.ending import end, fail
from endive.simulation.compiled.memory import server_table, source_at, touched_at
from endive.simulation.compiled.moments import (
    MOMENT_BASE_READ,
    MOMENT_COMMIT,
    MOMENT_COMMIT_ARRIVES,
    MOMENT_POINTER_CHECK,
    MOMENT_PUBLISHED,
    MOMENT_QUEUE,
    MOMENT_READ_BACK,
    MOMENT_REFRESH,
    STEP_BEGIN,
    STEP_BUILD,
    STEP_COMMIT,
    STEP_COMMITTED,
    STEP_LOG,
    STEP_NEXT_LIST,
    STEP_REFUSED,
    STEP_RELOAD,
    STEP_START,
    STEP_STOP,
    STEP_SWAP,
)
from endive.simulation.compiled.ordering import begin_to_ask, send_unlock
from endive.simulation.compiled.outgoing import send, send_look, send_read, send_to_catalog
from endive.simulation.compiled.planning import plan
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.transaction.retry import BACKOFF_NONE, backoff_us, reason_to_stop
from endive.vocabulary import CAS, CREATE, NO_REASON, NONE, PHASE_BACKOFF, PHASE_RUNTIME, TIMEOUT

# --- loading and running ------------------------------------------------------------------------------------


@step
def load_and_run(world: WorldRecord, txn: TxnRecord) -> int:
    """After the first catalog read: load the tables, then do the work.

    Called at the instant the server evaluated that read, so its tables still are what the txn saw.
    """
    txn.row.phases_us[PHASE_RUNTIME] += txn.time_us - txn.sent_us
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_read):
        now = server_table(world, tables[position])
        if txn.is_recalled == 1:
            paying.pay_load(adding_up(), world, txn, position, now, touched_at(world, txn, position).previous, True)
        else:
            paying.pay_load(adding_up(), world, txn, position, now, now, False)
    txn.is_recalled = 0
    if txn.has_failed == 1:
        return fail(world, txn)
    if formats.lists_twice(world):
        begin_anew(txn)
        return send_look(world, txn)
    return run(world, txn)


@step
def begin_anew(txn: TxnRecord) -> None:
    """The table is loaded: nothing of an earlier beginning counts."""
    txn.attempt = 0
    txn.is_known = 0
    txn.has_looked = 0
    txn.waited_us = 0


@step
def run(world: WorldRecord, txn: TxnRecord) -> int:
    """Do the work."""
    begin_anew(txn)
    return work(world, txn, txn.runtime_us)


@step
def work_on(txn: TxnRecord, worked_us: int) -> None:
    """Work for a while."""
    txn.time_us += worked_us
    txn.row.phases_us[PHASE_RUNTIME] += worked_us


@step
def work(world: WorldRecord, txn: TxnRecord, rest_us: int) -> int:
    """Do the rest of the work; then the commit begins, or the wait for it."""
    work_on(txn, rest_us)
    if txn.row.commit_start_us == NONE:
        txn.row.commit_start_us = txn.time_us
    txn.begin_us = txn.time_us
    if source_at(world, txn.source).queue != at.NOT_THERE:
        return MOMENT_QUEUE
    return STEP_BEGIN


@step
def wait(world: WorldRecord, txn: TxnRecord) -> None:
    """The backoff before this retry."""
    source = source_at(world, txn.source)
    if source.backoff == BACKOFF_NONE:
        return
    txn.waited_us = backoff_us(
        source.backoff,
        source.backoff_base_ms,
        source.backoff_multiplier,
        source.backoff_max_ms,
        source.backoff_jitter,
        txn.attempt - 1,
        txn.waited_us,
        uniform(txn.key, slot(txn.row.attempts, BACKOFF, 0)),
    )
    txn.row.phases_us[PHASE_BACKOFF] += txn.waited_us
    txn.time_us += txn.waited_us


@step
def begin_attempt(world: WorldRecord, txn: TxnRecord) -> int:
    """Another attempt: wait, learn the newest state if the protocol asks for it, build."""
    if formats.refreshes_first(txn.operation) and txn.has_looked == 0:
        txn.has_looked = 1
        return send_look(world, txn)
    txn.attempt += 1
    txn.row.attempts += 1
    if txn.attempt > 1:
        wait(world, txn)
    elif formats.builds_before_looking(txn.operation):
        for position in range(txn.row.n_tables_written):
            paying.pay_beginning(adding_up(), world, txn, position, touched_at(world, txn, position).start)
        if txn.has_failed == 1:
            return fail(world, txn)
    if formats.must_read_catalog(world, txn.operation, txn.attempt, txn.is_known == 1):
        txn.sent_us = txn.time_us
        return send_read(world, txn, MOMENT_REFRESH, slot(txn.row.attempts, REFRESH, 0), txn.base_bytes)
    return STEP_BUILD


@step
def build(world: WorldRecord, txn: TxnRecord) -> int:
    """On the base it has: plan, validate, write; then append to lists or go to the swap."""
    n_written = txn.row.n_tables_written
    if txn.row.n_behind_first == NONE:
        behind = 0
        for position in range(n_written):
            touched = touched_at(world, txn, position)
            behind += formats.snapshot_of(touched.base) - formats.snapshot_of(touched.start)
        txn.row.n_behind_first = behind
    reason = plan(world, txn)
    for position in range(n_written):
        touched = touched_at(world, txn, position)
        paying.pay_validation(adding_up(), world, txn, position, touched.base, touched.plan)
    if txn.has_failed == 1:
        return fail(world, txn)
    if reason != NO_REASON:
        txn.row.reason = reason
        clean_up(world, txn, False)
        return STEP_STOP
    for position in range(n_written):
        touched = touched_at(world, txn, position)
        paying.pay_build(adding_up(), world, txn, position, touched.base, touched.plan)
    if not formats.checks_before_last_step(world, txn.operation):
        write_metadata(world, txn)
    if txn.has_failed == 1:
        return fail(world, txn)
    if formats.appends_before_swap(world):
        txn.sent_us = txn.time_us
        txn.position = 0
        return STEP_NEXT_LIST
    return STEP_SWAP


@step
def write_metadata(world: WorldRecord, txn: TxnRecord) -> None:
    """The new metadata object of every written table."""
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        paying.pay_last_step(adding_up(), world, txn, position, touched.base, touched.plan)


@step
def check_metadata(world: WorldRecord, txn: TxnRecord) -> None:
    """The metadata objects behind the pointer just read; called at the instant the server evaluated that read."""
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        seen, plan = server_table(world, tables[position]), touched_at(world, txn, position).plan
        paying.pay_check(adding_up(), world, txn, position, seen, plan)


# --- swapping -----------------------------------------------------------------------------------------------


@step
def swap(world: WorldRecord, txn: TxnRecord) -> int:
    """Everything is written; read the version to swap on only now if the protocol does, then swap."""
    if formats.reads_base_last(world, txn.operation, txn.attempt):
        txn.sent_us = txn.time_us
        return send_read(world, txn, MOMENT_BASE_READ, slot(txn.row.attempts, BASE_READ, 0), txn.base_bytes)
    return look_again(world, txn)


@step
def look_again(world: WorldRecord, txn: TxnRecord) -> int:
    """Take the lock if there is one, ask whether the base still stands if the protocol does, then swap."""
    if world.catalog.lock.kind != LOCK_NONE and txn.has_lock == 0:
        return begin_to_ask(world, txn)
    touched = touched_at(world, txn, 0)
    txn.server_bytes = formats.server_bytes(world, txn.operation, touched.base, touched.plan)
    if formats.checks_before_last_step(world, txn.operation) or world.catalog.is_pointer_checked == 1:
        txn.sent_us = txn.time_us
        return send_read(world, txn, MOMENT_POINTER_CHECK, slot(txn.row.attempts, POINTER_READ, 0), txn.base_bytes)
    return STEP_COMMIT


@step
def send_commit(world: WorldRecord, txn: TxnRecord) -> int:
    """The conditional write leaves."""
    txn.sent_us = txn.time_us
    txn.tries = 0
    txn.rebased_us = NONE
    counter = slot(txn.row.attempts, COMMIT, 0)
    if world.catalog.kind == at.CATALOG_APPEND:
        txn.offset = txn.base_log.offset
        txn.is_sealed = txn.is_newest_sealed = txn.base_log.is_sealed
        txn.epoch = txn.newest_epoch = txn.base_log.epoch
        txn.evaluated_us = txn.time_us
        return STEP_LOG
    if world.catalog.is_object == 1:
        size_bytes = txn.server_bytes if world.catalog.swap == CREATE else txn.base_bytes
        return send(world, txn, counter, world.catalog.object_kind, world.catalog.swap, size_bytes, MOMENT_COMMIT)
    is_served = world.catalog.kind == at.CATALOG_SERVICE
    return send_to_catalog(world, txn, counter, CAS, MOMENT_COMMIT_ARRIVES if is_served else MOMENT_COMMIT)


# --- ending -------------------------------------------------------------------------------------------------


@step
def clean_up(world: WorldRecord, txn: TxnRecord, is_committed: bool) -> None:
    """Delete what lost attempts wrote, unless a request was given up; that, too, is over then."""
    paying.pay_clean_up(adding_up(), world, txn, is_committed)
    txn.has_failed = 0


@step
def stop_or_restart(world: WorldRecord, txn: TxnRecord) -> int:
    """After a real conflict, or without its history: the application may run the whole txn once more."""
    if txn.row.restarts >= source_at(world, txn.source).application_retries:
        return end(world, txn, txn.row.reason)
    txn.row.restarts += 1
    return STEP_START


@step
def committed(world: WorldRecord, txn: TxnRecord) -> int:
    """The swap succeeded: ask for the new state, if the protocol does."""
    if txn.has_lock == 1:
        return send_unlock(world, txn, STEP_COMMITTED)
    for position in range(txn.row.n_tables_written):
        formats.win(world, txn, touched_at(world, txn, position).plan)
    if formats.rereads_catalog(world, txn.operation):
        txn.sent_us = txn.time_us
        return send_read(world, txn, MOMENT_READ_BACK, slot(txn.row.attempts, READ_BACK, 0), txn.base_bytes)
    return STEP_RELOAD


@step
def reload_tables(world: WorldRecord, txn: TxnRecord) -> int:
    """Read the written tables back, clean up, end."""
    is_published = False
    for position in range(txn.row.n_tables_written):
        touched = touched_at(world, txn, position)
        paying.pay_afterwards(adding_up(), world, txn, position, touched.base, touched.plan)
        if txn.has_failed == 0 and formats.publishes(world, touched.plan):
            is_published = True
    if is_published:
        return MOMENT_PUBLISHED
    clean_up(world, txn, True)
    return end(world, txn, NO_REASON)


@step
def refused(world: WorldRecord, txn: TxnRecord) -> int:
    """The swap was refused, and the txn knows it now: give up, or another attempt."""
    if txn.has_lock == 1:
        return send_unlock(world, txn, STEP_REFUSED)
    for position in range(txn.row.n_tables_written):
        formats.lose(world, txn, touched_at(world, txn, position).plan)
    source = source_at(world, txn.source)
    reason = reason_to_stop(txn.attempt, source.retries_max, txn.time_us - txn.begin_us, source.timeout_us)
    if txn.is_locked_out == 1 and world.catalog.lock.kind == LOCK_DYNAMODB:
        reason = TIMEOUT
    if reason != NO_REASON:
        clean_up(world, txn, False)
        return end(world, txn, reason)
    return STEP_BEGIN
