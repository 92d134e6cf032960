"""Builders of sources, for tests that vary one thing about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from endive.distributions import ExponentialLatency, LognormalLatency
from endive.formats.operation import Operation
from endive.transaction.retry import Backoff
from endive.transaction.transaction_values import TransactionTerms
from endive.vocabulary import N_KINDS, ROW_DELTA, SERIALIZABLE
from endive.workload import NEVER_US, Choice, Renewal, Source, UniformPartitionSelector, UniformTableSelector

SEED = 42


def weighing(*weights: float) -> tuple[float, ...]:
    """Weights of the first kinds of txns; the others never come."""
    return weights + (0.0,) * (N_KINDS - len(weights))


@pytest.fixture(scope="session")
def terms() -> TransactionTerms:
    return TransactionTerms(
        retries_max=4,
        total_timeout_us=1_800_000_000,
        application_retries=0,
        backoff=Backoff(policy="iceberg", base_ms=100.0, max_ms=60_000.0, jitter=0.1),
        operation=Operation(form=ROW_DELTA, isolation=SERIALIZABLE, rewritten=1),
        real_conflict_probability=0.0,
    )


@pytest.fixture(scope="session")
def make_tables() -> Callable[..., Choice]:
    """Tables chosen uniformly; 1 of 1 unless told otherwise."""

    def make(**changes: Any) -> Choice:
        parts = {"total": 1, "count": 1, "count_alpha": 0.0, "selector": UniformTableSelector(1.0)}
        return Choice(**(parts | changes))

    return make


@pytest.fixture(scope="session")
def make_partitions() -> Callable[..., Choice]:
    """Partitions chosen uniformly; 2 of 10, half of them written, unless told otherwise."""

    def make(**changes: Any) -> Choice:
        parts = {"total": 10, "count": 2, "count_alpha": 0.0, "selector": UniformPartitionSelector(0.5)}
        return Choice(**(parts | changes))

    return make


@pytest.fixture(scope="session")
def make_source(terms: TransactionTerms, make_tables: Callable[..., Choice]) -> Callable[..., Source]:
    """A source of fast appends to one table, one a second; ``changes`` are fields of ``Source``."""

    def make(**changes: Any) -> Source:
        parts = {
            "name": "default",
            "index": 0,
            "seed": SEED,
            "arrivals": Renewal(start_us=0, stop_us=NEVER_US, gap=ExponentialLatency(1000.0)),
            "kind_weights": weighing(1.0),
            "runtime": LognormalLatency.by_mean(180_000.0, 1.5, shift_ms=30_000.0),
            "tables": make_tables(),
            "partitions": None,
            "terms": terms,
        }
        return Source(**(parts | changes))

    return make
