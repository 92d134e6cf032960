"""The experiment behind the measured curves: N clients write one object conditionally, one request after another.

This file defines the clients: each sends its next request when the answer to the last has come, with the version it
then knows. Not here: figures (profiles have them) and the rules of a conditional request
(``endive.storage.contention``).

What a refused client had to do before its next try is told only by the shape of the curves. Three readings were tried:
it learns the version its request was refused for; it pays a read of the object; it learns the newest version when the
refusal arrives, at no extra cost. Only the last fits the failure shares and the successes per second of every provider
with refusals as slow as they were measured, so it is the one simulated here.

The clients run as one compiled loop, because a fit runs them thousands of times. ``tests/verification`` hold it to
``ObjectStore``, request for request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import draw_us
from endive.kernel import element_of, jitted, records
from endive.rng import stream_key, substream, uniform
from endive.storage import APPEND, CAS, CATALOG, ObjectStore, Profile
from endive.storage.contention import (
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
)

DRAWS_PER_REQUEST: Final = 4
_object = element_of(ObjectState)
SIZE_BYTES: Final = 100
SUCCESSES: Final = 20_000
SEED: Final = 1
STREAM: Final = "closed_loop"
OPERATIONS: Final = {"cas": CAS, "append": APPEND}

_REACHES: Final = 0  # a client's next event: its request reaches the object
_WAITS: Final = 1  # it has waited there
_ANSWERED: Final = 2
_SUCCEEDED: Final = 1
_REFUSED: Final = 0

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    success, refusal = (storage.latency(CATALOG, code, outcome).code() for outcome in (True, False))
    penalty, delay = (_code(extra) for extra in (storage.penalty(code), storage.throttle_delay(code)))
    crowd = [_code(table.penalty) for table in storage.crowd_tables(code)]
    assert success is not None, "a measured profile has distributions the compiled loop can draw from"
    assert refusal is not None
    codes = np.concatenate([success, refusal, penalty, delay, *crowd])
    crowd_at = success.size + refusal.size + penalty.size + delay.size
    crowd_sizes = [0, *(part.size for part in crowd)]
    target = records(ObjectState, 1)
    key = stream_key(seed, STREAM)
    keys = np.array([substream(key, i) for i in range(clients)], np.int64)
    latencies_us = np.zeros(successes, np.int64)
    now_us, failures = _run(
        codes,
        success.size,
        success.size + refusal.size,
        success.size + refusal.size + penalty.size,
        storage.leg_share(code),
        storage.contention_window_us(code),
        storage.throttle_window_us(code),
        storage.spacing_us,
        storage.crowd_window_us(code),
        np.array(storage.crowd_rivals(), np.int64),
        code,
        crowd_at + np.cumsum(crowd_sizes, dtype=np.int64),
        target.ctypes.data,
        keys,
        latencies_us,
    )
    p50, p95, p99 = np.quantile(latencies_us, [0.5, 0.95, 0.99]) / 1e3
    return LoopResult(
        success_per_s=successes / (now_us / 1e6),
        failure_pct=100.0 * failures / (successes + failures),
        success_mean_ms=float(latencies_us.mean()) / 1e3,
        success_median_ms=float(p50),
        success_p95_ms=float(p95),
        success_p99_ms=float(p99),
    )


def _code(extra: LatencyDistribution | None) -> Floats:
    code = FixedLatency(0.0).code() if extra is None else extra.code()
    assert code is not None
    return code


@jitted
def _is_throttled(state: ObjectState, now_us: int, client: int, throttle_us: int) -> bool:
    """Whether a request that reaches the object now is held back; the object remembers it either way."""
    throttled = is_contended(now_us, state.reached_us, state.reached_txn, client, throttle_us)
    state.reached_us = now_us
    state.reached_txn = client
    return throttled


@jitted
def _meets_rival(state: ObjectState, now_us: int, client: int, window_us: int, crowd_us: int) -> bool:
    """Whether the request is contended; the object remembers it either way."""
    contended = is_contended(now_us, state.last_us, state.last_txn, client, window_us)
    state.last_us = now_us
    state.last_txn = client
    if crowd_us > 0:
        meet_crowd(state, now_us, client, crowd_us)
    return contended


@jitted
def _crowded_us(codes: Floats, crowd_rivals: Ints, op: int, crowd_at: Ints, rivals: int, key: int, counter: int) -> int:
    """How much later a success is acknowledged because of the rivals it met."""
    table = crowd_table(crowd_rivals, op, rivals, uniform(key, counter + DRAW_CROWD))
    return 0 if table == NO_TABLE else draw_us(codes, crowd_at[table], key, counter + DRAW_CROWD + 1, 0)


@jitted
def _run(
    codes: Floats,
    refusal_at: int,
    penalty_at: int,
    delay_at: int,
    share: float,
    window_us: int,
    throttle_us: int,
    spacing_us: int,
    crowd_us: int,
    crowd_rivals: Ints,
    op: int,
    crowd_at: Ints,
    target: int,
    keys: Ints,
    latencies_us: Ints,
) -> tuple[int, int]:
    """Time when the last success was answered, and refusals answered by then."""
    clients = keys.size
    due_us = np.zeros(clients, np.int64)
    stage = np.full(clients, _ANSWERED, np.int64)
    outcome = np.full(clients, _SUCCEEDED, np.int64)
    known = np.full(clients, -1, np.int64)  # the first turn makes it 0, as if a success had been answered
    counter = np.full(clients, -DRAWS_PER_REQUEST, np.int64)
    sent_us = np.zeros(clients, np.int64)
    drawn_us = np.zeros(clients, np.int64)
    state = _object(target, 0)
    version, successes, failures = 0, -clients, 0
    while True:
        i = int(np.argmin(due_us))  # the first of those due at one instant
        now_us = due_us[i]
        if stage[i] == _ANSWERED:
            if outcome[i] == _SUCCEEDED:
                known[i] += 1
                if successes >= 0:
                    latencies_us[successes] = now_us - sent_us[i]
                successes += 1
                if successes == latencies_us.size:
                    return now_us, failures
            else:
                known[i] = version
                failures += 1
            counter[i] += DRAWS_PER_REQUEST
            drawn_us[i] = draw_us(codes, 0, keys[i], counter[i], SIZE_BYTES)
            sent_us[i] = now_us
            stage[i] = _REACHES
            due_us[i] = now_us + request_leg_us(drawn_us[i], share)
            continue
        if stage[i] == _REACHES:
            stage[i] = _WAITS
            if _is_throttled(state, now_us, i, throttle_us):
                due_us[i] = now_us + draw_us(codes, delay_at, keys[i], counter[i] + DRAW_DELAY, 0)
                if due_us[i] > now_us:
                    continue
        if admitted_us(now_us, state.next_free_us) > now_us:
            due_us[i] = admitted_us(now_us, state.next_free_us)
            continue
        contended = _meets_rival(state, now_us, i, window_us, crowd_us)
        latency_us = drawn_us[i]
        penalty_us = draw_us(codes, penalty_at, keys[i], counter[i] + DRAW_PENALTY, 0) if contended else 0
        if known[i] == version:
            version += 1
            outcome[i] = _SUCCEEDED
            state.next_free_us = next_free_us(now_us, spacing_us)
            if crowd_us > 0 and state.rivals > 0:
                penalty_us += _crowded_us(codes, crowd_rivals, op, crowd_at, state.rivals, keys[i], counter[i])
        else:
            outcome[i] = _REFUSED
            latency_us = draw_us(codes, refusal_at, keys[i], counter[i] + DRAW_REFUSAL, SIZE_BYTES)
        leg_us = request_leg_us(drawn_us[i], share)
        due_us[i] = now_us + answer_leg_us(latency_us, leg_us, penalty_us)
        stage[i] = _ANSWERED
