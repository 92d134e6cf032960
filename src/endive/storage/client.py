"""One txn's side of the wire: the key of its draws and the row it fills in.

What a request costs is in ``endive.storage.profile``, what the txn does with the answer in ``endive.transaction``.
"""

from __future__ import annotations

from typing import Protocol

from endive.kernel import rule
from endive.vocabulary import CREATE, N_OPERATIONS, READ, REQUEST_PLACES, TAIL_APPEND, Row

# (now_us, txn_id, attempt, object, operation, count, is_throttled): one entry of a request trace
TracedRequest = tuple[int, int, int, int, int, int, bool]


@rule
def note(row: Row, object: int, op: int, size_bytes: int, count: int) -> None:
    """Put ``count`` requests of ``size_bytes`` each on a txn's row. HEAD, DELETE and LIST carry no bytes."""
    row.requests[REQUEST_PLACES[object * N_OPERATIONS + op]] += count
    if op == READ:
        row.bytes_read += size_bytes * count
    elif op <= TAIL_APPEND or op == CREATE:
        row.bytes_written += size_bytes * count


def count_sent(row: Row, object: int, op: int) -> int:
    """How many such requests a txn has sent; those that nobody declares are counted together."""
    return row.requests[REQUEST_PLACES[object * N_OPERATIONS + op]]


class Clock(Protocol):
    """Whatever tells the simulated time; every engine is one."""

    now_us: int


class Client:
    """Who asks: draws come from ``key``, requests and bytes are counted here, at the moment they are sent."""

    __slots__ = ("clock", "key", "row", "trace", "txn_id")

    def __init__(
        self, key: int, txn_id: int, clock: Clock, *, attempt: int = 0, trace: list[TracedRequest] | None = None
    ) -> None:
        self.key = key
        self.txn_id = txn_id
        self.clock = clock
        self.row = Row(txn_id=txn_id, attempts=attempt)
        self.trace = trace

    @property
    def attempt(self) -> int:
        """Attempts so far: part of the name of every draw."""
        return self.row.attempts

    def note(self, object: int, op: int, size_bytes: int, count: int = 1, *, is_throttled: bool = False) -> None:
        """Put ``count`` requests of ``size_bytes`` each on the bill; one that the store throttles carries no bytes."""
        note(self.row, object, op, size_bytes, count)
        if self.trace is not None:
            self.trace.append((self.clock.now_us, self.txn_id, self.attempt, object, op, count, is_throttled))
