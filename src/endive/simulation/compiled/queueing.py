"""Txns of one process that commit one after another: they join a queue when their work is done, and pass the turn on.

The reference engine's queue is in ``endive.transaction.commit_queue``. A txn that waits is not in the heap:
whoever ends wakes it.
"""

from typing import Final

from endive.kernel import step
from endive.simulation.compiled.heap import push
from endive.simulation.compiled.memory import queue_at, source_at, txn_at
from endive.simulation.compiled.moments import MOMENT_TURN, STEP_BEGIN
from endive.simulation.compiled.records import NOT_THERE, TxnRecord, WorldRecord
from endive.vocabulary import PHASE_BACKOFF

PARKED_US: Final = -1  # instead of the time of a txn's next event: it waits until it is woken


@step
def join_queue(world: WorldRecord, txn: TxnRecord, _now: int) -> int:
    """Its work is done: it commits if nobody of its process does, or waits behind the others."""
    queue = queue_at(world, source_at(world, txn.source).queue)
    txn.has_turn = 1
    if queue.is_busy == 0:
        queue.is_busy = 1
        return STEP_BEGIN
    txn.next_free = NOT_THERE
    if queue.first == NOT_THERE:
        queue.first = txn.place
    else:
        txn_at(world, queue.last).next_free = txn.place
    queue.last = txn.place
    txn.time_us = PARKED_US
    return MOMENT_TURN


@step
def begin_turn(_world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """Its turn has come; the wait counts as backoff, and time limits from here on."""
    txn.row.phases_us[PHASE_BACKOFF] += now - txn.begin_us
    txn.begin_us = now
    return STEP_BEGIN


@step
def pass_turn(world: WorldRecord, number: int, now: int) -> None:
    """Whoever had the turn has ended: the next one commits, at this very instant."""
    queue = queue_at(world, number)
    if queue.first == NOT_THERE:
        queue.is_busy = 0
        return
    following = txn_at(world, queue.first)
    queue.first = following.next_free
    following.time_us = now
    push(world, now, following.place)
