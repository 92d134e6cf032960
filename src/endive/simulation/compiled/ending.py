"""How a txn ends, and what a request means for it that was given up.

This file defines the last step of a txn's life in the compiled engine. A request is given up when the store throttled
it as often as the client's SDK tries (``endive.storage.throttled``): before the swap that ends the txn, after it it
changes nothing, and of a status check it leaves one the less.
"""

from endive.kernel import rare, step
from endive.simulation.compiled import records as at
from endive.simulation.compiled.keeping import kept_number
from endive.simulation.compiled.memory import kept_at
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.vocabulary import (
    ABORTED,
    COMMIT_STATE_UNKNOWN,
    COMMITTED,
    NO_REASON,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    PHASE_MANIFEST_LIST,
    PHASE_RUNTIME,
    STORAGE_FAILED,
)


@step
def end(txn: TxnRecord, reason: int) -> None:
    """The txn is over when its time has come."""
    txn.row.status = COMMITTED if reason == NO_REASON else ABORTED
    txn.row.reason = reason
    txn.stage = at.STAGE_END


@rare
def fail(world: WorldRecord, txn: TxnRecord) -> None:
    """A request before the swap was given up: nothing is cleaned up, and its client loads the table anew."""
    if txn.keeps_table == 1:
        kept_at(world, kept_number(world, txn)).is_there = 0
    end(txn, STORAGE_FAILED)


@step
def next_check(world: WorldRecord, txn: TxnRecord) -> None:
    """Another check if there is one left; else the txn ends without knowing, and cleans nothing up."""
    if txn.tries < world.failures.checks_max:
        txn.stage = at.STEP_STATUS
    else:
        end(txn, COMMIT_STATE_UNKNOWN)


@rare
def leave_unchecked(world: WorldRecord, txn: TxnRecord) -> None:
    """A check was not answered."""
    txn.tries += 1
    txn.key = txn.own_key
    next_check(world, txn)


@rare
def give_up(world: WorldRecord, txn: TxnRecord, stage: int) -> None:
    """A request that others would have seen is given up; ``stage`` is what it was sent for."""
    spent_us = txn.time_us - txn.sent_us
    purpose = txn.purpose if stage == at.STAGE_READ else at.NOT_THERE
    if purpose == at.READ_STATUS or purpose == at.READ_NEW_STATE:
        txn.row.phases_us[PHASE_CATALOG_READ] += spent_us
        if purpose == at.READ_STATUS:
            leave_unchecked(world, txn)
        else:
            end(txn, NO_REASON)
        return
    phase = PHASE_COMMIT
    if purpose == at.READ_START:
        phase = PHASE_RUNTIME
    elif purpose == at.READ_REFRESH:
        phase = PHASE_CATALOG_READ
    elif stage == at.STAGE_LIST_APPEND:
        phase = PHASE_MANIFEST_LIST
    txn.row.phases_us[phase] += spent_us
    fail(world, txn)
