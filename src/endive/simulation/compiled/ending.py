"""How a txn ends, and what a request means for it that was given up.

A request is given up when the store throttled it as often as the client's SDK tries (``endive.storage.throttled``):
before the swap that ends the txn, after it it changes nothing, and of a status check it leaves one the less.
"""

from endive.formats.rules import lists_twice
from endive.kernel import overwrite, step
from endive.simulation.compiled.kept_tables import kept_number
from endive.simulation.compiled.memory import kept_at, source_at
from endive.simulation.compiled.moments import (
    MOMENT_BASE_READ,
    MOMENT_END,
    MOMENT_LIST_APPEND,
    MOMENT_LOOK,
    MOMENT_READ_BACK,
    MOMENT_REFRESH,
    MOMENT_RERUN,
    MOMENT_START_READ,
    MOMENT_STATUS_CHECK,
    STEP_CHECK_STATUS,
)
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.transaction.aftermath import RERUN, rerun_key, runs_again
from endive.vocabulary import (
    ABORTED,
    COMMIT_STATE_UNKNOWN,
    COMMITTED,
    NO_REASON,
    PHASE_BACKOFF,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_MANIFEST_LIST,
    PHASE_RUNTIME,
    STORAGE_FAILED,
)


@step
def end(world: WorldRecord, txn: TxnRecord, reason: int) -> int:
    """The txn is over when its time has come, unless whoever scheduled it runs it again."""
    aftermath = source_at(world, txn.source).aftermath
    if aftermath.kind == RERUN and runs_again(aftermath, reason, txn.row.restarts):
        txn.row.restarts += 1
        txn.row.phases_us[PHASE_BACKOFF] += aftermath.pause_us
        txn.time_us += aftermath.pause_us
        txn.key = txn.own_key = rerun_key(txn.own_key, txn.row.restarts)
        txn.has_failed = 0
        txn.is_recalled = 0
        overwrite(txn.leftovers, world.blank.leftovers)
        return MOMENT_RERUN
    txn.row.status = COMMITTED if reason == NO_REASON else ABORTED
    txn.row.reason = reason
    return MOMENT_END


@step
def fail(world: WorldRecord, txn: TxnRecord) -> int:
    """A request before the swap was given up: nothing is cleaned up, and its client loads the table anew."""
    if txn.keeps_table == 1:
        kept_at(world, kept_number(world, txn)).is_there = 0
    return end(world, txn, STORAGE_FAILED)


@step
def next_check(world: WorldRecord, txn: TxnRecord) -> int:
    """Another check if there is one left; else the txn ends without knowing, and cleans nothing up."""
    if txn.tries < world.failures.checks_max:
        return STEP_CHECK_STATUS
    return end(world, txn, COMMIT_STATE_UNKNOWN)


@step
def leave_unchecked(world: WorldRecord, txn: TxnRecord) -> int:
    """A check was not answered."""
    txn.tries += 1
    txn.key = txn.own_key
    return next_check(world, txn)


@step
def give_up(world: WorldRecord, txn: TxnRecord, moment: int) -> int:
    """A request that others would have seen is given up; ``moment`` is when they would have."""
    spent_us = txn.time_us - txn.sent_us
    if moment == MOMENT_STATUS_CHECK:
        txn.row.phases_us[PHASE_CATALOG_READ] += spent_us
        return leave_unchecked(world, txn)
    if moment == MOMENT_READ_BACK:
        txn.row.phases_us[PHASE_CATALOG_READ] += spent_us
        return end(world, txn, NO_REASON)
    phase = PHASE_COMMIT
    if moment == MOMENT_START_READ:
        phase = PHASE_RUNTIME
    elif moment == MOMENT_LOOK:
        phase = PHASE_RUNTIME if lists_twice(world) else PHASE_CATALOG_READ
    elif moment == MOMENT_REFRESH or moment == MOMENT_BASE_READ:
        phase = PHASE_CATALOG_READ
    elif moment == MOMENT_LIST_APPEND:
        phase = PHASE_MANIFEST_LIST
    txn.row.phases_us[phase] += spent_us
    return fail(world, txn)
