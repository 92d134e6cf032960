"""The search behind the profiles."""

from __future__ import annotations

import pytest

from endive.storage import load_profile
from verification.suites.fitting import FREE, figures_of, fit, misfit, nelder_mead, with_figures
from verification.suites.measured_curves import curve, curves


def test_the_simplex_finds_the_bottom_of_a_bowl():
    def bowl(place: list[float]) -> float:
        x, y = place
        return (x - 1.0) ** 2 + 10.0 * (y + 2.0) ** 2

    (x, y), height = nelder_mead(bowl, [0.0, 0.0], step=0.5, evaluations_max=200)

    assert (1.0, -2.0) == (pytest.approx(x, abs=0.05), pytest.approx(y, abs=0.02))
    assert height < 0.01


@pytest.mark.parametrize(("store", "op"), curves())
def test_every_curve_has_figures_to_move_and_they_are_the_profiles(store, op):
    figures = figures_of(load_profile(store), op)

    assert set(FREE[store, op]) <= set(figures)
    assert figures == pytest.approx(figures_of(with_figures(load_profile(store), op, figures), op), rel=1e-12)


def test_figures_that_are_not_moved_give_the_shipped_profile():
    profile = load_profile("azurex")
    points = curve("azurex", "cas")[:2]

    same = with_figures(profile, "cas", figures_of(profile, "cas"))

    assert misfit(profile, points, 200) == pytest.approx(misfit(same, points, 200), rel=1e-6)


def test_a_fit_brings_a_spoilt_profile_nearer():
    points = curve("azurex", "append")[:3]
    spoilt = {**figures_of(load_profile("azurex"), "append"), "refusal_median_ms": 400.0}
    before = misfit(with_figures(load_profile("azurex"), "append", spoilt), points, 500)

    _, after = fit(points, start=spoilt, successes=500, evaluations_max=40)

    assert after < 0.5 * before
