"""Objects that are appended to at an offset: the log of an append catalog, and manifest lists."""

from endive.catalog.append import COMPACTION_READ, DRAWS_PER_REQUEST
from endive.catalog.rules import LANDED, compact_log, find_log, land_entry
from endive.formats.iceberg.draws import LIST_APPEND
from endive.formats.iceberg.payments import APPEND_DRAWS, pay_list_rewrite
from endive.formats.iceberg.table import append_to_list, rewrite_list
from endive.kernel import step
from endive.rng import COMMIT, COMPACTION, DISCOVERY, LOG_HEAD, slot
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import adding_up
from endive.simulation.compiled.commits import apply, decided, learn_refusal
from endive.simulation.compiled.ending import fail
from endive.simulation.compiled.memory import server_table, touched_at
from endive.simulation.compiled.moments import (
    MOMENT_COMPACTION,
    MOMENT_COMPACTION_READ,
    MOMENT_DISCOVERY,
    MOMENT_LIST_APPEND,
    MOMENT_LIST_REWRITTEN,
    MOMENT_LOG_APPEND,
    MOMENT_LOG_HEAD,
    STEP_COMMITTED,
    STEP_COMPACT,
    STEP_DISCOVER,
    STEP_LIST_APPEND,
    STEP_LOG,
    STEP_LOG_MISSED,
    STEP_NEXT_LIST,
    STEP_REFUSED,
    STEP_SWAP,
)
from endive.simulation.compiled.observer import observe_log
from endive.simulation.compiled.outgoing import answer_read, send, send_read
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import answered_us, catalog_bytes, is_current, meets_rival, waits_until_us
from endive.vocabulary import APPEND, CAS, HEAD, LOG, MANIFEST_LIST, PHASE_COMMIT, PHASE_MANIFEST_LIST

# --- the log of an append catalog ------------------------------------------------------------------------------------


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
def send_log(world: WorldRecord, txn: TxnRecord) -> int:
    """Append catalog: the record leaves for the log's end, or the log, known to be sealed, is compacted."""
    if txn.is_sealed == 0:
        counter = slot(txn.row.attempts, COMMIT, 0) + DRAWS_PER_REQUEST * txn.tries
        return send(world, txn, counter, LOG, APPEND, world.catalog.entry_bytes, MOMENT_LOG_APPEND)
    is_read = txn.is_newest_sealed == 1 and txn.newest_epoch == txn.epoch
    if world.catalog.is_append_design == 1 or is_read:
        return STEP_COMPACT
    counter = slot(txn.row.attempts, DISCOVERY, COMPACTION_READ) + txn.tries
    return send_read(world, txn, MOMENT_COMPACTION_READ, counter, txn.base_bytes)


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
def send_compaction(world: WorldRecord, txn: TxnRecord) -> int:
    """The compacting swap leaves."""
    counter = slot(txn.row.attempts, COMPACTION, 0) + DRAWS_PER_REQUEST * txn.tries
    return send(world, txn, counter, LOG, CAS, txn.base_bytes, MOMENT_COMPACTION)


@step
def sealed_log_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The log that is to be compacted, read whole."""
    answer_read(world, txn, now)
    txn.is_newest_sealed = world.server.log.is_sealed
    txn.newest_epoch = world.server.log.epoch
    return STEP_COMPACT


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


@step
def send_discovery(world: WorldRecord, txn: TxnRecord) -> int:
    """The record landed; read the catalog back to learn what became of it."""
    return send_read(world, txn, MOMENT_DISCOVERY, slot(txn.row.attempts, DISCOVERY, 0), txn.read_bytes)


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


# --- manifest lists that are appended to -----------------------------------------------------------------------------


@step
def next_list(world: WorldRecord, txn: TxnRecord) -> int:
    """Append to the next list the plan names, from ``position`` on; after the last, swap."""
    txn.row.phases_us[PHASE_MANIFEST_LIST] += txn.time_us - txn.sent_us
    txn.sent_us = txn.time_us
    while txn.position < txn.row.n_tables_written:
        touched = touched_at(world, txn, txn.position)
        if touched.plan.iceberg.list_appends > 0:
            txn.tries = 0
            txn.offset = touched.base.iceberg.list_offset
            txn.is_sealed = touched.base.iceberg.is_list_sealed
            return STEP_LIST_APPEND
        txn.position += 1
    return STEP_SWAP


@step
def send_list_append(world: WorldRecord, txn: TxnRecord) -> int:
    """A tentative entry leaves for the list's end; or the list, known to be sealed, is rewritten."""
    if txn.is_sealed != 0:
        txn.row.phases_us[PHASE_MANIFEST_LIST] += txn.time_us - txn.sent_us
        pay_list_rewrite(adding_up(), world, txn, txn.position, touched_at(world, txn, txn.position).base)
        if txn.has_failed == 1:
            return fail(world, txn)
        txn.sent_us = txn.time_us
        return MOMENT_LIST_REWRITTEN
    counter = slot(txn.row.attempts, LIST_APPEND, txn.position) + APPEND_DRAWS * txn.tries
    return send(world, txn, counter, MANIFEST_LIST, APPEND, world.format.iceberg.list_entry_bytes, MOMENT_LIST_APPEND)


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
