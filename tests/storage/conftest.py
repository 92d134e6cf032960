"""A clock small enough to see through, and clients that ask on it."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import pytest

from endive.distributions import FixedLatency, LatencyDistribution
from endive.rng import stream_key
from endive.storage import Client, Exchange, ObjectStore, Profile, StorageResult
from endive.storage.profile import ExtraTime, Figure
from endive.storage.requests import CAPABILITIES, CONDITIONAL_OPERATIONS


class Task:
    """One running request: what it waited for, and its answer when it has one."""

    def __init__(self) -> None:
        self.waits_us: list[int] = []
        self.end_us: int | None = None
        self.value: StorageResult | None = None


class FakeClock:
    """Runs requests side by side; simultaneous ones in the order they were started."""

    def __init__(self) -> None:
        self.now_us = 0
        self._pending: list[tuple[int, int]] = []
        self._running: list[tuple[Exchange, Task]] = []

    def start(self, request: Exchange, at_us: int = 0) -> Task:
        task = Task()
        self._running.append((request, task))
        heapq.heappush(self._pending, (at_us, len(self._running) - 1))
        return task

    def run(self) -> None:
        while self._pending:
            self.now_us, index = heapq.heappop(self._pending)
            request, task = self._running[index]
            try:
                wait_us = next(request)
            except StopIteration as end:
                task.end_us, task.value = self.now_us, end.value
                continue
            task.waits_us.append(wait_us)
            heapq.heappush(self._pending, (self.now_us + wait_us, index))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def new_client(clock: FakeClock) -> Callable[..., Client]:
    def make(txn_id: int = 0, **rest: Any) -> Client:
        return Client(stream_key(42, f"txn {txn_id}"), txn_id, clock, **rest)

    return make


@pytest.fixture
def client(new_client: Callable[..., Client]) -> Client:
    return new_client()


def figure(distribution: LatencyDistribution) -> Figure:
    return Figure(distribution=distribution, text="made up", source="a test")


@pytest.fixture
def new_store(clock: FakeClock) -> Callable[..., ObjectStore]:
    """A store that can do everything; latencies in ms, by name of operation."""

    def make(
        *,
        latency_ms: float = 10.0,
        refusal_ms: float | None = None,
        share: float = 0.5,
        window_ms: float = 0.0,
        penalty_ms: float = 0.0,
        **rest: Any,
    ) -> ObjectStore:
        figures = {(op, True): figure(FixedLatency(latency_ms)) for op in CAPABILITIES}
        if refusal_ms is not None:
            figures |= {(op, False): figure(FixedLatency(refusal_ms)) for op in CONDITIONAL_OPERATIONS}
        late = ExtraTime(window_ms=window_ms, extra=FixedLatency(penalty_ms), text="made up", source="a test")
        profile = Profile(
            name="made_up",
            title="Made up",
            description="",
            vintage="user",
            capabilities=frozenset(CAPABILITIES),
            figures=figures,
            leg_shares=dict.fromkeys(CAPABILITIES, share),
            contention=dict.fromkeys(CONDITIONAL_OPERATIONS, late) if window_ms else {},
            **rest,
        )
        store = ObjectStore(profile)
        store.attach(clock)
        return store

    return make
