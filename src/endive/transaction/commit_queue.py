"""Txns that commit one after another, or whose files one of them commits for all, in the reference engine.

Work goes on side by side. In a *queue* commits wait for their turn in the order in which the work was done. A
*coordinator* gathers: at every multiple of its interval the first that waits commits the files of all who do. The
compiled engine's queue is in ``endive.simulation.compiled.ordering``.
"""

from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from endive.catalog.rules import next_multiple_us
from endive.vocabulary import PHASE_BACKOFF

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World

PARKED_US: Final = -1  # instead of a delay: the txn waits until it is woken


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
