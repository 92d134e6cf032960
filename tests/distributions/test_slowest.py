"""The slowest of n parallel draws has the distribution of the maximum of n draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from endive.distributions import (
    LatencyDistribution,
    LognormalLatency,
    MixtureLatency,
    UniformLatency,
    sample_many_us,
)
from endive.rng import stream_key

COUNT = 20_000
KEY, OTHER_KEY = stream_key(1, "slowest"), stream_key(2, "slowest")
# Kolmogorov and Smirnov: two samples of one law exceed this in one of a thousand cases; seeds are fixed.
DISTANCE_MAX = 1.95 * math.sqrt(2.0 / COUNT)


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference between two empirical distribution functions."""
    places = np.unique(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(sample), places, side="right") / sample.size for sample in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def slowest(latency: LatencyDistribution, parallel: int) -> np.ndarray:
    return np.array([latency.slowest_us(KEY, draw * parallel, parallel) for draw in range(COUNT)])


def brute_force(latency: LatencyDistribution, parallel: int) -> np.ndarray:
    code = latency.code()
    assert code is not None
    return sample_many_us(code, 0, OTHER_KEY, 0, COUNT * parallel).reshape(COUNT, parallel).max(axis=1)


@pytest.mark.parametrize("parallel", [2, 4, 30])
def test_it_is_distributed_as_the_maximum(latency: LatencyDistribution, parallel: int) -> None:
    assert distance(slowest(latency, parallel), brute_force(latency, parallel)) < DISTANCE_MAX


def test_the_comparison_can_fail() -> None:
    latency = LognormalLatency(4.0, 0.5)

    assert distance(slowest(latency, 4), brute_force(latency, 5)) > 2.0 * DISTANCE_MAX


def test_the_median_of_the_slowest_of_many_is_far_out() -> None:
    latency = UniformLatency(0.0, 1000.0)
    drawn_us = slowest(latency, 1_000)

    expected_share = 0.5
    observed = float((drawn_us <= 1e6 * 0.5 ** (1 / 1_000)).mean())
    assert abs(observed - expected_share) < 4.5 * 0.5 / math.sqrt(COUNT)


def test_a_mixture_takes_the_slowest_of_the_very_draws_it_would_have_made() -> None:
    mixture = MixtureLatency(((0.9, LognormalLatency(3.0, 0.2)), (0.1, LognormalLatency(5.0, 0.9))))

    for counter in range(0, 700, 7):
        expected = max(mixture.sample_us(KEY, counter + index) for index in range(7))
        assert expected == mixture.slowest_us(KEY, counter, 7)


def test_more_requests_never_end_sooner(smooth: LatencyDistribution) -> None:
    for counter in range(50):
        waits = [smooth.slowest_us(KEY, counter, count) for count in (1, 2, 4, 8, 1_000, 10**6)]
        assert waits == sorted(waits)
