"""A store that throttles: it answers 503 Slow Down, and the client's SDK waits and tries again.

What becomes of a txn whose request is given up is in ``endive.transaction``; the compiled engine's side is
``endive.simulation.compiled.throttling``. Not to be confused with the ``throttling`` of a profile, which holds a
request back that follows too closely on a rival's.

Each try of each request is throttled by a draw of its own. A throttled try takes as long as the request would have
taken, carries no bytes, and is never evaluated. So tries *precede* a request, which then is drawn as at any store:

* requests one after another take the sum of both;
* of a batch the slowest counts: of those that were not throttled, as at any store, and of each one that was, with its
  tries before it and a latency of its own;
* a request that is throttled as often as the SDK tries is given up. Those sent beside it end, no further one is sent.

Draws: the key of request ``counter`` is ``substream(client.key, counter)``; try t draws at ``t << TRY_BITS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from endive.distributions import LatencyDistribution
from endive.distributions.code import LONGEST_US
from endive.kernel import rule
from endive.record import Float, Int32, Record, record
from endive.rng import substream, uniform
from endive.storage.client import Client, Clock
from endive.storage.provider import Exchange, Request, StorageProvider, StorageResult
from endive.vocabulary import N_OPERATIONS

TRY_BITS = 8  # a try has room for so many bits of draws
_DRAW_WAIT = 1
_DRAW_LATENCY = 16
_WAIT_MULTIPLIER = 2.0

LatencyUs = Callable[[Any, int, int, int, int], int]  # (store, request, key, counter, size_bytes)


class GivenUpError(Exception):
    """The store throttled a request as often as the SDK tries. Its txn hears of it; no user does."""


@record
class SlowDown(Record):
    """How often a store throttles, and what the client's SDK does about it."""

    rate: Float  # of each try of each request
    wait_ms: Float  # before the second try at most; doubled from one to the next
    wait_max_ms: Float
    tries_max: Int32


@rule
def wait_us(slow_down: SlowDown, key: int, tries: int) -> int:
    """The wait after ``tries`` throttled tries: a uniform share of the longest, which doubles."""
    longest_ms = slow_down.wait_ms
    for _ in range(tries - 1):
        if longest_ms < slow_down.wait_max_ms:
            longest_ms *= _WAIT_MULTIPLIER
    longest_ms = min(longest_ms, slow_down.wait_max_ms)
    return int(uniform(key, (tries << TRY_BITS) + _DRAW_WAIT) * longest_ms * 1000.0 + 0.5)


@rule
def throttled_tries(
    latency_us: LatencyUs, store: Any, slow_down: SlowDown, key: int, request: int, size_bytes: int
) -> tuple[int, int]:
    """Throttled tries of the request whose own key it is, and the time they take, waits included.

    As many as the SDK tries at all: the request is given up.
    """
    tries, spent_us = 0, 0
    while tries < slow_down.tries_max and uniform(key, tries << TRY_BITS) < slow_down.rate:
        spent_us += latency_us(store, request, key, (tries << TRY_BITS) + _DRAW_LATENCY, size_bytes)
        tries += 1
        if tries < slow_down.tries_max:
            spent_us += wait_us(slow_down, key, tries)
    return tries, min(spent_us, LONGEST_US)


@rule
def throttle_run(
    latency_us: LatencyUs,
    store: Any,
    slow_down: SlowDown,
    client_key: int,
    counter: int,
    request: int,
    size_bytes: int,
    count: int,
) -> tuple[int, int, int]:
    """Of ``count`` requests one after another: how many are served, throttled tries, and the time these take.

    Fewer than ``count``: the next one is given up.
    """
    tries, spent_us = 0, 0
    for index in range(count):
        key = substream(client_key, counter + index)
        more, more_us = throttled_tries(latency_us, store, slow_down, key, request, size_bytes)
        tries += more
        spent_us = min(spent_us + more_us, LONGEST_US)
        if more == slow_down.tries_max:
            return index, tries, spent_us
    return count, tries, spent_us


@rule
def throttle_batch(
    latency_us: LatencyUs,
    store: Any,
    slow_down: SlowDown,
    client_key: int,
    counter: int,
    request: int,
    size_bytes: int,
    count: int,
) -> tuple[int, int, int, int]:
    """Of ``count`` requests at once: how many go through at the first try, at a later one, throttled tries, and when
    the last of those that were throttled is served or given up.
    """
    at_once, later, tries, slowest_us = 0, 0, 0, 0
    for index in range(count):
        key = substream(client_key, counter + index)
        more, more_us = throttled_tries(latency_us, store, slow_down, key, request, size_bytes)
        if more == 0:
            at_once += 1
            continue
        tries += more
        if more < slow_down.tries_max:
            later += 1
            more_us += latency_us(store, request, key, (more << TRY_BITS) + _DRAW_LATENCY, size_bytes)
        slowest_us = max(slowest_us, more_us)
    return at_once, later, tries, slowest_us


@rule
def is_any_throttled(slow_down: SlowDown, client_key: int, counter: int, count: int) -> bool:
    """Whether the first try of one of ``count`` requests is."""
    for index in range(count):  # noqa: SIM110
        if uniform(substream(client_key, counter + index), 0) < slow_down.rate:
            return True
    return False


def without_throttling(storage: StorageProvider) -> StorageProvider:
    """The store as a server asks it, whose own retries are not modelled."""
    return storage.store if isinstance(storage, ThrottledStore) else storage


def _sample_us(store: StorageProvider, request: int, key: int, counter: int, size_bytes: int) -> int:
    return store.latency(*divmod(request, N_OPERATIONS)).sample_us(key, counter, size_bytes)


class ThrottledStore(StorageProvider):
    """A store behind an SDK: passes every request on once it is not throttled, or raises ``GivenUpError``."""

    def __init__(self, store: StorageProvider, slow_down: SlowDown) -> None:
        self.store = store
        self.name = store.name
        self._slow_down = slow_down

    # ---- what the store says -------------------------------------------------------------------------

    def supports(self, op: int) -> bool:
        return self.store.supports(op)

    def latency(self, object: int, op: int, success: bool = True) -> LatencyDistribution:
        return self.store.latency(object, op, success)

    def leg_share(self, op: int) -> float:
        return self.store.leg_share(op)

    @property
    def heads_before_read(self) -> frozenset[int]:
        return self.store.heads_before_read

    def attach(self, clock: Clock) -> None:
        self.store.attach(clock)

    def reset(self) -> None:
        self.store.reset()

    @property
    def is_built_in(self) -> bool:
        return self.store.is_built_in

    # ---- requests --------------------------------------------------------------------------------------

    def ask(self, request: Request, client: Client) -> Exchange:
        self.require(request.op)
        if request.count == 1 or request.parallel == 1:
            return self._ask_in_turn(request, client)
        assert request.evaluate is None, "nobody looks at the objects of a batch"
        if not is_any_throttled(self._slow_down, client.key, request.counter, request.count):
            return self.store.ask(request, client)
        return self._ask_in_batches(request, client)

    def _ask_in_turn(self, request: Request, client: Client) -> Exchange:
        """Requests one after another; which of them waits for which try makes no difference to the time they take."""
        object, op, counter, size_bytes, count = request[:5]
        served, tries, spent_us = throttle_run(
            _sample_us, self.store, self._slow_down, client.key, counter, _slot(request), size_bytes, count
        )
        answer = StorageResult(True, 0.0, 0)
        if tries:
            client.note(object, op, 0, tries, is_throttled=True)
            yield spent_us
        if served:
            answer = yield from self.store.ask(request._replace(count=served), client)
        if served < count:
            raise GivenUpError
        return answer._replace(latency_ms=answer.latency_ms + spent_us / 1000.0)

    def _ask_in_batches(self, request: Request, client: Client) -> Exchange:
        object, op, counter, size_bytes, count, parallel = request[:6]
        total_us = 0
        for first in range(0, count, parallel):
            sent, at = min(parallel, count - first), counter + first
            at_once, later, tries, slowest_us = throttle_batch(
                _sample_us, self.store, self._slow_down, client.key, at, _slot(request), size_bytes, sent
            )
            if tries:
                client.note(object, op, 0, tries, is_throttled=True)
            if later:
                client.note(object, op, size_bytes, later)
            spent_us = 0
            for delay_us in self.store.ask(request._replace(counter=at, count=at_once), client):
                spent_us += delay_us
                yield delay_us
            if slowest_us > spent_us:
                yield slowest_us - spent_us
            total_us += max(spent_us, slowest_us)
            if at_once + later < sent:
                raise GivenUpError
        return StorageResult(True, total_us / 1000.0, size_bytes * count)


def _slot(request: Request) -> int:
    return request.object * N_OPERATIONS + request.op
