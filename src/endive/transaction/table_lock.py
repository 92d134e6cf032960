"""A txn asks for the lock of its table before it looks at the pointer and swaps it, in the reference engine.

Hive's metastore queues those who ask and tells them their turn when they ask again (``MetastoreLock.acquireLock``). The
lock manager that Glue's catalog may have looks into a DynamoDB table: whoever sees the lock held waits out its lease,
tries to take it, and pauses (``DynamoDbLockManager.acquireOnce``). The compiled engine's walk is in
``endive.simulation.compiled.ordering``.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, cast

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_HIVE, LockTerms, is_locked_out
from endive.kernel import rule
from endive.rng import TABLE_LOCK, slot, uniform
from endive.transaction.retry import BACKOFF_ICEBERG, backoff_us
from endive.transaction.settling import billed
from endive.vocabulary import PHASE_BACKOFF, PHASE_COMMIT

if TYPE_CHECKING:
    from endive.catalog.service import ServiceCatalog
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World

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
