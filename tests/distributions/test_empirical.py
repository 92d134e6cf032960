"""Empirical latency: through the points it was given, level beyond them."""

import re

import pytest

from endive.distributions import EmpiricalLatency
from endive.distributions.code import component_ms
from endive.rng import stream_key, uniform

KEY = stream_key(42, "empirical")
POINTS = ((0.1, 2.0), (0.5, 10.0), (0.9, 20.0), (0.99, 100.0))


def test_it_passes_through_its_points_and_is_level_beyond() -> None:
    latency = EmpiricalLatency(POINTS)

    assert [2.0, 10.0, 20.0, 100.0] == [latency.quantile(p) for p, _ in POINTS]
    assert (2.0, 2.0) == (latency.quantile(0.0), latency.quantile(0.05))
    assert (100.0, 100.0) == (latency.quantile(0.999), latency.quantile(1.0))
    assert 15.0 == pytest.approx(latency.quantile(0.7), rel=1e-14)


def test_a_floor_cuts_the_line_where_it_crosses_it() -> None:
    latency = EmpiricalLatency(((0.0, 0.0), (1.0, 100.0)), min_latency_ms=40.0)

    assert 0.4 * 40.0 + 0.6 * 70.0 == pytest.approx(latency.mean(), rel=1e-14)
    second = 0.4 * 40.0**2 + (100.0**3 - 40.0**3) / 300.0
    assert second - latency.mean() ** 2 == pytest.approx(latency.variance(), rel=1e-12)


def test_many_points_are_searched_as_few_are() -> None:
    points = tuple((index / 200.0, float(index * index)) for index in range(201))
    latency = EmpiricalLatency(points)
    code = latency.code()
    assert code is not None

    for counter in range(500):
        u = uniform(KEY, counter)
        assert latency.quantile(u) == pytest.approx(latency.sample_ms(KEY, counter), rel=1e-12)
    assert 100.0**2 == pytest.approx(component_ms(code, 0, 1, 0.5, False, 0), rel=1e-14)


def test_repeated_values_make_an_atom() -> None:
    latency = EmpiricalLatency(((0.0, 5.0), (0.6, 5.0), (1.0, 9.0)))

    assert 0.6 == pytest.approx(latency.cdf(5.0), abs=1e-12)
    assert 0.0 == latency.cdf(4.999)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ((), "quantiles = [] is not allowed; give at least one [p, ms] pair."),
        (
            ((0.5, 5.0), (0.5, 6.0)),
            "quantiles: [0.5, 6.0] after [0.5, 5.0] is not allowed; "
            "p must rise from pair to pair, and ms must not fall.",
        ),
        (
            ((0.5, 5.0), (0.6, 4.0)),
            "quantiles: [0.6, 4.0] after [0.5, 5.0] is not allowed; "
            "p must rise from pair to pair, and ms must not fall.",
        ),
        (((1.5, 5.0),), "quantiles: p = 1.5 is not allowed; give a number of at least 0 and at most 1."),
        (((0.5, -5.0),), "quantiles: ms = -5.0 is not allowed; give a number of at least 0."),
        (((0.5,),), "quantiles: [0.5] is not allowed; give pairs of [p, ms]."),
        ((7.0,), "quantiles: 7.0 is not allowed; give pairs of [p, ms]."),
    ],
)
def test_points_that_make_no_line_are_refused(points, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        EmpiricalLatency(points)
