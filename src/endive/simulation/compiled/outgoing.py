"""Requests that others can see: they leave, and reach a server at a shared moment.

What the server does with a request is in ``events``.
"""

from typing import Final

from endive.catalog.append import COMPACTION_ENTRIES, ENTRIES_POSITIONS
from endive.catalog.service import REQUEST_SHARE
from endive.distributions.code import draw_us
from endive.formats.paying import pay_before_load, pay_status
from endive.kernel import step
from endive.rng import LOG_ENTRIES, LOOK_READ, START_READ, STATUS_READ, slot, substream
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import adding_up, goes_through, one_us
from endive.simulation.compiled.ending import end, fail, give_up, leave_unchecked, next_check
from endive.simulation.compiled.kept_tables import remember
from endive.simulation.compiled.memory import codes, server_table
from endive.simulation.compiled.moments import (
    FIRST_STEP,
    MOMENT_COMPACTION_READ,
    MOMENT_LOOK,
    MOMENT_READ_ARRIVES,
    MOMENT_START_READ,
    MOMENT_STATUS_CHECK,
    READ_AS,
    STEP_COMMITTED,
    STEP_REFUSED,
)
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import keep_base
from endive.storage.client import note
from endive.storage.contention import request_leg_us
from endive.transaction.failures import INSTALLED, REFUSED, check_wait_us, given_up_us, loses_check, outcome_of_check
from endive.vocabulary import CAS, CATALOG, COMMIT_STATE_UNKNOWN, PHASE_BACKOFF, PHASE_CATALOG_READ, PHASE_COMMIT, READ

# By moment: where the cost of the log's entries is drawn for the read that is evaluated then.
ENTRIES_AT: Final = tuple(
    ENTRIES_POSITIONS.get(READ_AS.get(moment, -1), COMPACTION_ENTRIES) for moment in range(FIRST_STEP)
)


@step
def send(
    world: WorldRecord, txn: TxnRecord, counter: int, object_kind: int, op: int, size_bytes: int, moment: int
) -> int:
    """A request to storage leaves; the txn's time is when the object evaluates it, at ``moment``."""
    if world.store.is_throttling == 1 and not goes_through(world, txn, counter, object_kind, op, size_bytes):
        return give_up(world, txn, moment)
    txn.counter = counter
    txn.latency_us = one_us(world, txn, counter, object_kind, op, size_bytes)
    txn.leg_us = request_leg_us(txn.latency_us, world.store.terms.leg_shares[op])
    txn.time_us += txn.leg_us
    return moment


@step
def send_to_catalog(world: WorldRecord, txn: TxnRecord, counter: int, op: int, moment: int) -> int:
    """A request to a catalog that is a service leaves."""
    txn.counter = counter
    place = world.catalog.commit_latency if op == CAS else world.catalog.latency
    txn.latency_us = draw_us(codes(world), place, txn.key, counter, 0)
    txn.leg_us = request_leg_us(txn.latency_us, REQUEST_SHARE)
    note(txn.row, CATALOG, op, 0, 1)
    txn.time_us += txn.leg_us
    return moment


@step
def send_read(world: WorldRecord, txn: TxnRecord, purpose: int, counter: int, size_bytes: int) -> int:
    """A catalog read leaves; ``purpose`` is the moment at which the server evaluates it."""
    txn.purpose = purpose
    if world.catalog.is_object == 1:
        return send(world, txn, counter, world.catalog.object_kind, world.catalog.look, size_bytes, purpose)
    is_served = world.catalog.kind == at.CATALOG_SERVICE
    return send_to_catalog(world, txn, counter, READ, MOMENT_READ_ARRIVES if is_served else purpose)


@step
def read_answered_us(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """When the answer to the catalog read evaluated now arrives."""
    time_us = now + txn.latency_us - txn.leg_us
    if world.catalog.entry_read >= 0 and world.server.log.entries > 0:
        counter = slot(txn.row.attempts, LOG_ENTRIES, ENTRIES_AT[txn.purpose])
        if txn.purpose == MOMENT_COMPACTION_READ:
            counter += txn.tries
        time_us += draw_us(codes(world), world.catalog.entry_read, txn.key, counter, 0) * world.server.log.entries
    return time_us


@step
def send_start_read(world: WorldRecord, txn: TxnRecord) -> int:
    """The txn begins, or begins again: it reads the catalog."""
    pay_before_load(adding_up(), world, txn, txn.is_recalled == 1)
    if txn.has_failed == 1:
        return fail(world, txn)
    txn.sent_us = txn.time_us
    return send_read(world, txn, MOMENT_START_READ, slot(txn.row.attempts, START_READ, 0), txn.submit_bytes)


@step
def send_look(world: WorldRecord, txn: TxnRecord) -> int:
    """A look at the table between load and commit leaves."""
    txn.sent_us = txn.time_us
    return send_read(world, txn, MOMENT_LOOK, slot(txn.row.attempts, LOOK_READ, 0), txn.base_bytes)


@step
def answer_read(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The server evaluates a catalog read: the txn will know the state of this instant, and its client too."""
    txn.time_us = read_answered_us(world, txn, now)
    if txn.keeps_table == 1:
        remember(world, txn, now)


# --- after a lost answer -----------------------------------------------------------------------------------------
# The reference engine's is ``endive.transaction.status_check``, its rules are in ``endive.transaction.failures``.


@step
def lose_answer(world: WorldRecord, txn: TxnRecord, is_installed: bool) -> int:
    """The answer to a commit, due at the txn's ``time_us``, does not come."""
    answered_us = txn.time_us
    txn.time_us = given_up_us(world.failures, txn.sent_us, answered_us)
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - answered_us
    txn.is_applied = 1 if is_installed else 0
    if not is_installed:
        keep_base(world, txn, False)
        txn.is_known = 0
    txn.tries = 0
    return next_check(world, txn)


@step
def send_check(world: WorldRecord, txn: TxnRecord) -> int:
    """A check leaves; it draws under names of its own."""
    txn.key = substream(txn.own_key, txn.tries)
    if txn.tries > 0:
        wait_us = check_wait_us(world.failures, txn.key, txn.row.attempts, txn.tries)
        txn.row.phases_us[PHASE_BACKOFF] += wait_us
        txn.time_us += wait_us
    txn.sent_us = txn.time_us
    return send_read(world, txn, MOMENT_STATUS_CHECK, slot(txn.row.attempts, STATUS_READ, 0), txn.base_bytes)


@step
def status_checked(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The server evaluates a check."""
    txn.time_us = read_answered_us(world, txn, now)
    is_lost = loses_check(world.failures, txn.key, txn.row.attempts)
    if is_lost:
        txn.time_us = given_up_us(world.failures, txn.sent_us, txn.time_us)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    following = leave_unchecked(world, txn) if is_lost else learn(world, txn, now)
    txn.key = txn.own_key
    return following


@step
def learn(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A check is answered: the commit is in the history, or it is not. Unless that cannot be read."""
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        pay_status(adding_up(), world, txn, position, server_table(world, tables[position]))
    if txn.has_failed == 1:
        txn.has_failed = 0
        return leave_unchecked(world, txn)
    if txn.keeps_table == 1:
        remember(world, txn, now)
    outcome = outcome_of_check(world.failures, txn.is_applied == 1)
    if outcome == INSTALLED:
        return STEP_COMMITTED
    if outcome == REFUSED:
        return STEP_REFUSED
    return end(world, txn, COMMIT_STATE_UNKNOWN)
