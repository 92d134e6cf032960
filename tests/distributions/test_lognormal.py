"""Three lognormals that share a number and nothing else; growth with size; floors and shifts."""

import math

import pytest

from endive.distributions import LognormalLatency, SizeBasedLatency, sample_many_us
from endive.rng import stream_key

MIB = 1 << 20
KEY = stream_key(42, "lognormal")


def test_the_three_parametrisations_are_three_distributions() -> None:
    by_mu = LognormalLatency(5.0, 0.8)
    by_median = LognormalLatency.by_median(5.0, 0.8)
    by_mean = LognormalLatency.by_mean(5.0, 0.8)

    assert math.exp(5.0) == pytest.approx(by_mu.quantile(0.5), rel=1e-14)
    assert 5.0 == pytest.approx(by_median.quantile(0.5), rel=1e-14)
    assert 5.0 == pytest.approx(by_mean.mean(), rel=1e-14)
    assert 5.0 * math.exp(0.32) == pytest.approx(by_median.mean(), rel=1e-14)
    assert 5.0 * math.exp(-0.32) == pytest.approx(by_mean.quantile(0.5), rel=1e-14)
    assert 3 == len({by_mu, by_median, by_mean})


def test_a_shift_moves_the_whole_and_is_part_of_the_mean_and_median_given() -> None:
    runtime = LognormalLatency.by_mean(180_000.0, 1.5, shift_ms=30_000.0)

    assert 180_000.0 == pytest.approx(runtime.mean(), rel=1e-14)
    assert 30_000.0 == runtime.quantile(0.0)
    assert 150_000.0**2 * math.expm1(2.25) == pytest.approx(runtime.variance(), rel=1e-12)
    assert 50.0 == pytest.approx(LognormalLatency.by_median(50.0, 1.0, shift_ms=20.0).quantile(0.5), rel=1e-14)
    assert 20.0 + math.e == pytest.approx(LognormalLatency(1.0, 1.0, shift_ms=20.0).quantile(0.5), rel=1e-14)


@pytest.mark.parametrize("size_mib", [0, 1, 7])
def test_the_median_grows_with_size(size_mib: int) -> None:
    transfer = SizeBasedLatency(30.0, 20.0, 0.4)
    same = LognormalLatency.by_median(30.0, 0.4, latency_per_mib_ms=20.0)
    sized = LognormalLatency.by_median(30.0 + 20.0 * size_mib, 0.4)

    assert sized.quantile(0.5) == pytest.approx(transfer.at_size(size_mib * MIB).quantile(0.5), rel=1e-14)
    assert sized.quantile(0.9) == pytest.approx(same.at_size(size_mib * MIB).quantile(0.9), rel=1e-14)
    assert sized.mean() == pytest.approx(transfer.at_size(size_mib * MIB).mean(), rel=1e-14)
    for counter in range(100):
        expected = sized.sample_us(KEY, counter)
        assert abs(transfer.sample_us(KEY, counter, size_mib * MIB) - expected) <= 1
        assert abs(same.sample_us(KEY, counter, size_mib * MIB) - expected) <= 1
        assert abs(transfer.slowest_us(KEY, counter, 5, size_mib * MIB) - sized.slowest_us(KEY, counter, 5)) <= 1


def test_a_base_of_nothing_costs_nothing_for_an_empty_object() -> None:
    transfer = SizeBasedLatency(0.0, 10.0, 0.3, min_latency_ms=1.0)

    assert 1_000 == transfer.sample_us(KEY, 1)
    assert (1.0, 0.0, 1.0) == (transfer.mean(), transfer.variance(), transfer.quantile(0.9))
    assert 10.0 == pytest.approx(transfer.at_size(MIB).quantile(0.5), rel=1e-14)


def test_the_longest_latency_keeps_a_clock_of_64_bits_safe() -> None:
    absurd = LognormalLatency(60.0, 8.0)
    code = absurd.code()
    assert code is not None

    assert 10**15 == int(sample_many_us(code, 0, KEY, 0, 1_000).max())


def test_a_floor_can_be_raised_and_not_lowered() -> None:
    floored = LognormalLatency.by_median(30.0, 0.4, min_latency_ms=10.0)

    assert LognormalLatency.by_median(30.0, 0.4, min_latency_ms=25.0) == floored.with_floor(25.0)
    assert floored == floored.with_floor(5.0)
