"""Shared moments: what happens when a txn's request is evaluated.

Decisions are the rules'; the steps up to the next moment are in ``stages``. A handler takes the instant of its moment,
leaves in the txn when its next one is due, and returns what comes next (``transitions``).
"""

from endive.catalog.rules import LANDED, compact_log, find_log, join_batch, land_entry, take_worker
from endive.catalog.service import (
    SERVED_BACK,
    SERVED_BASE,
    SERVED_CHECK,
    SERVED_COMMIT,
    SERVED_LOCK,
    SERVED_LOOK,
    SERVED_READ,
    SERVED_START,
    SERVED_STATUS,
    SERVED_UNLOCK,
)
from endive.distributions.code import draw_us
from endive.formats import rules as formats
from endive.formats.iceberg.table import append_to_list, rewrite_list
from endive.kernel import step
from endive.rng import LOG_HEAD, METADATA_WRITE, SERVER_LIST, SERVICE, slot
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.asking import read_answered_us, send
from endive.simulation.compiled.bill import adding_up, one_us
from endive.simulation.compiled.checking import lose_answer
from endive.simulation.compiled.ending import end, fail
from endive.simulation.compiled.keeping import recall, remember
from endive.simulation.compiled.memory import batch_at, codes, server_table, touched_at
from endive.simulation.compiled.moments import (
    MOMENT_BASE_READ,
    MOMENT_BATCH,
    MOMENT_COMMIT,
    MOMENT_COMPACTION,
    MOMENT_LIST_APPEND,
    MOMENT_LOCK,
    MOMENT_LOG_APPEND,
    MOMENT_LOG_HEAD,
    MOMENT_LOOK,
    MOMENT_POINTER_CHECK,
    MOMENT_READ_BACK,
    MOMENT_REST_SWAP,
    MOMENT_START_READ,
    MOMENT_STATUS_CHECK,
    MOMENT_UNLOCK,
    STEP_BEGIN,
    STEP_BUILD,
    STEP_COMMIT,
    STEP_COMMITTED,
    STEP_COMPACT,
    STEP_DISCOVER,
    STEP_LAST_LOOK,
    STEP_LIST_APPEND,
    STEP_LOG,
    STEP_LOG_MISSED,
    STEP_NEXT_LIST,
    STEP_REFUSED,
    STEP_RELOAD,
    STEP_START,
)
from endive.simulation.compiled.observer import observe_commit, observe_log, observe_read, observe_rebase
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import (
    answered_us,
    catalog_bytes,
    expect,
    install,
    is_current,
    keep_base,
    meets_rival,
    see,
    waits_until_us,
)
from endive.simulation.compiled.stages import check_metadata, clean_up, load_and_run, run, work, write_metadata
from endive.transaction.failures import loses_answer
from endive.vectors import ints_at
from endive.vocabulary import (
    APPEND,
    CAS,
    CREATE,
    HEAD,
    LOG,
    MANIFEST_LIST,
    METADATA,
    NO_REASON,
    NONE,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_RUNTIME,
    READ,
    TABLE_MOVED,
    WRITE,
)

# --- a catalog server with workers -----------------------------------------------------------------------------


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
    position = SERVED_READ
    if txn.purpose == MOMENT_POINTER_CHECK:
        position = SERVED_CHECK
    elif txn.purpose == MOMENT_START_READ:
        position = SERVED_START
    elif txn.purpose == MOMENT_READ_BACK:
        position = SERVED_BACK
    elif txn.purpose == MOMENT_STATUS_CHECK:
        position = SERVED_STATUS
    elif txn.purpose == MOMENT_BASE_READ:
        position = SERVED_BASE
    elif txn.purpose == MOMENT_LOOK:
        position = SERVED_LOOK
    elif txn.purpose == MOMENT_LOCK:
        position = SERVED_LOCK
    elif txn.purpose == MOMENT_UNLOCK:
        position = SERVED_UNLOCK
    be_served(world, txn, position, now)
    return txn.purpose


@step
def commit_arrives(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A commit reaches a server with workers."""
    be_served(world, txn, SERVED_COMMIT, now)
    return MOMENT_COMMIT


# --- reads -------------------------------------------------------------------------------------------------------


@step
def answer_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The server evaluates a catalog read: the txn will know the state of this instant, and its client too."""
    txn.time_us = read_answered_us(world, txn, now)
    if txn.keeps_table == 1:
        remember(world, txn, now)


@step
def start_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The state a txn starts from."""
    answer_read(world, txn, now)
    see(world, txn, now)
    observe_read(world, txn, now)
    following = load_and_run(world, txn)
    keep_base(world, txn, True)
    return following


@step
def recalled(world: WorldRecord, txn: TxnRecord, _now: int) -> int:
    """A txn whose client has kept its table begins with what it knew; nothing is loaded."""
    recall(world, txn)
    keep_base(world, txn, True)
    if formats.looks_at_kept(world):
        txn.is_recalled = 1
        return STEP_START
    return run(world, txn)


@step
def run_again(_world: WorldRecord, _txn: TxnRecord, _now: int) -> int:
    """Whoever scheduled the txn has waited long enough."""
    return STEP_START


@step
def looked(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The table between load and commit: an epoch goes on from it, a statement fails if it has moved."""
    answer_read(world, txn, now)
    is_filter = formats.filters_files(txn.operation)
    phase = PHASE_RUNTIME if is_filter else PHASE_CATALOG_READ
    txn.row.phases_us[phase] += txn.time_us - txn.sent_us
    is_moved = False
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        seen, known = server_table(world, tables[position]), touched_at(world, txn, position).start
        formats.pay_look(adding_up(), world, txn, position, seen, known)
        if formats.snapshot_of(seen) != formats.snapshot_of(known):
            is_moved = True
    if txn.has_failed == 1:
        return fail(world, txn)
    if not is_filter:
        see(world, txn, now)
        observe_read(world, txn, now)
        keep_base(world, txn, True)
        return STEP_BEGIN
    if is_moved:
        return end(world, txn, TABLE_MOVED)
    return work(world, txn, txn.runtime_us - min(txn.operation.filter_us, txn.runtime_us))


@step
def refreshed(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The newest state, to build an attempt on."""
    txn.time_us = read_answered_us(world, txn, now)
    if txn.keeps_table == 1 and formats.learns_by_looking(world):
        remember(world, txn, now)
    see(world, txn, now)
    observe_read(world, txn, now)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    return STEP_BUILD


@step
def base_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The repair is done; this is the version to swap on."""
    refreshed(world, txn, now)
    return STEP_LAST_LOOK


@step
def read_back(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The state after a commit."""
    answer_read(world, txn, now)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    return STEP_RELOAD


@step
def sealed_log_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The log that is to be compacted, read whole."""
    answer_read(world, txn, now)
    txn.is_newest_sealed = world.server.log.is_sealed
    txn.newest_epoch = world.server.log.epoch
    return STEP_COMPACT


@step
def discovered(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The txn learns what became of the record it left in the log."""
    answer_read(world, txn, now)
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us
    txn.row.hazard_window_us = txn.evaluated_us - txn.base_us
    if txn.is_applied == 1:
        return STEP_COMMITTED
    learn_refusal(world, txn, True, now)
    return STEP_REFUSED


@step
def pointer_checked(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The txn looks whether its base still stands."""
    txn.time_us = read_answered_us(world, txn, now)
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us
    is_checked_first = formats.checks_before_last_step(world)
    if is_checked_first:
        check_metadata(world, txn)
        if txn.has_failed == 1:
            return fail(world, txn)
    if is_current(world, txn):
        if is_checked_first:
            write_metadata(world, txn)
            if txn.has_failed == 1:
                return fail(world, txn)
        return STEP_COMMIT
    txn.row.hazard_window_us = now - txn.base_us
    keep_base(world, txn, False)
    txn.is_known = 0
    return STEP_REFUSED


@step
def learn_refusal(world: WorldRecord, txn: TxnRecord, is_told: bool, now: int) -> None:
    """The base becomes the state before; a refusal that tells brings a new one, if the protocol looks at it."""
    keep_base(world, txn, False)
    txn.is_known = 0
    if is_told and formats.builds_on_told_state(world):
        see(world, txn, now)
        observe_read(world, txn, now)
        if txn.keeps_table == 1:
            remember(world, txn, now)
        txn.is_known = 1


# --- commits -------------------------------------------------------------------------------------------------------


@step
def apply(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The commit becomes the newest state, and everybody who has to takes note."""
    install(world, txn, now)
    observe_commit(world, txn, now)
    if txn.keeps_table == 1 and not loses_answer(world.failures, txn.key, txn.row.attempts):
        remember(world, txn, now)


@step
def decided(world: WorldRecord, txn: TxnRecord, success: bool, is_told: bool, evaluated_us: int) -> int:
    """A commit was decided at ``evaluated_us``, and the txn knows at its ``time_us``."""
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us
    built_on_us = txn.base_us
    if success and txn.rebased_us != NONE:
        built_on_us = txn.rebased_us
    txn.row.hazard_window_us = evaluated_us - built_on_us
    if loses_answer(world.failures, txn.key, txn.row.attempts):
        return lose_answer(world, txn, success)
    if success:
        return STEP_COMMITTED
    learn_refusal(world, txn, is_told, evaluated_us)
    return STEP_REFUSED


@step
def commit_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The server evaluates a commit on the catalog's own state."""
    if world.catalog.is_object == 1:
        return swap_evaluated(world, txn, now)
    if world.catalog.batch_us > 0:
        return batch_joined(world, txn, now)
    success = is_current(world, txn)
    if world.catalog.is_rest == 1:
        if not success:
            return rest_refused(world, txn, now)
        if formats.writes_at_server(world) or (txn.tries > 0 and world.catalog.rewrites_list == 1):
            return rest_writes_metadata(world, txn, now)
    if success:
        apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, success, world.catalog.is_refusal_telling == 1, now)


@step
def swap_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The catalog object evaluates a commit."""
    swap = world.catalog.swap
    number = at.CATALOG_OBJECT
    if swap == CREATE:
        number = at.FIRST_LIST_OBJECT + memory.table_ids(world, txn)[0]
    txn.time_us = waits_until_us(world, txn, number, swap, now)
    if txn.time_us > now:
        return MOMENT_COMMIT
    contended = meets_rival(world, txn, number, swap, now)
    success = is_current(world, txn)
    if success:
        apply(world, txn, now)
    size_bytes = txn.server_bytes if swap == CREATE else txn.base_bytes
    kind = world.catalog.object_kind
    txn.time_us = answered_us(world, txn, number, kind, swap, size_bytes, success, contended, now)
    return decided(world, txn, success, world.catalog.is_refusal_telling == 1, now)


@step
def rest_writes_metadata(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server writes the metadata objects itself, after the lists if it has rebased, then swaps."""
    txn.time_us = now
    if txn.tries > 0 and world.catalog.rewrites_list == 1:
        rewrite_lists(world, txn, txn.tries)
    write_server_metadata(world, txn, txn.tries)
    return MOMENT_REST_SWAP


@step
def write_server_metadata(world: WorldRecord, txn: TxnRecord, tried: int) -> None:
    """The metadata objects, if there are any."""
    if not formats.writes_at_server(world):
        return
    for position in range(txn.row.n_tables_written):
        counter = slot(txn.row.attempts, METADATA_WRITE, position) + tried
        txn.time_us += one_us(world, txn, counter, METADATA, WRITE, txn.server_bytes)


@step
def rewrite_lists(world: WorldRecord, txn: TxnRecord, tried: int) -> None:
    """Lists that hold the txn's manifest and those of whoever came first."""
    size_bytes = formats.server_list_bytes(world, touched_at(world, txn, 0).base)
    for position in range(txn.row.n_tables_written):
        counter = slot(txn.row.attempts, SERVER_LIST, position) + 2 * tried
        txn.time_us += one_us(world, txn, counter, MANIFEST_LIST, READ, size_bytes)
        txn.time_us += one_us(world, txn, counter + 1, MANIFEST_LIST, WRITE, size_bytes)


@step
def batch_joined(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server takes the commit with others to its table; the first of them brings what is written for all."""
    batch = batch_at(world, memory.table_ids(world, txn)[0])
    if join_batch(batch, now, world.catalog.batch_us):
        txn.time_us = batch.taken_us
        rewrite_lists(world, txn, 0)
        write_server_metadata(world, txn, 0)
        batch.done_us = txn.time_us
    txn.time_us = batch.done_us
    return MOMENT_BATCH


@step
def batch_installed(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The batch is written: whatever commutes is installed, whoever came first."""
    if formats.commutes(txn.operation) and not is_current(world, txn):
        txn.rebased_us = now
        expect(world, txn)
        observe_rebase(world, txn)
    success = is_current(world, txn)
    if success:
        apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, success, not success and world.catalog.is_refusal_telling == 1, now)


@step
def rest_refused(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server finds the base stale: it rebases what commutes and tries again, or refuses."""
    if formats.commutes(txn.operation) and txn.tries < world.catalog.server_retries:
        txn.tries += 1
        txn.rebased_us = now
        expect(world, txn)
        observe_rebase(world, txn)
        return commit_arrives(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, False, world.catalog.is_refusal_telling == 1, now)


@step
def rest_swaps(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server has written the metadata and swaps the pointer."""
    if not is_current(world, txn):
        return rest_refused(world, txn, now)
    apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, True, False, now)


# --- the log of an append catalog ---------------------------------------------------------------------------------


@step
def apply_record(world: WorldRecord, txn: TxnRecord, now: int) -> bool:
    """The logical check of a record that is in the log or in the checkpoint."""
    applied = is_current(world, txn)
    txn.is_applied = 1 if applied else 0
    if applied:
        apply(world, txn, now)
        txn.row.append_logical_success += 1
    else:
        txn.row.append_logical_conflict += 1
    return applied


@step
def learn_log_end(world: WorldRecord, txn: TxnRecord) -> None:
    """Where the log ends at this instant."""
    txn.offset = world.server.log.offset
    txn.is_sealed = world.server.log.is_sealed
    txn.epoch = world.server.log.epoch


@step
def log_appended(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The log evaluates an append at an offset."""
    txn.time_us = waits_until_us(world, txn, at.LOG_OBJECT, APPEND, now)
    if txn.time_us > now:
        return MOMENT_LOG_APPEND
    contended = meets_rival(world, txn, at.LOG_OBJECT, APPEND, now)
    txn.evaluated_us = now
    is_landed = find_log(world.server.log, txn.offset) == LANDED
    if is_landed:
        applied = apply_record(world, txn, now)
        if land_entry(
            world.server.log,
            world.catalog.entry_bytes,
            world.catalog.compaction_bytes,
            world.catalog.compaction_entries,
        ):
            txn.row.append_compactions_triggered += 1
        observe_log(world, txn, applied, now)
        txn.row.append_physical_success += 1
    else:
        txn.row.append_physical_failure += 1
    txn.read_bytes = catalog_bytes(world)
    txn.time_us = answered_us(
        world, txn, at.LOG_OBJECT, LOG, APPEND, world.catalog.entry_bytes, is_landed, contended, now
    )
    if is_landed:
        return STEP_DISCOVER
    learn_log_end(world, txn)
    return STEP_LOG_MISSED


@step
def log_missed(world: WorldRecord, txn: TxnRecord) -> int:
    """The log had moved, was sealed, or was compacted by somebody else: try again, or give the attempt up."""
    txn.tries += 1
    if world.catalog.physical_attempts_max > 0 and txn.tries >= world.catalog.physical_attempts_max:
        return decided(world, txn, False, False, txn.evaluated_us)
    if world.catalog.is_append_design == 1:
        return STEP_LOG
    return send(world, txn, slot(txn.row.attempts, LOG_HEAD, 0) + txn.tries, LOG, HEAD, 0, MOMENT_LOG_HEAD)


@step
def log_head_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The txn learns where the log ends, and tries again there."""
    learn_log_end(world, txn)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return STEP_LOG


@step
def compaction_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The log evaluates a compacting swap; with preset ``log`` it carries the committer's own record."""
    txn.time_us = waits_until_us(world, txn, at.LOG_OBJECT, CAS, now)
    if txn.time_us > now:
        return MOMENT_COMPACTION
    contended = meets_rival(world, txn, at.LOG_OBJECT, CAS, now)
    is_done = world.server.log.is_sealed != 0 and world.server.log.epoch == txn.epoch
    applied = False
    is_append_design = world.catalog.is_append_design == 1
    if is_done:
        compact_log(world.server.log)
        txn.row.append_compactions_completed += 1
        if not is_append_design:
            txn.evaluated_us = now
            applied = apply_record(world, txn, now)
        observe_log(world, txn, applied, now)
    txn.time_us = answered_us(world, txn, at.LOG_OBJECT, LOG, CAS, txn.base_bytes, is_done, contended, now)
    if is_append_design:
        learn_log_end(world, txn)
    elif is_done:
        return decided(world, txn, applied, False, now)
    else:
        txn.row.append_physical_failure += 1
    return STEP_LOG_MISSED


# --- manifest lists that are appended to ----------------------------------------------------------------------------


@step
def list_appended(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A table's manifest list evaluates an append at an offset."""
    table_id = memory.table_ids(world, txn)[txn.position]
    number = at.FIRST_LIST_OBJECT + table_id
    txn.time_us = waits_until_us(world, txn, number, APPEND, now)
    if txn.time_us > now:
        return MOMENT_LIST_APPEND
    contended = meets_rival(world, txn, number, APPEND, now)
    size_bytes = world.format.iceberg.list_entry_bytes
    table = server_table(world, table_id).iceberg
    is_landed = append_to_list(table, txn.offset, size_bytes, world.format.iceberg.list_seal_bytes) == LANDED
    txn.time_us = answered_us(world, txn, number, MANIFEST_LIST, APPEND, size_bytes, is_landed, contended, now)
    if is_landed:
        txn.row.manifest_append_physical_success += 1
        txn.position += 1
        return STEP_NEXT_LIST
    txn.row.manifest_append_physical_failure += 1
    txn.offset = table.list_offset
    txn.is_sealed = table.is_list_sealed
    txn.tries += 1
    return STEP_LIST_APPEND


@step
def list_rewritten(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A fresh manifest list stands where a sealed one was."""
    rewrite_list(server_table(world, memory.table_ids(world, txn)[txn.position]).iceberg)
    txn.row.manifest_append_sealed_rewrite += 1
    txn.position += 1
    txn.time_us = now
    return STEP_NEXT_LIST


# --- what follows a commit -------------------------------------------------------------------------------------


@step
def published(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """What the txn has written after its commit is there."""
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        formats.publish(world, server_table(world, tables[position]), touched_at(world, txn, position).plan)
    txn.time_us = now
    clean_up(world, txn, True)
    return end(world, txn, NO_REASON)
