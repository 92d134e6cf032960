"""Who orders commits, in the reference engine: queues and coordinators, and locks of tables.

Work goes on side by side. In a *queue* commits wait for their turn in the order in which the work was done. A
*coordinator* gathers: at every multiple of its interval the first that waits commits the files of all who do.

A txn asks for the *lock* of its table before it looks at the pointer and swaps it. Hive's metastore queues those who
ask and tells them their turn when they ask again (``MetastoreLock.acquireLock``). The lock manager that Glue's catalog
may have looks into a DynamoDB table: whoever sees the lock held waits out its lease, tries to take it, and pauses
(``DynamoDbLockManager.acquireOnce``). The compiled engine's walk is in ``endive.simulation.compiled.ordering``.
"""

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Final, cast

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_HIVE, LockTerms, is_locked_out, next_multiple_us
from endive.kernel import rule
from endive.rng import TABLE_LOCK, slot, uniform
from endive.transaction.retry import BACKOFF_ICEBERG, backoff_us
from endive.transaction.settling import billed
from endive.vocabulary import PHASE_BACKOFF, PHASE_COMMIT

if TYPE_CHECKING:
    from endive.catalog.service import ServiceCatalog
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World

PARKED_US: Final = -1  # instead of a delay, or of the time of the next event: the txn waits until it is woken


class CommitQueue:
    """Who commits, and who waits, by the ids of txns."""

    __slots__ = ("carried", "every_us", "holder", "told", "waiting")

    def __init__(self, every_us: int = 0) -> None:
        self.every_us = every_us  # of a coordinator; 0: one after another
        self.holder: int | None = None
        self.waiting: deque[int] = deque()
        self.carried: list[int] = []  # by the commit under way
        self.told: dict[int, tuple[int, int]] = {}  # who carried a txn, and what became of it


def wait_for_turn(txn: "Transaction", world: "World") -> Generator[int, None, int | None]:
    """Until it is to commit; or how the commit ended that carried its files. The wait counts as backoff."""
    queue, since_us = world.queues[txn.terms.queue], world.clock.now_us
    if queue.holder is None:
        queue.holder = txn.id
    else:
        queue.waiting.append(txn.id)
        yield PARKED_US
    if txn.id in queue.told:
        txn.row.phases_us[PHASE_BACKOFF] += world.clock.now_us - since_us
        txn.carrier, reason = queue.told.pop(txn.id)
        return reason
    if queue.every_us:
        wait_us = next_multiple_us(world.clock.now_us, queue.every_us) - world.clock.now_us
        if wait_us > 0:
            yield wait_us
        queue.carried = list(queue.waiting)
        queue.waiting.clear()
        txn.row.gathered = len(queue.carried)
    txn.row.phases_us[PHASE_BACKOFF] += world.clock.now_us - since_us
    return None


def pass_turn(txn: "Transaction", world: "World") -> None:
    """The txn has ended: if it had the turn, whom it carried has ended too, and the next one commits."""
    queue = world.queues[txn.terms.queue]
    if queue.holder != txn.id:
        return
    for txn_id in queue.carried:
        queue.told[txn_id] = (txn.id, txn.row.reason)
        world.wake(txn_id)
    queue.carried = []
    queue.holder = queue.waiting.popleft() if queue.waiting else None
    if queue.holder is not None:
        world.wake(queue.holder)


# --- locks of tables ----------------------------------------------------------------------------------

JITTER = 0.1  # Iceberg's ``Tasks``
LOCK_WAITS = 2  # position of the slot that pauses are drawn from


@rule
def lock_wait_us(terms: LockTerms, key: int, attempt: int, refusals: int) -> int:
    """The pause after so many refusals; after its first call, which queued it, a client of Hive asks again at once."""
    number = refusals - 1 if terms.kind == LOCK_HIVE else refusals
    if number == 0:
        return 0
    u = uniform(key, slot(attempt, TABLE_LOCK, LOCK_WAITS) + number)
    return backoff_us(BACKOFF_ICEBERG, terms.wait_ms, terms.multiplier, terms.wait_max_ms, JITTER, number, 0, u)


def take_lock(txn: "Transaction", world: "World") -> Generator[int, None, bool]:
    """Ask until the lock is the txn's, or for too long; whether it is."""
    server, terms, table = _server(world), world.lock, txn.tables[0]
    since_us, asked, refusals = world.clock.now_us, 0, 0
    while True:
        if terms.kind == LOCK_DYNAMODB:
            look = server.ask_for_lock(txn.client, table, asked, is_look=True)
            is_free = yield from billed(txn.row, world.clock, PHASE_COMMIT, look)
            asked += 1
            if not is_free:
                yield from _pause(txn, terms.lease_us)
        ask = server.ask_for_lock(txn.client, table, asked)
        if (yield from billed(txn.row, world.clock, PHASE_COMMIT, ask)):
            return True
        asked += 1
        refusals += 1
        if is_locked_out(terms, refusals, world.clock.now_us - since_us):
            return False
        yield from _pause(txn, lock_wait_us(terms, txn.client.key, txn.row.attempts, refusals))


def leave_lock(txn: "Transaction", world: "World") -> Generator[int, None, None]:
    """Give the lock back, or leave the queue for it."""
    request = _server(world).release_lock(txn.client, txn.tables[0])
    yield from billed(txn.row, world.clock, PHASE_COMMIT, request)


def _server(world: "World") -> "ServiceCatalog":
    """The catalog, which keeps the locks; whoever watches it passes on what he does not know."""
    return cast("ServiceCatalog", world.catalog)


def _pause(txn: "Transaction", pause_us: int) -> Generator[int, None, None]:
    txn.row.phases_us[PHASE_BACKOFF] += pause_us
    if pause_us > 0:
        yield pause_us
