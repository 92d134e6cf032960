"""An object store as its profile describes it: drawn latencies, two legs, contended objects.

This file defines the generators of every operation and the state of objects that are written conditionally. Refuses to
own figures (``endive.storage.profile``), the arithmetic of a conditional request
(``endive.storage.contention``), and what an object contains: the caller's ``evaluate`` decides.

Draws, all from ``client.key``; both engines name them so:

=========================  ====================================================================
request                    draws
=========================  ====================================================================
read, write, head, delete  ``counter``: the latency
batch b of p in parallel   ``counter + b * p``: the slowest of p (p = 1: as a single request)
8 full batches and more    their sum: bit i of their number at ``counter + i`` (``endive.distributions.sums``)
cas, append, tail_append   ``counter``: latency of success, and with it the request leg;
                           ``counter + 1``: latency of a refusal, only if refused;
                           ``counter + 2``: acknowledgement penalty, only if contended;
                           ``counter + DRAW_DELAY``: wait before evaluation, only if throttled;
                           ``counter + DRAW_CROWD``, and the next: table of crowding and penalty, only if a success
                           met rivals
=========================  ====================================================================

A request that nobody observes is one delay of its whole latency; an observed one is two, the request leg
and the rest. An ordered one is two, one more if it is throttled, and one for each wait on the object's write limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from endive.distributions import LatencyDistribution, draw_us
from endive.distributions.code import FloatArray
from endive.distributions.sums import SUM_COUNT_MIN, draw_sum_us
from endive.errors import EngineError, UnsupportedOperationError
from endive.rng import uniform
from endive.storage.client import Client, Clock
from endive.storage.contention import (
    CROWD_TABLES_MAX,
    DRAW_CROWD,
    DRAW_DELAY,
    DRAW_PENALTY,
    DRAW_REFUSAL,
    NO_TABLE,
    ObjectState,
    admitted_us,
    answer_leg_us,
    crowd_table,
    is_contended,
    meet_crowd,
    next_free_us,
    request_leg_us,
    write_spacing_us,
)
from endive.storage.profile import CrowdTable, Profile
from endive.storage.profile_file import names_supporting
from endive.storage.provider import Request, StorageProvider, StorageResult
from endive.storage.requests import (
    APPEND,
    CAS,
    CATALOG,
    DELETE,
    HEAD,
    N_OPERATIONS,
    N_REQUEST_SLOTS,
    OBJECTS,
    OPERATIONS,
    READ,
    TAIL_APPEND,
    WRITE,
)

_DrawUs = Callable[..., int]


class ObjectStore(StorageProvider):
    """A storage provider made from a profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.name = profile.name
        self._clock: Clock | None = None
        self._objects: dict[str, ObjectState] = {}
        self._has = [profile.supports(op) for op in range(N_OPERATIONS)]
        self._spacing_us = write_spacing_us(profile.writes_per_s_max)
        self._shares = [self.leg_share(op) for op in range(N_OPERATIONS)]
        self._windows_us = [self.contention_window_us(op) for op in range(N_OPERATIONS)]
        self._penalties_us = [_draw_of(self.penalty(op)) for op in range(N_OPERATIONS)]
        self._throttle_windows_us = [self.throttle_window_us(op) for op in range(N_OPERATIONS)]
        self._delays_us = [_draw_of(self.throttle_delay(op)) for op in range(N_OPERATIONS)]
        self._crowd_windows_us = [self.crowd_window_us(op) for op in range(N_OPERATIONS)]
        self._crowd_rivals = self.crowd_rivals()
        self._crowd_us = [[table.penalty.sample_us for table in self.crowd_tables(op)] for op in range(N_OPERATIONS)]
        self._success_us: list[_DrawUs] = []
        self._refusal_us: list[_DrawUs] = []
        self._slowest_us: list[_DrawUs] = []
        self._full_batches_us: dict[tuple[int, int], _DrawUs] = {}
        self._summed: dict[tuple[int, int], FloatArray | None] = {}
        self._usual_bytes = [0] * len(OBJECTS)
        for slot in range(N_REQUEST_SLOTS):
            self._prepare(*divmod(slot, N_OPERATIONS))

    def _prepare(self, object: int, op: int) -> None:
        """Look the distribution's samplers up once, so that a request costs no lookup by name."""
        if self._has[op]:
            success = self.latency(object, op)
            self._success_us.append(success.sample_us)
            self._refusal_us.append(self.latency(object, op, success=False).sample_us)
            self._slowest_us.append(success.slowest_us)
        else:
            for draws in (self._success_us, self._refusal_us, self._slowest_us):
                draws.append(_never_drawn)

    def expect_bytes(self, object: int, size_bytes: int) -> None:
        """The size that objects of a kind have as a rule: long runs of reads and writes of it are summed by table."""
        self._usual_bytes[object] = size_bytes
        self._summed.clear()

    def summed_code(self, object: int, op: int, parallel: int) -> FloatArray | None:
        """What a run of such requests is drawn from, ``parallel`` at a time; None: one by one."""
        place = (object * N_OPERATIONS + op, parallel)
        if place not in self._summed:
            size_bytes = self._usual_bytes[object] if op in (READ, WRITE) else 0
            self._summed[place] = self.profile.summed_code(object, op, parallel, size_bytes)
        return self._summed[place]

    # ---- what the profile says ---------------------------------------------------------------------

    @property
    def supports_write(self) -> bool:
        return self.profile.supports(WRITE)

    @property
    def supports_cas(self) -> bool:
        return self.profile.supports(CAS)

    @property
    def supports_append(self) -> bool:
        return self.profile.supports(APPEND)

    @property
    def supports_tail_append(self) -> bool:
        return self.profile.supports(TAIL_APPEND)

    def latency(self, object: int, op: int, success: bool = True) -> LatencyDistribution:
        self._require(op)
        return self.profile.latency(object, op, success)

    def leg_share(self, op: int) -> float:
        return self.profile.leg_share(op)

    def contention_window_us(self, op: int) -> int:
        """How near a rival's request must have been for this one to be acknowledged late; 0 = never."""
        contention = self.profile.contention.get(op)
        return 0 if contention is None else int(contention.window_ms * 1000.0 + 0.5)

    def penalty(self, op: int) -> LatencyDistribution | None:
        """What a contended request waits longer for its answer."""
        contention = self.profile.contention.get(op)
        return None if contention is None else contention.penalty

    def throttle_window_us(self, op: int) -> int:
        """How near a rival's request must have been for this one to be evaluated late; 0 = never."""
        throttling = self.profile.throttling.get(op)
        return 0 if throttling is None else int(throttling.window_ms * 1000.0 + 0.5)

    def throttle_delay(self, op: int) -> LatencyDistribution | None:
        """How long a throttled request waits before it is evaluated."""
        throttling = self.profile.throttling.get(op)
        return None if throttling is None else throttling.delay

    def crowd_window_us(self, op: int) -> int:
        """How near a rival's request must have been to count as one in the crowd; 0 = nobody counts."""
        crowding = self.profile.crowding.get(op)
        return 0 if crowding is None else int(crowding.window_ms * 1000.0 + 0.5)

    def crowd_tables(self, op: int) -> tuple[CrowdTable, ...]:
        """What a success among rivals waits longer for its answer, by number of rivals."""
        crowding = self.profile.crowding.get(op)
        return () if crowding is None else crowding.tables

    def crowd_rivals(self) -> list[int]:
        """The numbers of rivals that have a table, as ``crowd_table`` reads them."""
        known = [0] * (N_OPERATIONS * CROWD_TABLES_MAX)
        for op in range(N_OPERATIONS):
            for place, table in enumerate(self.crowd_tables(op)):
                known[op * CROWD_TABLES_MAX + place] = table.rivals
        return known

    @property
    def heads_before_read(self) -> frozenset[int]:
        return self.profile.head_before_read

    @property
    def spacing_us(self) -> int:
        """Least time between two successful conditional writes to one object; 0 = no limit."""
        return self._spacing_us

    @property
    def is_built_in(self) -> bool:
        """Also False if a distribution is the user's own: the compiled engine could not draw from it."""
        return super().is_built_in and all(part.is_built_in for part in self._distributions())

    def _distributions(self) -> Iterator[LatencyDistribution]:
        for slot in range(N_REQUEST_SLOTS):
            object, op = divmod(slot, N_OPERATIONS)
            if self._has[op]:
                yield self.latency(object, op)
                yield self.latency(object, op, success=False)
        for late in self.profile.contention.values():
            yield late.penalty
        for held in self.profile.throttling.values():
            yield held.delay
        for crowding in self.profile.crowding.values():
            yield from (table.penalty for table in crowding.tables)

    def reset(self) -> None:
        self._objects.clear()

    def _require(self, op: int) -> None:
        """Refuse an operation the provider lacks, when it is asked for and not when it is first awaited."""
        if not self._has[op]:
            raise UnsupportedOperationError(
                f"storage provider {self.name!r} has no {OPERATIONS[op]!r}. "
                f"Providers that have it: {', '.join(names_supporting(op))}."
            )

    # ---- plain requests ----------------------------------------------------------------------------

    def read(
        self,
        key: str,
        expected_size_bytes: int,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        return self._ask(object, READ, expected_size_bytes, client, counter, observe)

    def head(
        self,
        key: str,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        return self._ask(object, HEAD, 0, client, counter, observe)

    def write(self, key: str, size_bytes: int, *, client: Client, counter: int, object: int = CATALOG) -> Request:
        self._require(WRITE)
        return self._ask(object, WRITE, size_bytes, client, counter, None)

    def delete(self, key: str, *, client: Client, counter: int, object: int = CATALOG) -> Request:
        self._require(DELETE)
        return self._ask(object, DELETE, 0, client, counter, None)

    def _ask(
        self,
        object: int,
        op: int,
        size_bytes: int,
        client: Client,
        counter: int,
        observe: Callable[[], Any] | None,
    ) -> Request:
        latency_us = self._success_us[object * N_OPERATIONS + op](client.key, counter, size_bytes)
        client.note(object, op, size_bytes)
        if observe is None:
            yield latency_us
            return StorageResult(True, latency_us / 1000.0, size_bytes)
        leg_us = request_leg_us(latency_us, self._shares[op])
        yield leg_us
        observed = observe()
        yield latency_us - leg_us
        return StorageResult(True, latency_us / 1000.0, size_bytes, observed)

    def read_batch(
        self,
        key: str,
        size_bytes: int,
        count: int,
        parallel: int = 1,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
        observe: Callable[[], Any] | None = None,
    ) -> Request:
        """``observe`` is called once, when the server evaluates the last batch."""
        return self._ask_batch(object, READ, size_bytes, count, parallel, client, counter, observe)

    def write_batch(
        self,
        key: str,
        size_bytes: int,
        count: int,
        parallel: int = 1,
        *,
        client: Client,
        counter: int,
        object: int = CATALOG,
    ) -> Request:
        self._require(WRITE)
        return self._ask_batch(object, WRITE, size_bytes, count, parallel, client, counter, None)

    def head_batch(
        self, key: str, count: int, parallel: int = 1, *, client: Client, counter: int, object: int = CATALOG
    ) -> Request:
        return self._ask_batch(object, HEAD, 0, count, parallel, client, counter, None)

    def _ask_batch(
        self,
        object: int,
        op: int,
        size_bytes: int,
        count: int,
        parallel: int,
        client: Client,
        counter: int,
        observe: Callable[[], Any] | None,
    ) -> Request:
        assert parallel >= 1, "a batch holds at least one request"
        slot = object * N_OPERATIONS + op
        slowest_us = self._slowest_us[slot]
        draw_us = self._success_us[slot]
        full_us = draw_us if parallel == 1 else self._full_batch_us(object, op, parallel)
        key = client.key
        total_us = summed = 0
        observed = None
        full = count // parallel
        code = self.summed_code(object, op, parallel) if full >= SUM_COUNT_MIN and observe is None else None
        if code is not None:
            summed = full * parallel
            total_us = draw_sum_us(code, 0, key, counter, full, size_bytes)
            client.note(object, op, size_bytes, summed)
            yield total_us
        for first in range(summed, count, parallel):
            batch_size = min(parallel, count - first)
            if batch_size == parallel:
                latency_us = full_us(key, counter + first, size_bytes)
            else:
                latency_us = slowest_us(key, counter + first, batch_size, size_bytes)
            client.note(object, op, size_bytes, batch_size)
            total_us += latency_us
            if observe is None or first + parallel < count:
                yield latency_us
                continue
            leg_us = request_leg_us(latency_us, self._shares[op])
            yield leg_us
            observed = observe()
            yield latency_us - leg_us
        return StorageResult(True, total_us / 1000.0, size_bytes * count, observed)

    def _full_batch_us(self, object: int, op: int, parallel: int) -> _DrawUs:
        """How the slowest of a full batch is drawn: by one draw, if a table of it can be made."""
        place = (object * N_OPERATIONS + op, parallel)
        if place not in self._full_batches_us:
            self._full_batches_us[place] = _draw_of_batch(self.latency(object, op), parallel)
        return self._full_batches_us[place]

    # ---- ordered requests --------------------------------------------------------------------------

    def cas(
        self,
        key: str,
        expected_version: int,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], bool],
        object: int = CATALOG,
    ) -> Request:
        self._require(CAS)
        return self._order(key, object, CAS, size_bytes, client, counter, evaluate)

    def append(
        self,
        key: str,
        offset: int,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], bool],
        object: int = CATALOG,
    ) -> Request:
        self._require(APPEND)
        return self._order(key, object, APPEND, size_bytes, client, counter, evaluate)

    def tail_append(
        self,
        key: str,
        size_bytes: int,
        *,
        client: Client,
        counter: int,
        evaluate: Callable[[], Any] | None = None,
        object: int = CATALOG,
    ) -> Request:
        self._require(TAIL_APPEND)
        return self._order(key, object, TAIL_APPEND, size_bytes, client, counter, evaluate or _nothing)

    def _order(
        self,
        key: str,
        object: int,
        op: int,
        size_bytes: int,
        client: Client,
        counter: int,
        evaluate: Callable[[], Any],
    ) -> Request:
        slot = object * N_OPERATIONS + op
        latency_us = self._success_us[slot](client.key, counter, size_bytes)
        clock = self._clock
        if clock is None:
            raise EngineError(
                f"storage provider {self.name!r} was asked for {OPERATIONS[op]!r} without a clock. "
                "Call attach(clock) first; an engine does."
            )
        client.note(object, op, size_bytes)
        sent_us = clock.now_us
        leg_us = request_leg_us(latency_us, self._shares[op])
        yield leg_us

        state = self._objects.setdefault(key, ObjectState())
        delay_us = self._throttled_us(state, op, client, counter)
        if delay_us > 0:
            yield delay_us
        while (free_us := admitted_us(clock.now_us, state.next_free_us)) > clock.now_us:
            yield free_us - clock.now_us
        now_us = clock.now_us
        contended = is_contended(now_us, state.last_us, state.last_txn, client.txn_id, self._windows_us[op])
        state.last_us = now_us
        state.last_txn = client.txn_id
        if self._crowd_windows_us[op] > 0:
            meet_crowd(state, now_us, client.txn_id, self._crowd_windows_us[op])
        observed = evaluate()
        success = op == TAIL_APPEND or bool(observed)
        penalty_us = self._penalties_us[op](client.key, counter + DRAW_PENALTY) if contended else 0
        if success:
            state.next_free_us = next_free_us(now_us, self._spacing_us)
            penalty_us += self._crowded_us(state, op, client, counter)
        else:
            latency_us = self._refusal_us[slot](client.key, counter + DRAW_REFUSAL, size_bytes)
        answer_us = answer_leg_us(latency_us, leg_us, penalty_us)
        yield answer_us
        return StorageResult(success, (now_us - sent_us + answer_us) / 1000.0, size_bytes, observed)

    def _crowded_us(self, state: ObjectState, op: int, client: Client, counter: int) -> int:
        """How much later a success is acknowledged because of the rivals it met."""
        if self._crowd_windows_us[op] == 0 or state.rivals == 0:
            return 0
        chance = uniform(client.key, counter + DRAW_CROWD)
        table = crowd_table(self._crowd_rivals, op, state.rivals, chance)
        return 0 if table == NO_TABLE else self._crowd_us[op][table](client.key, counter + DRAW_CROWD + 1)

    def _throttled_us(self, state: ObjectState, op: int, client: Client, counter: int) -> int:
        """How long a request that reaches the object now is held back; the object remembers it either way."""
        window_us = self._throttle_windows_us[op]
        if window_us == 0:
            return 0
        assert self._clock is not None
        now_us = self._clock.now_us
        throttled = is_contended(now_us, state.reached_us, state.reached_txn, client.txn_id, window_us)
        state.reached_us = now_us
        state.reached_txn = client.txn_id
        return self._delays_us[op](client.key, counter + DRAW_DELAY) if throttled else 0


def _draw_of(extra: LatencyDistribution | None) -> _DrawUs:
    return _no_extra if extra is None else extra.sample_us


def _draw_of_batch(latency: LatencyDistribution, parallel: int) -> _DrawUs:
    """The slowest of ``parallel`` requests, as a draw."""
    code = latency.slowest_code(parallel) if latency.is_built_in else None
    if code is None:
        return lambda key, counter, size_bytes: latency.slowest_us(key, counter, parallel, size_bytes)
    return lambda key, counter, size_bytes: draw_us(code, 0, key, counter, size_bytes)


def _no_extra(*_: Any) -> int:
    return 0


def _never_drawn(*_: Any) -> NoReturn:
    raise AssertionError("an operation the provider lacks is refused before anything is drawn")


def _nothing() -> None:
    """Stand in for an unconditional append that nobody looks at."""
