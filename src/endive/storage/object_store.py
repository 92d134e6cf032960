"""An object store as its profile describes it: drawn latencies, two legs, contended objects.

A request as a generator of delays, and the state of objects that are written conditionally. Figures are
``endive.storage.profile``'s, the walk of a conditional request ``endive.storage.contention``'s, and what an object
contains is the caller's: ``evaluate`` decides.

Draws, all from ``client.key``; both engines name them so:

=========================  ====================================================================
request                    draws
=========================  ====================================================================
read, write, head, delete  ``counter``: the latency
batch b of p in parallel   ``counter + b * p``: the slowest of p (p = 1: as a single request)
8 full batches and more    their sum: bit i of their number at ``counter + i`` (``endive.distributions.sums``); not of
                           deletes
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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from endive.distributions import LatencyDistribution, draw_us
from endive.distributions.code import FloatArray
from endive.distributions.sums import SUM_COUNT_MIN, draw_sum_us
from endive.errors import EngineError
from endive.storage.client import Client, Clock
from endive.storage.contention import (
    CROWD_TABLES_MAX,
    ObjectState,
    ObjectTerms,
    admitted_us,
    answer_us,
    held_back_us,
    meet_rivals,
    request_leg_us,
    write_spacing_us,
)
from endive.storage.profile import Crowding, CrowdTable, ExtraTime, Profile
from endive.storage.provider import Exchange, Request, StorageProvider, StorageResult
from endive.storage.requests import CONDITIONAL_OPERATIONS, ORDERED_OPERATIONS, SUMMED_OPERATIONS
from endive.vocabulary import N_OPERATIONS, OBJECTS, OPERATIONS, READ, WRITE

_DrawUs = Callable[..., int]


class _Draws(NamedTuple):
    """How the latencies of one kind of request are drawn."""

    success_us: _DrawUs
    slowest_us: _DrawUs  # of so many at once
    others_us: list[_DrawUs]  # by the codes of ``contention.Draw``


@dataclass(slots=True)
class _Sent:
    key: int
    counter: int
    latency_us: int
    leg_us: int


class ObjectStore(StorageProvider):
    """A storage provider made from a profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.name = profile.name
        self._clock: Clock | None = None
        self._objects: dict[str, ObjectState] = {}
        self.terms = self._terms()
        self._draws: dict[int, _Draws] = {}  # by request slot
        self._full_batches_us: dict[tuple[int, int], _DrawUs] = {}
        self._summed: dict[tuple[int, int], FloatArray | None] = {}
        self._usual_bytes = [0] * len(OBJECTS)

    def _terms(self) -> ObjectTerms:
        """What the profile says of objects that are written conditionally."""
        ops, profile = range(N_OPERATIONS), self.profile
        rivals = [0] * (N_OPERATIONS * CROWD_TABLES_MAX)  # as ``crowd_table`` reads them
        for op in ops:
            for place, table in enumerate(self.crowd_tables(op)):
                rivals[op * CROWD_TABLES_MAX + place] = table.rivals
        return ObjectTerms(
            spacing_us=write_spacing_us(profile.writes_per_s_max),
            leg_shares=[self.leg_share(op) for op in ops],
            contention_us=[_window_us(profile.contention.get(op)) for op in ops],
            throttle_us=[_window_us(profile.throttling.get(op)) for op in ops],
            crowd_us=[_window_us(profile.crowding.get(op)) for op in ops],
            crowd_rivals=rivals,
        )

    def _draws_of(self, slot: int) -> _Draws:
        """The samplers of a request, looked up once: a request then costs no lookup by name."""
        if slot not in self._draws:
            object, op = divmod(slot, N_OPERATIONS)
            success, refusal = (self.latency(object, op, outcome) for outcome in (True, False))
            crowd = (table.penalty for table in self.crowd_tables(op))
            others = (refusal, self.penalty(op), self.throttle_delay(op), *crowd)
            self._draws[slot] = _Draws(success.sample_us, success.slowest_us, [_draw_of(other) for other in others])
        return self._draws[slot]

    def expect_bytes(self, object: int, size_bytes: int) -> None:
        """The size that objects of a kind have as a rule: long runs of reads and writes of it are summed by table."""
        self._usual_bytes[object] = size_bytes
        self._summed.clear()

    def summed_code(self, object: int, op: int, parallel: int) -> FloatArray | None:
        """What a run of such requests is drawn from, ``parallel`` at a time; None: one by one."""
        if op not in SUMMED_OPERATIONS:
            return None
        place = (object * N_OPERATIONS + op, parallel)
        if place not in self._summed:
            size_bytes = self._usual_bytes[object] if op in (READ, WRITE) else 0
            self._summed[place] = self.profile.summed_code(object, op, parallel, size_bytes)
        return self._summed[place]

    # ---- what the profile says ---------------------------------------------------------------------

    def supports(self, op: int) -> bool:
        return self.profile.supports(op)

    def latency(self, object: int, op: int, success: bool = True) -> LatencyDistribution:
        self.require(op)
        return self.profile.latency(object, op, success)

    def leg_share(self, op: int) -> float:
        return self.profile.leg_share(op)

    def penalty(self, op: int) -> LatencyDistribution | None:
        """What a contended request waits longer for its answer."""
        contention = self.profile.contention.get(op)
        return None if contention is None else contention.extra

    def throttle_delay(self, op: int) -> LatencyDistribution | None:
        """How long a throttled request waits before it is evaluated."""
        throttling = self.profile.throttling.get(op)
        return None if throttling is None else throttling.extra

    def crowd_tables(self, op: int) -> tuple[CrowdTable, ...]:
        """What a success among rivals waits longer for its answer, by number of rivals."""
        crowding = self.profile.crowding.get(op)
        return () if crowding is None else crowding.tables

    @property
    def heads_before_read(self) -> frozenset[int]:
        return self.profile.head_before_read

    @property
    def is_built_in(self) -> bool:
        """Also False if a distribution is the user's own: the compiled engine could not draw from it."""
        return super().is_built_in and self.profile.is_built_in

    def reset(self) -> None:
        self._objects.clear()

    # ---- requests ------------------------------------------------------------------------------------

    def ask(self, request: Request, client: Client) -> Exchange:
        self.require(request.op)
        if request.op in ORDERED_OPERATIONS:
            return self._ask_ordered(request, client)
        return self._ask_plain(request, client)

    def _ask_plain(self, request: Request, client: Client) -> Exchange:
        object, op, counter, size_bytes, count, parallel, _, evaluate = request
        assert parallel >= 1, "a batch holds at least one request"
        slot = object * N_OPERATIONS + op
        success_us, slowest_us, _ = self._draws_of(slot)
        full_us = success_us if parallel == 1 else self._full_batch_us(object, op, parallel)
        key = client.key
        total_us = summed = 0
        observed = None
        full = count // parallel
        code = self.summed_code(object, op, parallel) if full >= SUM_COUNT_MIN and evaluate is None else None
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
            if evaluate is None or first + parallel < count:
                yield latency_us
                continue
            leg_us = request_leg_us(latency_us, self.terms.leg_shares[op])
            yield leg_us
            observed = evaluate()
            yield latency_us - leg_us
        return StorageResult(True, total_us / 1000.0, size_bytes * count, observed)

    def _full_batch_us(self, object: int, op: int, parallel: int) -> _DrawUs:
        """How the slowest of a full batch is drawn: by one draw, if a table of it can be made."""
        place = (object * N_OPERATIONS + op, parallel)
        if place not in self._full_batches_us:
            self._full_batches_us[place] = _draw_of_batch(self.latency(object, op), parallel)
        return self._full_batches_us[place]

    def _ask_ordered(self, request: Request, client: Client) -> Exchange:
        object, op, counter, size_bytes, count = request[:5]
        assert count == 1, "requests whose order matters are sent one by one"
        clock, terms, slot = self._clock, self.terms, object * N_OPERATIONS + op
        if clock is None:
            raise EngineError(
                f"storage provider {self.name!r} was asked for {OPERATIONS[op]!r} without a clock. "
                "Call attach(clock) first; an engine does."
            )
        latency_us = self._draws_of(slot).success_us(client.key, counter, size_bytes)
        sent = _Sent(client.key, counter, latency_us, request_leg_us(latency_us, terms.leg_shares[op]))
        client.note(object, op, size_bytes)
        sent_us = clock.now_us
        yield sent.leg_us

        state = self._objects.setdefault(request.key, ObjectState())
        held_us = held_back_us(_draw_other_us, self, terms, state, sent, slot, clock.now_us, client.txn_id)
        if held_us > 0:
            yield held_us
        while (free_us := admitted_us(clock.now_us, state.next_free_us)) > clock.now_us:
            yield free_us - clock.now_us
        now_us = clock.now_us
        contended = meet_rivals(terms, state, op, now_us, client.txn_id)
        observed = None if request.evaluate is None else request.evaluate()
        success = op not in CONDITIONAL_OPERATIONS or bool(observed)
        rest_us = answer_us(_draw_other_us, self, terms, state, sent, slot, size_bytes, now_us, contended, success)
        yield rest_us
        return StorageResult(success, (now_us - sent_us + rest_us) / 1000.0, size_bytes, observed)


def _draw_other_us(store: ObjectStore, request: int, what: int, key: int, counter: int, size_bytes: int) -> int:
    return store._draws_of(request).others_us[what](key, counter, size_bytes)


def _window_us(near: ExtraTime | Crowding | None) -> int:
    return 0 if near is None else int(near.window_ms * 1000.0 + 0.5)


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
