"""A user's own distribution needs only its quantile; mixtures may hold it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from endive.distributions import ExponentialLatency, FixedLatency, LatencyDistribution, MixtureLatency
from endive.rng import stream_key, uniform

KEY = stream_key(42, "own")
COUNT = 20_000


@dataclass(frozen=True)
class ParetoLatency(LatencyDistribution):
    """Pareto of index 3 from ``least_ms``: mean 1.5, variance 0.75, of a least of one."""

    least_ms: float
    min_latency_ms: float = 0.0

    def quantile(self, p: float) -> float:
        return math.inf if p == 1.0 else self.least_ms * float((1.0 - p) ** (-1.0 / 3.0))


def test_it_draws_its_quantile_at_the_uniform_of_the_draw() -> None:
    latency = ParetoLatency(10.0)

    for counter in range(100):
        expected_ms = latency.quantile(uniform(KEY, counter))
        assert expected_ms == latency.sample_ms(KEY, counter)
        assert int(expected_ms * 1000.0 + 0.5) == latency.sample_us(KEY, counter)


def test_it_has_no_code_and_so_belongs_to_the_reference_engine() -> None:
    assert None is ParetoLatency(10.0).code()
    assert None is MixtureLatency(((1.0, ParetoLatency(10.0)), (1.0, FixedLatency(5.0)))).code()


def test_its_mean_and_distribution_follow_from_the_quantile() -> None:
    latency = ParetoLatency(10.0)

    assert 15.0 == pytest.approx(latency.mean(), rel=1e-9)
    assert 75.0 == pytest.approx(latency.variance(), rel=1e-4)
    assert 0.875 == pytest.approx(latency.cdf(20.0), rel=1e-12)
    assert 0.0 == latency.cdf(9.0)


def test_its_floor_is_applied_and_counted() -> None:
    latency = ParetoLatency(10.0, min_latency_ms=20.0)
    drawn_ms = [latency.sample_ms(KEY, counter) for counter in range(COUNT)]

    assert 20.0 == min(drawn_ms)
    expected_mean = 0.875 * 20.0 + 0.125 * 30.0
    assert expected_mean == pytest.approx(latency.mean(), rel=1e-9)
    assert expected_mean == pytest.approx(ParetoLatency(10.0).with_floor(20.0).mean(), rel=1e-9)
    assert latency.sample_us(KEY, 3) == ParetoLatency(10.0).with_floor(20.0).sample_us(KEY, 3)
    assert latency is latency.with_floor(1.0)


def test_the_slowest_of_several_is_the_maximum_in_distribution() -> None:
    latency = ParetoLatency(10.0)
    drawn_us = np.array([latency.slowest_us(KEY, counter, 5) for counter in range(COUNT)])

    share = latency.cdf(20.0) ** 5
    assert abs(float((drawn_us <= 20_000).mean()) - share) < 4.5 * math.sqrt(share * (1.0 - share) / COUNT)


def test_a_mixture_with_it_draws_as_a_mixture_does() -> None:
    mixture = MixtureLatency(((0.75, FixedLatency(5.0)), (0.25, ParetoLatency(10.0))), min_latency_ms=6.0)
    drawn_us = np.array([mixture.sample_us(KEY, counter) for counter in range(COUNT)])

    assert 6_000 == int(drawn_us.min())
    assert abs(float((drawn_us == 6_000).mean()) - 0.75) < 4.5 * math.sqrt(0.75 * 0.25 / COUNT)
    assert 0.75 * 6.0 + 0.25 * 15.0 == pytest.approx(mixture.mean(), rel=1e-9)
    assert max(mixture.sample_us(KEY, counter) for counter in (5, 6, 7)) == mixture.slowest_us(KEY, 5, 3)
    assert mixture.sample_us(KEY, 5) == mixture.slowest_us(KEY, 5, 1)


def test_a_mixture_draws_the_same_with_and_without_code() -> None:
    @dataclass(frozen=True)
    class Plain(LatencyDistribution):
        inner: LatencyDistribution

        def quantile(self, p: float) -> float:
            return self.inner.quantile(p)

    coded = MixtureLatency(((0.25, FixedLatency(5.0)), (0.75, ExponentialLatency(10.0))))
    plain = MixtureLatency(((0.25, FixedLatency(5.0)), (0.75, Plain(ExponentialLatency(10.0)))))

    for counter in range(500):
        assert coded.sample_ms(KEY, counter) == pytest.approx(plain.sample_ms(KEY, counter), rel=1e-6)
