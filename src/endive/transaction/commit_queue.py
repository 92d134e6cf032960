"""Txns of one process that commit one after another, in the reference engine.

Work goes on side by side; commits wait for their turn in the order in which the work was done. The compiled engine's
queue is in ``endive.simulation.compiled.queueing``.
"""

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from endive.vocabulary import PHASE_BACKOFF

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World

PARKED_US: Final = -1  # instead of a delay: the txn waits until it is woken


class CommitQueue:
    """Who commits, and who waits, by the ids of txns."""

    __slots__ = ("holder", "waiting")

    def __init__(self) -> None:
        self.holder: int | None = None
        self.waiting: deque[int] = deque()


def wait_for_turn(txn: "Transaction", world: "World") -> Generator[int, None, None]:
    """Until nobody else of its process commits; the wait counts as backoff."""
    queue = world.queues[txn.terms.queue]
    if queue.holder is None:
        queue.holder = txn.id
        return
    since_us = world.clock.now_us
    queue.waiting.append(txn.id)
    yield PARKED_US
    txn.row.phases_us[PHASE_BACKOFF] += world.clock.now_us - since_us


def pass_turn(txn: "Transaction", world: "World") -> None:
    """The txn has ended: if it had the turn, the next one commits."""
    queue = world.queues[txn.terms.queue]
    if queue.holder != txn.id:
        return
    queue.holder = queue.waiting.popleft() if queue.waiting else None
    if queue.holder is not None:
        world.wake(queue.holder)
