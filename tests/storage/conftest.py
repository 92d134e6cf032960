"""Stores that are made up, and clients that ask them on a clock moved by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.clock import HandClock

from endive.distributions import FixedLatency, LatencyDistribution
from endive.rng import stream_key
from endive.storage import Client, ObjectStore, Profile
from endive.storage.profile import ExtraTime, Figure
from endive.storage.requests import CAPABILITIES, CONDITIONAL_OPERATIONS


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def new_client(clock: HandClock) -> Callable[..., Client]:
    def make(txn_id: int = 0, **rest: Any) -> Client:
        return Client(stream_key(42, f"txn {txn_id}"), txn_id, clock, **rest)

    return make


@pytest.fixture
def client(new_client: Callable[..., Client]) -> Client:
    return new_client()


def figure(distribution: LatencyDistribution) -> Figure:
    return Figure(distribution=distribution, text="made up", source="a test")


@pytest.fixture
def new_store(clock: HandClock) -> Callable[..., ObjectStore]:
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
