"""Mixtures: weights, quantiles across atoms and gaps, and refusals."""

import re

import pytest

from endive.distributions import FixedLatency, MixtureLatency, SizeBasedLatency, UniformLatency
from endive.rng import stream_key

KEY = stream_key(42, "mixture")
MIB = 1 << 20


def test_quantiles_step_over_the_gap_between_atoms() -> None:
    mixture = MixtureLatency(((0.5, FixedLatency(1.0)), (0.25, FixedLatency(2.0)), (0.25, FixedLatency(8.0))))

    assert [1.0, 1.0, 2.0, 8.0, 8.0] == [mixture.quantile(p) for p in (0.0, 0.4, 0.6, 0.9, 1.0)]
    assert [0.0, 0.5, 0.75, 1.0] == [mixture.cdf(ms) for ms in (0.5, 1.5, 2.0, 8.0)]


def test_the_quantile_undoes_the_cdf_where_components_overlap() -> None:
    mixture = MixtureLatency(((0.5, UniformLatency(0.0, 10.0)), (0.5, UniformLatency(5.0, 25.0))))

    assert 0.5 * 0.8 + 0.5 * 0.15 == pytest.approx(mixture.cdf(8.0), rel=1e-12)
    assert 8.0 == pytest.approx(mixture.quantile(0.475), rel=1e-9)


def test_variance_counts_the_distance_between_components() -> None:
    mixture = MixtureLatency(((0.5, UniformLatency(0.0, 12.0)), (0.5, FixedLatency(10.0))))

    assert 0.5 * 12.0 + 4.0 == pytest.approx(mixture.variance(), rel=1e-14)


def test_a_component_may_grow_with_size() -> None:
    mixture = MixtureLatency(((1.0, SizeBasedLatency(10.0, 5.0, 0.0)), (1.0, FixedLatency(3.0))))

    assert {3_000, 20_000} == {mixture.sample_us(KEY, counter, 2 * MIB) for counter in range(100)}
    assert 11.5 == pytest.approx(mixture.at_size(2 * MIB).mean(), rel=1e-14)


@pytest.mark.parametrize(
    ("components", "message"),
    [
        ((), "components = [] is not allowed; give at least one weighted distribution."),
        (((0.0, FixedLatency(1.0)),), "components: weight = 0.0 is not allowed; give a number above 0."),
        (((1.0, 5.0),), "components: 5.0 is not allowed; give a latency distribution."),
    ],
)
def test_components_that_make_no_mixture_are_refused(components, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MixtureLatency(components)
