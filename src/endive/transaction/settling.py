"""The reference engine's payer: requests are written down, and the txn waits for them one by one.

How a payment becomes a request to a storage provider, and how time is billed to a phase. Which payments there are is in
``endive.formats``.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from endive.formats.payer import Payer
from endive.storage.client import Client, Clock
from endive.storage.provider import Request, StorageProvider
from endive.storage.throttled import GivenUpError
from endive.vocabulary import Row

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction
    from endive.transaction.transaction_values import World

Payments = Generator[int, None, None]
Answer = TypeVar("Answer")


class Payment(NamedTuple):
    """A request, or so many us of waiting, billed to one phase; branches 1 and 2 run beside each other."""

    branch: int
    phase: int
    due: Request | int


def _many(
    world: "World",
    txn: "Transaction",
    phase: int,
    counter: int,
    object: int,
    op: int,
    size_bytes: int,
    count: int,
    parallel: int,
) -> None:
    if count:
        request = Request(object, op, counter, size_bytes, count, parallel)
        txn.owed.append(Payment(txn.branch, phase, request))


def _fork(txn: "Transaction") -> None:
    txn.branch = 1


def _switch(txn: "Transaction") -> None:
    txn.branch = 2


def _join(txn: "Transaction", phase: int) -> None:
    txn.branch = 0


def _wait(txn: "Transaction", phase: int, wait_us: int) -> None:
    if wait_us:
        txn.owed.append(Payment(txn.branch, phase, wait_us))


WRITING_DOWN = Payer(_many, _fork, _switch, _join, _wait)


def billed(row: Row, clock: Clock, phase: int, request: Generator[int, None, Answer]) -> Generator[int, None, Answer]:
    """Wait for a request and bill it to a phase, though it may be given up."""
    begin_us = clock.now_us
    try:
        answer = yield from request
    except GivenUpError:
        row.phases_us[phase] += clock.now_us - begin_us
        raise
    row.phases_us[phase] += clock.now_us - begin_us
    return answer


def settle(txn: "Transaction", world: "World") -> Payments:
    """Wait for everything that was written down, in that order; what follows a request given up is not sent."""
    clock, owed, txn.owed = world.clock, txn.owed, []
    at = 0
    while at < len(owed):
        forked = owed[at : at + 1]
        due = _in_turn(world.storage, txn.client, forked)
        if owed[at].branch > 0:
            forked = _one_fork(owed, at)
            branches = [[p for p in forked if p.branch == branch] for branch in (1, 2)]
            due = _side_by_side(clock, *(_in_turn(world.storage, txn.client, branch) for branch in branches))
        yield from billed(txn.row, clock, owed[at].phase, due)
        at += len(forked)


def _one_fork(owed: list[Payment], first: int) -> list[Payment]:
    """The payments of the fork that begins at ``first``: those of branch 1, then those of branch 2.

    Another table may have written down a fork of its own behind it.
    """
    last = first + 1
    while last < len(owed) and owed[last].branch >= owed[last - 1].branch > 0:
        last += 1
    return owed[first:last]


def _in_turn(storage: StorageProvider, client: Client, payments: list[Payment]) -> Payments:
    for payment in payments:
        if isinstance(payment.due, int):
            yield payment.due
        else:
            yield from storage.ask(payment.due, client)


def _side_by_side(clock: Clock, first: Payments, second: Payments) -> Payments:
    """Two payments that begin together; done when both are, and given up if one of them was."""
    due = [(clock.now_us, first), (clock.now_us, second)]
    is_given_up = False
    while due:
        earliest = min(range(len(due)), key=lambda i: due[i][0])
        at_us, payment = due[earliest]
        if at_us > clock.now_us:
            yield at_us - clock.now_us
        try:
            due[earliest] = (at_us + next(payment), payment)
        except StopIteration:
            del due[earliest]
        except GivenUpError:
            is_given_up = True
            del due[earliest]
    if is_given_up:
        raise GivenUpError
