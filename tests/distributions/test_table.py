"""Quantile tables: near the exact quantile everywhere, continuous, and rising."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endive.distributions import GammaLatency, LatencyDistribution, LognormalLatency, TruncatedNormalLatency
from endive.distributions.code import component_ms
from endive.distributions.table import CELL_BITS_MAX, CELL_BITS_MIN, smooth_table
from endive.rng import uniform

RELATIVE_ERROR_MAX = 2.5e-7
EXTREME = {
    "a narrow lognormal": LognormalLatency.by_median(10.0, 0.001),
    "a very wide lognormal": LognormalLatency.by_median(1e-18, 8.0),  # its table ends below the longest latency
    "a very spiky gamma": GammaLatency(10.0, 0.1),
    "a very narrow gamma": GammaLatency(10.0, 10_000.0),
}


def tails(count: int) -> list[float]:
    """Tail probabilities, evenly spread over the octaves from 2**-53 to 1/2."""
    return [2.0 ** (-53.0 + 52.0 * uniform(1, index)) for index in range(count)] + [2.0**-53, 0.5]


def largest_error(latency: LatencyDistribution, count: int = 2_000) -> float:
    code = latency.code()
    assert code is not None
    negligible_ms = 1e-9 * latency.quantile(0.5)
    worst = 0.0
    for is_upper in (False, True):
        for tail in tails(count):
            exact_ms = latency._tail_quantile(tail, is_upper)
            error_ms = abs(component_ms(code, 0, 1, tail, is_upper, 0) - exact_ms)
            if error_ms > negligible_ms:
                worst = max(worst, error_ms / exact_ms)
    return worst


def test_the_table_is_near_the_exact_quantile_in_both_tails(smooth: LatencyDistribution) -> None:
    assert largest_error(smooth) < RELATIVE_ERROR_MAX


@pytest.mark.parametrize("name", EXTREME)
def test_extreme_shapes_get_as_many_cells_as_they_need(name: str) -> None:
    assert largest_error(EXTREME[name]) < RELATIVE_ERROR_MAX


@settings(max_examples=25)
@given(sigma=st.floats(0.001, 8.0), shape=st.floats(0.1, 10_000.0), cut=st.floats(-12.0, 29.0))
def test_any_parameters_make_a_table_as_good(sigma: float, shape: float, cut: float) -> None:
    for latency in (
        LognormalLatency.by_median(1e-18, sigma),
        GammaLatency(10.0, shape),
        TruncatedNormalLatency(max(0.0, -cut), 1.0, max(0.0, cut)),
    ):
        assert largest_error(latency, count=60) < RELATIVE_ERROR_MAX


def test_a_gentle_function_needs_the_fewest_cells_and_a_steep_one_more() -> None:
    _, gentle = smooth_table(lambda tail, is_upper: 2.0 - tail if is_upper else 1.0 + tail)
    _, steep = smooth_table(lambda tail, is_upper: tail**-9 if is_upper else (1.0 - tail) ** -9)

    assert CELL_BITS_MIN == gentle
    assert CELL_BITS_MIN < steep <= CELL_BITS_MAX


def test_the_table_rises_from_cell_to_cell_without_a_step(smooth: LatencyDistribution) -> None:
    code = smooth.code()
    assert code is not None
    edges = np.ldexp(1.0 + np.arange(0, 1, 1 / 16), -20)
    for edge in edges.tolist():
        before = component_ms(code, 0, 1, np.nextafter(edge, 0.0), True, 0)
        after = component_ms(code, 0, 1, edge, True, 0)
        assert after == pytest.approx(before, rel=1e-11)
    across = [component_ms(code, 0, 1, tail, False, 0) for tail in np.linspace(0.01, 0.5, 5_000).tolist()]
    across += [component_ms(code, 0, 1, tail, True, 0) for tail in np.linspace(0.5, 0.01, 5_000).tolist()]
    assert float(np.diff(across).min()) > -1e-13 * across[4_999]
