"""After a lost answer: the txn reads the table to learn whether its commit is in the history.

The reference engine's is ``endive.transaction.status_check``. Its rules are in ``endive.transaction.failures``.
"""

from endive.formats.rules import pay_status
from endive.kernel import step
from endive.rng import STATUS_READ, slot, substream
from endive.simulation.compiled import memory
from endive.simulation.compiled.asking import read_answered_us, send_read
from endive.simulation.compiled.bill import adding_up
from endive.simulation.compiled.ending import end, leave_unchecked, next_check
from endive.simulation.compiled.keeping import remember
from endive.simulation.compiled.memory import server_table
from endive.simulation.compiled.moments import MOMENT_STATUS_CHECK, STEP_COMMITTED, STEP_REFUSED
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import keep_base
from endive.transaction.failures import (
    INSTALLED,
    REFUSED,
    check_wait_us,
    given_up_us,
    loses_check,
    outcome_of_check,
)
from endive.vocabulary import COMMIT_STATE_UNKNOWN, PHASE_BACKOFF, PHASE_CATALOG_READ, PHASE_COMMIT


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
