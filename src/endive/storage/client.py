"""One txn's side of the wire: its luck and its bill.

Owns the key its latencies are drawn from, and the count of every request it sends. Refuses to own what a
request costs (``endive.storage.profile``) and what the txn does with the answer (``endive.transaction``).
"""

from __future__ import annotations

from typing import Protocol

from endive.results.schema import N_COUNTERS
from endive.storage.requests import N_OPERATIONS, N_REQUEST_SLOTS, READ, TAIL_APPEND

# (now_us, txn_id, attempt, object, operation, count): one entry of a request trace
TracedRequest = tuple[int, int, int, int, int, int]


class Clock(Protocol):
    """Whatever tells the simulated time; every engine is one."""

    now_us: int


class Client:
    """Who asks: draws come from ``key``, requests and bytes are counted here, at the moment they are sent."""

    __slots__ = (
        "attempt",
        "bytes_read",
        "bytes_written",
        "clock",
        "counters",
        "key",
        "requests",
        "trace",
        "txn_id",
    )

    def __init__(
        self,
        key: int,
        txn_id: int,
        clock: Clock,
        *,
        attempt: int = 0,
        trace: list[TracedRequest] | None = None,
    ) -> None:
        self.key = key
        self.txn_id = txn_id
        self.clock = clock
        self.attempt = attempt
        self.requests = [0] * N_REQUEST_SLOTS
        self.counters = [0] * N_COUNTERS  # of what happened to it, in the order of results.schema.COUNTERS
        self.bytes_read = 0
        self.bytes_written = 0
        self.trace = trace

    def note(self, object: int, op: int, size_bytes: int, count: int = 1) -> None:
        """Put ``count`` requests of ``size_bytes`` each on the bill. HEAD and DELETE carry no bytes."""
        self.requests[object * N_OPERATIONS + op] += count
        if op == READ:
            self.bytes_read += size_bytes * count
        elif op <= TAIL_APPEND:
            self.bytes_written += size_bytes * count
        if self.trace is not None:
            self.trace.append((self.clock.now_us, self.txn_id, self.attempt, object, op, count))
