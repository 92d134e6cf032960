"""Who orders commits: queues and coordinators that txns join when their work is done, and locks of tables.

What a queue, a coordinator and a lock are, and the reference engine's, is in ``endive.transaction.ordering``. A txn
that waits in a queue is not in the heap: whoever ends wakes it.
"""

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_HIVE, is_locked_out, next_multiple_us
from endive.catalog.service import REQUEST_SHARE
from endive.distributions.code import draw_us
from endive.kernel import step
from endive.rng import TABLE_LOCK, slot
from endive.simulation.compiled import memory
from endive.simulation.compiled.heap import push
from endive.simulation.compiled.memory import codes, lock_at, queue_at, source_at, txn_at
from endive.simulation.compiled.moments import (
    MOMENT_END,
    MOMENT_LOCK,
    MOMENT_READ_ARRIVES,
    MOMENT_TURN,
    MOMENT_UNLOCK,
    STEP_BEGIN,
    STEP_LAST_LOOK,
    STEP_LOCK,
    STEP_REFUSED,
)
from endive.simulation.compiled.records import NOT_THERE, CommitQueue, TableLock, TxnRecord, WorldRecord
from endive.simulation.compiled.server import keep_base
from endive.storage.client import note
from endive.storage.contention import request_leg_us
from endive.transaction.ordering import PARKED_US, lock_wait_us
from endive.vocabulary import CATALOG, CREATE, DELETE, PHASE_BACKOFF, PHASE_COMMIT, READ


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


@step
def begin_to_ask(world: WorldRecord, txn: TxnRecord) -> int:
    """Everything is written: from here on it waits for the lock."""
    txn.lock_us = txn.time_us
    txn.lock_asks = 0
    txn.lock_refusals = 0
    txn.is_locked_out = 0
    txn.is_looking = 1 if world.catalog.lock.kind == LOCK_DYNAMODB else 0
    return send_lock(world, txn)


@step
def send_lock(world: WorldRecord, txn: TxnRecord) -> int:
    """A request for the lock leaves, or a look at it."""
    note(txn.row, CATALOG, READ if txn.is_looking == 1 else CREATE, 0, 1)
    counter = slot(txn.row.attempts, TABLE_LOCK, 0) + txn.lock_asks
    return send_to_locks(world, txn, counter, MOMENT_LOCK)


@step
def send_to_locks(world: WorldRecord, txn: TxnRecord, counter: int, moment: int) -> int:
    """To the catalog, whose workers serve it, or to the table in DynamoDB."""
    is_hive = world.catalog.lock.kind == LOCK_HIVE
    place = world.catalog.latency if is_hive else world.catalog.lock_latency
    txn.sent_us = txn.time_us
    txn.purpose = moment
    txn.latency_us = draw_us(codes(world), place, txn.key, counter, 0)
    txn.leg_us = request_leg_us(txn.latency_us, REQUEST_SHARE)
    txn.time_us += txn.leg_us
    return MOMENT_READ_ARRIVES if is_hive else moment


@step
def answer(txn: TxnRecord, now: int) -> None:
    """The request was evaluated now."""
    txn.time_us = now + txn.latency_us - txn.leg_us
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us


@step
def pause(txn: TxnRecord, pause_us: int) -> None:
    """It does nothing for a while."""
    txn.time_us += pause_us
    txn.row.phases_us[PHASE_BACKOFF] += pause_us


@step
def lock_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """Whoever keeps the locks is asked for one."""
    terms = world.catalog.lock
    lock = lock_at(world, memory.table_ids(world, txn)[0])
    txn.lock_asks += 1
    if txn.is_looking == 1:
        answer(txn, now)
        txn.is_looking = 0
        if lock.holder != NOT_THERE:
            pause(txn, terms.lease_us)
        return STEP_LOCK
    is_taken = queue_for(world, lock, txn) if terms.kind == LOCK_HIVE else take(lock, txn)
    answer(txn, now)
    if is_taken:
        txn.has_lock = 1
        return STEP_LAST_LOOK
    txn.lock_refusals += 1
    if is_locked_out(terms, txn.lock_refusals, txn.time_us - txn.lock_us):
        txn.is_locked_out = 1
        txn.has_lock = 1 if terms.kind == LOCK_HIVE else 0  # a place in the queue
        keep_base(world, txn, False)
        txn.is_known = 0
        return STEP_REFUSED
    pause(txn, lock_wait_us(terms, txn.key, txn.row.attempts, txn.lock_refusals))
    txn.is_looking = 1 if terms.kind == LOCK_DYNAMODB else 0
    return STEP_LOCK


@step
def take(lock: TableLock, txn: TxnRecord) -> bool:
    """Take it if nobody holds it."""
    if lock.holder == NOT_THERE:
        lock.holder = txn.place
        return True
    return False


@step
def queue_for(world: WorldRecord, lock: TableLock, txn: TxnRecord) -> bool:
    """Take it if nobody holds it or was here before; the first call joins the queue."""
    if txn.lock_asks == 1:
        txn.next_free = NOT_THERE
        if lock.first == NOT_THERE:
            lock.first = txn.place
        else:
            txn_at(world, lock.last).next_free = txn.place
        lock.last = txn.place
    if lock.holder == NOT_THERE and lock.first == txn.place:
        lock.first = txn.next_free
        lock.holder = txn.place
        return True
    return False


@step
def send_unlock(world: WorldRecord, txn: TxnRecord, following: int) -> int:
    """It gives the lock back, or its place in the queue, and goes on with ``following``."""
    txn.after_unlock = following
    txn.has_lock = 0
    note(txn.row, CATALOG, DELETE, 0, 1)
    return send_to_locks(world, txn, slot(txn.row.attempts, TABLE_LOCK, 1), MOMENT_UNLOCK)


@step
def unlock_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """Whoever comes next may have it."""
    lock = lock_at(world, memory.table_ids(world, txn)[0])
    if lock.holder == txn.place:
        lock.holder = NOT_THERE
    else:
        leave_queue(world, lock, txn)
    answer(txn, now)
    return int(txn.after_unlock)


@step
def leave_queue(world: WorldRecord, lock: TableLock, txn: TxnRecord) -> None:
    """Those before and after it close up."""
    if lock.first == txn.place:
        lock.first = txn.next_free
        return
    before = txn_at(world, lock.first)
    while before.next_free != txn.place:
        before = txn_at(world, before.next_free)
    before.next_free = txn.next_free
    if lock.last == txn.place:
        lock.last = before.place
