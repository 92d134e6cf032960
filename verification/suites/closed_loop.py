"""The experiment behind the measured curves: N clients write one object conditionally, one request after another.

Each client sends its next request when the answer to the last has come, with the version it then knows. Figures are the
profile's, the walk of a conditional request is the storage's own (``endive.storage.contention``).

What a refused client had to do before its next try is told only by the shape of the curves. Three readings were tried:
it learns the version its request was refused for; it pays a read of the object; it learns the newest version when the
refusal arrives, at no extra cost. Only the last fits the failure shares and the successes per second of every provider
with refusals as slow as they were measured, so it is the one simulated here.

The clients run as one compiled loop, because a fit runs them thousands of times. ``tests/verification`` hold it to
``ObjectStore``, request for request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import draw_us
from endive.kernel import element_of, fill, jitted, records, step
from endive.record import Int8, Int64, Record, record
from endive.rng import stream_key, substream
from endive.storage import APPEND, CAS, CATALOG, ObjectStore, Profile
from endive.storage.contention import (
    ObjectState,
    ObjectTerms,
    admitted_us,
    answer_us,
    held_back_us,
    meet_rivals,
    request_leg_us,
)
from endive.vocabulary import N_OPERATIONS

DRAWS_PER_REQUEST: Final = 4
SIZE_BYTES: Final = 100
SUCCESSES: Final = 20_000
SEED: Final = 1
STREAM: Final = "closed_loop"
OPERATIONS: Final = {"cas": CAS, "append": APPEND}

_SUCCESS: Final = -1  # what is drawn first: its place is before those of ``contention.Draw``
_REACHES: Final = 0  # a client's next event: its request reaches the object
_WAITS: Final = 1  # it has waited there
_ANSWERED: Final = 2

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@record
class LoopTarget(Record):
    """The object that is written, its store's terms, and its version."""

    terms: ObjectTerms
    state: ObjectState
    version: Int64


@record
class LoopClient(Record):
    """One client, and its request under way."""

    key: Int64
    counter: Int64 = -DRAWS_PER_REQUEST
    latency_us: Int64
    leg_us: Int64
    sent_us: Int64
    known: Int64 = -1  # the first turn makes it 0, as if a success had been answered
    stage: Int8 = _ANSWERED
    is_success: Int8 = 1


class LoopDraws(NamedTuple):
    """The codes of the store's distributions, and where each begins."""

    codes: Floats
    places: Ints


_target_at = element_of(LoopTarget)
_client_at = element_of(LoopClient)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopResult:
    """What the clients achieved."""

    success_per_s: float
    failure_pct: float
    success_mean_ms: float
    success_median_ms: float
    success_p95_ms: float
    success_p99_ms: float


def run_closed_loop(
    profile: Profile, op: str, clients: int, *, successes: int = SUCCESSES, seed: int = SEED
) -> LoopResult:
    """N clients on one object of this store until so many writes have succeeded."""
    storage = ObjectStore(profile)
    code = OPERATIONS[op]
    target, callers = records(LoopTarget, 1), records(LoopClient, clients)
    fill(target[0]["terms"], storage.terms)
    key = stream_key(seed, STREAM)
    callers["key"] = [substream(key, i) for i in range(clients)]
    latencies_us = np.zeros(successes, np.int64)
    draws, request = _draws(storage, code), CATALOG * N_OPERATIONS + code
    due_us = np.zeros(clients, np.int64)
    now_us, failures = _run(draws, request, target.ctypes.data, callers.ctypes.data, due_us, latencies_us)
    p50, p95, p99 = np.quantile(latencies_us, [0.5, 0.95, 0.99]) / 1e3
    return LoopResult(
        success_per_s=successes / (now_us / 1e6),
        failure_pct=100.0 * failures / (successes + failures),
        success_mean_ms=float(latencies_us.mean()) / 1e3,
        success_median_ms=float(p50),
        success_p95_ms=float(p95),
        success_p99_ms=float(p99),
    )


def _draws(storage: ObjectStore, op: int) -> LoopDraws:
    """Success, and what else may be drawn, in the order of its codes."""
    outcomes = (storage.latency(CATALOG, op, outcome) for outcome in (True, False))
    crowd = (table.penalty for table in storage.crowd_tables(op))
    parts = [_code(each) for each in (*outcomes, storage.penalty(op), storage.throttle_delay(op), *crowd)]
    sizes = [0, *(part.size for part in parts[:-1])]
    return LoopDraws(np.concatenate(parts), np.cumsum(sizes, dtype=np.int64))


def _code(distribution: LatencyDistribution | None) -> Floats:
    code = FixedLatency(0.0).code() if distribution is None else distribution.code()
    assert code is not None, "a measured profile has distributions the compiled loop can draw from"
    return code


@step
def _drawn_us(draws: LoopDraws, request: int, what: int, key: int, counter: int, size_bytes: int) -> int:
    return draw_us(draws.codes, draws.places[what - _SUCCESS], key, counter, size_bytes)


@step
def _send(draws: LoopDraws, target: LoopTarget, client: LoopClient, request: int, now_us: int) -> int:
    """The next request leaves; when it reaches the object."""
    client.counter += DRAWS_PER_REQUEST
    client.latency_us = _drawn_us(draws, request, _SUCCESS, client.key, client.counter, SIZE_BYTES)
    client.leg_us = request_leg_us(client.latency_us, target.terms.leg_shares[request % N_OPERATIONS])
    client.sent_us = now_us
    client.stage = _REACHES
    return now_us + client.leg_us


@step
def _evaluate(draws: LoopDraws, target: LoopTarget, client: LoopClient, request: int, number: int, now_us: int) -> int:
    """The object takes the request; when the answer arrives."""
    op = request % N_OPERATIONS
    contended = meet_rivals(target.terms, target.state, op, now_us, number)
    success = client.known == target.version
    if success:
        target.version += 1
    client.is_success = success
    client.stage = _ANSWERED
    return now_us + answer_us(
        _drawn_us, draws, target.terms, target.state, client, request, SIZE_BYTES, now_us, contended, success
    )


@jitted
def _run(
    draws: LoopDraws, request: int, target_address: int, clients_address: int, due_us: Ints, latencies_us: Ints
) -> tuple[int, int]:
    """Time when the last success was answered, and refusals answered by then."""
    target = _target_at(target_address, 0)
    state = target.state
    successes, failures = -due_us.size, 0
    while True:
        i = int(np.argmin(due_us))  # the first of those due at one instant
        now_us = due_us[i]
        client = _client_at(clients_address, i)
        if client.stage == _ANSWERED:
            if client.is_success == 1:
                client.known += 1
                if successes >= 0:
                    latencies_us[successes] = now_us - client.sent_us
                successes += 1
                if successes == latencies_us.size:
                    return now_us, failures
            else:
                client.known = target.version
                failures += 1
            due_us[i] = _send(draws, target, client, request, now_us)
            continue
        if client.stage == _REACHES:
            client.stage = _WAITS
            held_us = held_back_us(_drawn_us, draws, target.terms, state, client, request, now_us, i)
            if held_us > 0:
                due_us[i] = now_us + held_us
                continue
        if admitted_us(now_us, state.next_free_us) > now_us:
            due_us[i] = admitted_us(now_us, state.next_free_us)
            continue
        due_us[i] = _evaluate(draws, target, client, request, i, now_us)
