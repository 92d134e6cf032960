"""A sum drawn from tables has the law of the sum of its draws: the mean exactly, the rest within sampling error."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from endive.distributions import (
    SUM_COUNT_MIN,
    EmpiricalLatency,
    ExponentialLatency,
    FixedLatency,
    LatencyDistribution,
    LognormalLatency,
    MixtureLatency,
    SizeBasedLatency,
    UniformLatency,
    draw_sum_us,
    draw_us,
    sample_many_us,
)
from endive.distributions.code import (
    CONSTANT,
    LONGEST_MS,
    LONGEST_US,
    Component,
    FloatArray,
    component_ms,
    draws_us,
    encode,
)
from endive.distributions.sums import SUM_LEVELS
from endive.rng import stream_key

KEY, OTHER_KEY = stream_key(1, "sums"), stream_key(2, "sums")
READ = LognormalLatency.by_median(27.0, 0.62, min_latency_ms=10.0)
WRITE = SizeBasedLatency(60.0, 20.0, 0.29, min_latency_ms=50.0)
MIXED = MixtureLatency(
    ((0.7, LognormalLatency.by_median(20.0, 0.3)), (0.2, FixedLatency(7.0)), (0.1, UniformLatency(100.0, 300.0)))
)
_LEVELS_AT = 5  # where a code of sums says where its tables are


def code_of(latency: LatencyDistribution, size_bytes: int = 0, parallel: int = 1) -> FloatArray:
    code = latency.summed_code(size_bytes, parallel)
    assert code is not None
    return code


def moments_ms(code: FloatArray, level: int) -> tuple[float, float]:
    """Mean and variance of the table of 2**level draws: three points of Gauss on each cell, exact for parabolas."""
    offset = int(code[_LEVELS_AT + level])
    values, weights = [], []
    for is_upper in (False, True):
        for octave in range(52):
            start = math.ldexp(1.0, octave - 53)
            for cell in range(8):
                width = start / 8
                for place, weight in ((-math.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (math.sqrt(0.6), 5 / 18)):
                    tail = start + (cell + 0.5 + 0.5 * place) * width
                    values.append(component_ms(code, offset, offset + 1, tail, is_upper, 0))
                    weights.append(weight * width)
    mean = math.fsum(w * v for w, v in zip(weights, values, strict=True))
    return mean, math.fsum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True))


def sums_ms(latency: LatencyDistribution, count: int, draws: int, size_bytes: int = 0, parallel: int = 1) -> FloatArray:
    code = code_of(latency, size_bytes, parallel)
    return np.array([draw_sum_us(code, 0, KEY, 1_000 * index, count, size_bytes) for index in range(draws)]) / 1_000.0


@pytest.mark.parametrize("level", [1, 3, 6, SUM_LEVELS])
def test_tables_keep_the_mean_and_nearly_the_variance(moderate: LatencyDistribution, level: int) -> None:
    code = code_of(moderate)
    if code[0] == 0.0:
        assert 0.0 == pytest.approx(moderate.variance(), abs=1e-12)
        return
    mean, variance = moments_ms(code, level)

    assert 2**level * moderate.mean() == pytest.approx(mean, rel=1e-6)
    assert 2**level * moderate.variance() == pytest.approx(variance, rel=1e-3)


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize(
    "summed", [READ, WRITE, MIXED, UniformLatency(1.0, 9.0)], ids=["read", "write", "mixture", "uniform"]
)
def test_quantiles_of_a_sum_are_those_of_summed_draws(summed: LatencyDistribution, parallel: int) -> None:
    assert [] == quantiles_apart(summed, 20, 20, parallel)


def test_the_comparison_of_quantiles_can_fail() -> None:
    assert ["P1", "P50", "P99"] == quantiles_apart(READ, 20, 22)


def quantiles_apart(latency: LatencyDistribution, count: int, brute_count: int, parallel: int = 1) -> list[str]:
    """The quantiles that a sum of ``count`` and a brute-force sum of ``brute_count`` do not share."""
    draws, brute_draws = 10_000, 10_000
    drawn = sums_ms(latency, count, draws, parallel=parallel)
    own = latency.code()
    assert own is not None
    singles = sample_many_us(own, 0, OTHER_KEY, 0, brute_draws * brute_count * parallel).reshape(-1, parallel)
    brute = singles.max(axis=1).reshape(brute_draws, brute_count).sum(axis=1) / 1_000.0
    apart = []
    for name, p in (("P1", 0.01), ("P50", 0.5), ("P99", 0.99)):
        share = float((brute <= np.quantile(drawn, p)).mean())
        if abs(share - p) > 4.5 * math.sqrt(p * (1.0 - p) * (1.0 / draws + 1.0 / brute_draws)):
            apart.append(name)
    return apart


def test_a_sum_is_one_draw_for_each_one_bit_of_its_count() -> None:
    code = code_of(READ)
    tables = [int(code[_LEVELS_AT + level]) for level in range(SUM_LEVELS + 1)]

    expected_us = sum(draw_us(code, tables[bit], KEY, 7 + bit, 0) for bit in (0, 2, 3, 10))
    assert expected_us == draw_sum_us(code, 0, KEY, 7, 0b100_0000_1101, 0)
    repeated_us = sum(draw_us(code, tables[SUM_LEVELS], KEY, 7 + SUM_LEVELS + index, 0) for index in range(5))
    assert repeated_us == draw_sum_us(code, 0, KEY, 7, 5 << SUM_LEVELS, 0)


@pytest.mark.parametrize("parallel", [1, 4])
@pytest.mark.parametrize("summed", [READ, MIXED], ids=["lognormal", "mixture"])
def test_a_short_sum_is_drawn_one_by_one(summed: LatencyDistribution, parallel: int) -> None:
    own = summed.code() if parallel == 1 else summed.slowest_code(parallel)
    for count in range(SUM_COUNT_MIN):
        if own is not None:
            expected_us = draws_us(own, 0, KEY, 3, parallel, count, 0)
        else:
            expected_us = sum(summed.slowest_us(KEY, 3 + parallel * index, parallel) for index in range(count))
        assert expected_us == draw_sum_us(code_of(summed, parallel=parallel), 0, KEY, 3, count, 0)


def test_a_sum_of_constants_is_exact() -> None:
    assert 1_000_003 * 12_346 == FixedLatency(12.3456).sum_us(KEY, 5, 1_000_003)
    assert 9 * 4_000 == MixtureLatency(((0.5, FixedLatency(4.0)), (0.5, FixedLatency(4.0)))).sum_us(KEY, 5, 9)


def test_without_a_floor_one_code_holds_for_every_size() -> None:
    latency = SizeBasedLatency(60.0, 20.0, 0.29)
    for size_bytes in (0, 1 << 20, 50 << 20):
        scale = 1.0 + size_bytes / (3 << 20)
        expected_us = draw_sum_us(code_of(latency), 0, KEY, 4, 1_000, 0) * scale
        assert expected_us == pytest.approx(draw_sum_us(code_of(latency), 0, KEY, 4, 1_000, size_bytes), abs=20.0)


def test_under_a_floor_tables_are_for_one_size_and_others_are_drawn_one_by_one() -> None:
    size_bytes = 2 << 20
    code = code_of(WRITE, size_bytes)
    at_size = WRITE.at_size(size_bytes)

    mean, variance = moments_ms(code, 5)
    assert 32 * at_size.mean() == pytest.approx(mean, rel=1e-6)
    assert 32 * at_size.variance() == pytest.approx(variance, rel=1e-3)
    own = WRITE.code()
    assert own is not None
    assert draws_us(own, 0, KEY, 1, 1, 100, 12_345) == draw_sum_us(code, 0, KEY, 1, 100, 12_345)


def test_a_law_with_too_long_a_tail_for_a_grid_is_drawn_one_by_one() -> None:
    latency = LognormalLatency(3.0, 4.0)
    own = latency.code()
    assert own is not None

    assert latency.summed_code() is None
    assert draws_us(own, 0, KEY, 2, 1, 50, 0) == latency.sum_us(KEY, 2, 50)


@pytest.mark.parametrize(
    ("summed", "size_bytes", "parallel", "expected"),
    [
        (READ, 0, 1, "f1aff9a3dfeb3564"),
        (WRITE, 1 << 20, 4, "433c23993f54632a"),
        (MIXED, 0, 3, "bbe9af7799279861"),
        (EmpiricalLatency(((0.0, 5.0), (0.5, 10.0), (0.9, 20.0), (0.99, 100.0))), 0, 1, "c3af9903ac944a71"),
        (ExponentialLatency(100.0), 0, 1, "ed23201dd36c3e8d"),
    ],
    ids=["read", "write", "mixture", "empirical", "exponential"],
)
def test_tables_have_the_same_bits_on_every_machine(
    summed: LatencyDistribution, size_bytes: int, parallel: int, expected: str
) -> None:
    content = code_of(summed, size_bytes, parallel).astype("<f8").tobytes()

    assert expected == hashlib.blake2b(content, digest_size=8).hexdigest()


def test_a_sum_that_is_longer_than_any_clock_stays_at_the_longest_there_is():
    code = encode([(1.0, Component(kind=CONSTANT, shift_ms=LONGEST_MS))])

    assert LONGEST_US == draws_us(code, 0, 1, 0, 1, 20_000, 0)  # added up, it would not fit 64 bits


def test_codes_of_sums_can_be_laid_end_to_end() -> None:
    code = code_of(READ)
    joined = np.concatenate([np.zeros(17), code])

    for count in (3, 100, 5 << SUM_LEVELS):
        assert draw_sum_us(code, 0, KEY, 9, count, 0) == draw_sum_us(joined, 17, KEY, 9, count, 0)
