"""Every family's draws are held to the mean, variance and quantiles it reports."""

import hashlib
import math
import pickle
import re

import numpy as np
import pytest

from endive.distributions import (
    ExponentialLatency,
    FixedLatency,
    GammaLatency,
    LatencyDistribution,
    LognormalLatency,
    SizeBasedLatency,
    TruncatedNormalLatency,
    UniformLatency,
    sample_many_us,
)
from endive.rng import stream_key

COUNT = 200_000
SIGMAS = 4.5
KEY = stream_key(42, "families")
SHARES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)


def draws_us(latency: LatencyDistribution, key: int = KEY) -> np.ndarray:
    code = latency.code()
    assert code is not None
    return sample_many_us(code, 0, key, 0, COUNT)


def test_the_mean_of_the_draws_is_the_mean(latency: LatencyDistribution) -> None:
    drawn_ms = draws_us(latency) / 1000.0
    error_ms = math.sqrt(latency.variance() / COUNT)

    assert abs(drawn_ms.mean() - latency.mean()) <= SIGMAS * error_ms + 1e-9 * latency.mean()


def test_the_variance_of_the_draws_is_the_variance(moderate: LatencyDistribution) -> None:
    deviations = draws_us(moderate) / 1000.0 - moderate.mean()
    squares = deviations * deviations
    error = float(squares.std()) / math.sqrt(COUNT)

    assert abs(squares.mean() - moderate.variance()) <= SIGMAS * error + 1e-6


def test_the_quantiles_of_the_draws_are_the_quantiles(latency: LatencyDistribution) -> None:
    drawn_us = draws_us(latency)
    for p in SHARES:
        quantile_ms = latency.quantile(p)
        assert latency.cdf(quantile_ms) >= p - 1e-12
        quantile_us = int(quantile_ms * 1000.0 + 0.5)
        share = latency.cdf((quantile_us + 0.5) / 1000.0)  # what is rounded to at most that many microseconds
        error = math.sqrt(share * (1.0 - share) / COUNT)
        assert abs(float((drawn_us <= quantile_us).mean()) - share) <= SIGMAS * error, p


def test_closed_moments_agree_with_quadrature_of_the_quantiles(smooth: LatencyDistribution) -> None:
    mean = LatencyDistribution.mean(smooth)

    assert smooth.mean() == pytest.approx(mean, rel=1e-9)
    assert smooth.variance() == pytest.approx(smooth._moment(mean, 2), rel=1e-8)


def test_quantiles_rise_and_the_cdf_undoes_them(smooth: LatencyDistribution) -> None:
    quantiles = [smooth.quantile(p) for p in SHARES]

    assert quantiles == sorted(quantiles)
    for p, ms in zip(SHARES, quantiles, strict=True):
        if ms > smooth.min_latency_ms:
            assert abs(smooth.cdf(ms) - p) < 1e-9


def test_no_draw_is_under_the_floor_and_the_lifted_ones_are_at_it(floored: LatencyDistribution) -> None:
    drawn_us = draws_us(floored)
    floor_us = int(floored.min_latency_ms * 1000.0)
    share = floored.cdf(floored.min_latency_ms + 0.0005)

    assert floor_us == int(drawn_us.min())
    at_floor = float((drawn_us == floor_us).mean())
    assert abs(at_floor - share) <= SIGMAS * math.sqrt(share * (1.0 - share) / COUNT)
    assert max(floored.quantile(0.001), floored.min_latency_ms) == floored.quantile(0.001)


def test_one_draw_is_the_same_by_every_road(latency: LatencyDistribution) -> None:
    code = latency.code()
    assert code is not None
    laid_end_to_end = np.concatenate([np.full(17, -1.0), code, np.full(5, -1.0)])
    many = sample_many_us(laid_end_to_end, 17, KEY, 100, 50)

    for index in range(50):
        one_ms = latency.sample_ms(KEY, 100 + index)
        assert many[index] == latency.sample_us(KEY, 100 + index) == int(one_ms * 1000.0 + 0.5)
        assert many[index] == latency.slowest_us(KEY, 100 + index, 1)
        assert many[index] == latency.slowest_us(KEY, 100 + index, 0)


def test_a_distribution_survives_a_journey_to_another_process(latency: LatencyDistribution) -> None:
    before = latency.sample_us(KEY, 7)
    there = pickle.loads(pickle.dumps(latency))

    assert latency == there
    assert before == there.sample_us(KEY, 7)


def test_the_ends_of_the_quantile_function() -> None:
    assert (0.0, math.inf) == (ExponentialLatency(5.0).quantile(0.0), ExponentialLatency(5.0).quantile(1.0))
    assert (3.0, 9.0) == (UniformLatency(3.0, 9.0).quantile(0.0), UniformLatency(3.0, 9.0).quantile(1.0))
    assert 4.0 == UniformLatency(3.0, 9.0, min_latency_ms=4.0).quantile(0.0)
    assert 30.0 == LognormalLatency.by_mean(180.0, 0.8, shift_ms=30.0).quantile(0.0)
    assert 1.0 == TruncatedNormalLatency(50.0, 5.0, 1.0).quantile(0.0)
    for p in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="give a number from 0 to 1"):
            FixedLatency(1.0).quantile(p)


@pytest.mark.parametrize("shape", [3, 50])
def test_gamma_of_whole_shape_is_a_sum_of_exponentials(shape: int) -> None:
    gamma = GammaLatency(float(shape), float(shape))
    for p in SHARES:
        x = gamma.quantile(p)
        fewer_arrivals = sum(math.exp(k * math.log(x) - x - math.lgamma(k + 1)) for k in range(shape))
        assert 1.0 - p == pytest.approx(fewer_arrivals, rel=1e-11)


def test_known_draws_never_change() -> None:
    assert {
        "lognormal": 55_950,
        "truncated": 46_914,
        "exponential": 31_272,
        "gamma": 61_848,
        "uniform": 46_113,
        "size": 66_889,
        "slowest": 66_183,
    } == {
        "lognormal": LognormalLatency.by_median(61.0, 0.14).sample_us(KEY, 3),
        "truncated": TruncatedNormalLatency(50.0, 5.0, 1.0).sample_us(KEY, 3),
        "exponential": ExponentialLatency(100.0).sample_us(KEY, 3),
        "gamma": GammaLatency(100.0, 3.3).sample_us(KEY, 3),
        "uniform": UniformLatency(30.0, 90.0).sample_us(KEY, 3),
        "size": SizeBasedLatency(60.0, 20.0, 0.29).sample_us(KEY, 3, 1 << 20),
        "slowest": LognormalLatency.by_median(61.0, 0.14).slowest_us(KEY, 3, 4),
    }


@pytest.mark.parametrize(
    ("drawn", "digest"),
    [
        (LognormalLatency.by_median(61.0, 0.14), "145c6e901709c561"),
        (TruncatedNormalLatency(50.0, 5.0, 1.0), "996024c91404be91"),
        (ExponentialLatency(100.0), "732250567d33d8c1"),
        (GammaLatency(100.0, 3.3), "21e4254df09c0f89"),
    ],
)
def test_tables_have_the_same_bits_on_every_machine(drawn: LatencyDistribution, digest: str) -> None:
    code = drawn.code()
    assert code is not None
    assert digest == hashlib.blake2b(code.tobytes(), digest_size=8).hexdigest()


@pytest.mark.parametrize(
    ("build", "parameter", "allowed"),
    [
        (lambda: FixedLatency(-1.0), "ms = -1.0", "of at least 0"),
        (lambda: FixedLatency(math.nan), "ms = nan", "of at least 0"),
        (lambda: FixedLatency("5"), "ms = '5'", "of at least 0"),
        (lambda: FixedLatency(True), "ms = True", "of at least 0"),
        (lambda: FixedLatency(1.0, -2.0), "min_latency_ms = -2.0", "of at least 0"),
        (lambda: LognormalLatency(1.0, 9.0), "sigma = 9.0", "of at least 0 and at most 8"),
        (lambda: LognormalLatency(99.0, 1.0), "mu = 99.0", "of at least -60 and at most 60"),
        (lambda: LognormalLatency.by_median(0.0, 1.0), "median_ms = 0.0", "above 0"),
        (lambda: LognormalLatency.by_mean(20.0, 1.0, shift_ms=30.0), "mean_ms = 20.0", "above 30"),
        (lambda: ExponentialLatency(0.0), "mean_ms = 0.0", "above 0"),
        (lambda: UniformLatency(9.0, 3.0), "high_ms = 3.0", "of at least 9"),
        (lambda: GammaLatency(10.0, 0.01), "shape = 0.01", "of at least 0.1 and at most 10000"),
        (lambda: SizeBasedLatency(1.0, -1.0, 0.1), "latency_per_mib_ms = -1.0", "of at least 0"),
    ],
)
def test_a_bad_parameter_is_refused_by_name_value_and_range(build, parameter: str, allowed: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'{parameter} is not allowed; give a number {allowed}.')}$"):
        build()


def test_a_cut_that_leaves_nothing_of_a_normal_is_refused() -> None:
    what = "min_ms = 41.0 removes the whole of a normal with mean_ms = 10.0 and stddev_ms = 1.0"
    with pytest.raises(ValueError, match=f"^{re.escape(what)}; give a min_ms nearer to the mean.$"):
        TruncatedNormalLatency(10.0, 1.0, 41.0)
