"""The slowest of n parallel draws has the distribution of the maximum of n draws."""

import math

import numpy as np
import pytest

from endive.distributions import (
    FixedLatency,
    GammaLatency,
    LatencyDistribution,
    LognormalLatency,
    MixtureLatency,
    UniformLatency,
    draw_us,
    sample_many_us,
)
from endive.distributions.code import draws_us, read_table
from endive.distributions.slowest import slowest_code, tail_of_one
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


def test_a_mixture_takes_the_slowest_of_the_very_draws_it_would_have_made() -> None:
    mixture = MixtureLatency(((0.9, LognormalLatency(3.0, 0.2)), (0.1, LognormalLatency(5.0, 0.9))))

    for counter in range(0, 700, 7):
        expected = max(mixture.sample_us(KEY, counter + index) for index in range(7))
        assert expected == mixture.slowest_us(KEY, counter, 7)


@pytest.mark.parametrize("parallel", [2, 4, 7, 100])
def test_one_draw_from_the_code_of_the_slowest_is_the_slowest(parallel: int) -> None:
    latency = LognormalLatency.by_median(27.0, 0.6, min_latency_ms=12.0, latency_per_mib_ms=20.0)
    code = latency.slowest_code(parallel)
    assert code is not None
    for counter in range(500):
        expected_us = latency.slowest_us(KEY, counter, parallel, 300_000)
        assert draw_us(code, 0, KEY, counter, 300_000) == pytest.approx(expected_us, rel=1e-6, abs=1.0)


def test_far_out_in_either_tail_too() -> None:
    latency = GammaLatency(mean_ms=10.0, shape=2.0)
    parts = slowest_code(latency.parts(), 5)
    assert parts is not None
    for tail in (2.0**-53, 1e-12, 1e-6, 0.01, 0.3, 0.5):
        for is_upper in (False, True):
            one_tail, one_is_upper = tail_of_one(tail, is_upper, 5)
            expected = latency._tail_quantile(one_tail, one_is_upper)
            found = read_table.py_func(parts, 9, int(parts[8]), tail, is_upper) * parts[3] + parts[5]
            assert found == pytest.approx(expected, rel=1e-5)


def test_there_is_no_such_code_where_the_slowest_is_not_one_draw() -> None:
    mixed = MixtureLatency(((0.5, LognormalLatency(1.0, 0.5)), (0.5, UniformLatency(1.0, 2.0))))
    assert mixed.slowest_code(4) is None
    assert UniformLatency(1.0, 2.0).slowest_code(4) is None
    assert LognormalLatency(1.0, 0.5).slowest_code(1) is None


@pytest.mark.parametrize(
    "summed",
    [
        LognormalLatency(3.0, 0.5, 10.0),
        FixedLatency(2.0),
        MixtureLatency(((0.9, LognormalLatency(1.0, 0.5)), (0.1, UniformLatency(100.0, 200.0)))),
    ],
)
@pytest.mark.parametrize("stride", [1, 4])
def test_a_sum_of_draws_is_the_sum_of_each(summed: LatencyDistribution, stride: int) -> None:
    code = summed.code()
    assert code is not None
    one_by_one_us = sum(summed.sample_us(KEY, 7 + stride * index, 50_000) for index in range(300))
    assert draws_us(code, 0, KEY, 7, stride, 300, 50_000) == one_by_one_us
    assert draws_us(code, 0, KEY, 7, stride, 0, 50_000) == 0
