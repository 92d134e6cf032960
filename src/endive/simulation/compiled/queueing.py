"""Txns that commit one after another, or whose files one of them commits for all: they join when their work is done.

What a queue and a coordinator are, and the reference engine's, is in ``endive.transaction.commit_queue``. A txn that
waits is not in the heap: whoever ends wakes it.
"""

from typing import Final

from endive.catalog.rules import next_multiple_us
from endive.kernel import step
from endive.simulation.compiled.heap import push
from endive.simulation.compiled.memory import queue_at, source_at, txn_at
from endive.simulation.compiled.moments import MOMENT_END, MOMENT_TURN, STEP_BEGIN
from endive.simulation.compiled.records import NOT_THERE, CommitQueue, TxnRecord, WorldRecord
from endive.vocabulary import PHASE_BACKOFF

PARKED_US: Final = -1  # instead of the time of a txn's next event: it waits until it is woken


@step
def join_queue(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """Its work is done: it commits if nobody else does, at once or when the coordinator does, or waits behind them."""
    queue = queue_at(world, source_at(world, txn.source).queue)
    txn.has_turn = 1
    if queue.is_busy == 0:
        queue.is_busy = 1
        if queue.every_us > 0:
            txn.time_us = next_multiple_us(now, queue.every_us)
        return MOMENT_TURN if txn.time_us > now else STEP_BEGIN
    txn.next_free = NOT_THERE
    if queue.first == NOT_THERE:
        queue.first = txn.place
    else:
        txn_at(world, queue.last).next_free = txn.place
    queue.last = txn.place
    txn.time_us = PARKED_US
    return MOMENT_TURN


@step
def begin_turn(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """Its turn has come; the wait counts as backoff, and time limits from here on."""
    queue = queue_at(world, source_at(world, txn.source).queue)
    txn.row.phases_us[PHASE_BACKOFF] += now - txn.begin_us
    txn.begin_us = now
    if queue.every_us > 0:
        queue.carried = queue.first
        queue.first = NOT_THERE
        place = queue.carried
        while place != NOT_THERE:
            txn.row.gathered += 1
            place = txn_at(world, place).next_free
    return STEP_BEGIN


@step
def end_carried(world: WorldRecord, queue: CommitQueue, carrier: TxnRecord, now: int) -> None:
    """Those whose files a commit carried end as it did, at this very instant."""
    place = queue.carried
    queue.carried = NOT_THERE
    while place != NOT_THERE:
        txn = txn_at(world, place)
        place = txn.next_free
        txn.row.phases_us[PHASE_BACKOFF] += now - txn.begin_us
        txn.row.status = carrier.row.status
        txn.row.reason = carrier.row.reason
        txn.times_applied = carrier.times_applied
        txn.has_turn = 0
        txn.moment = MOMENT_END
        txn.time_us = now
        push(world, now, txn.place)


@step
def pass_turn(world: WorldRecord, number: int, txn: TxnRecord, now: int) -> None:
    """Whoever had the turn has ended: the next one commits, at this very instant or when the coordinator does."""
    queue = queue_at(world, number)
    end_carried(world, queue, txn, now)
    if queue.first == NOT_THERE:
        queue.is_busy = 0
        return
    following = txn_at(world, queue.first)
    queue.first = following.next_free
    following.time_us = now if queue.every_us == 0 else next_multiple_us(now, queue.every_us)
    push(world, following.time_us, following.place)
