"""Sampling errors, and what they make of a verdict."""

from __future__ import annotations

import pytest

from endive.verification import Check
from endive.verification.pages import misses_max
from verification.suites.sampling import doubt, mean_error, resample, share_error_percent, standard_error


def test_eight_of_eight_is_not_certainty():
    assert 9.4868 == pytest.approx(share_error_percent(8, 8), abs=1e-4)  # of 9 in 10: sqrt(0.9 * 0.1 / 10)


def test_the_error_of_a_mean_shrinks_with_the_root_of_the_count():
    assert 1.0 == pytest.approx(mean_error([1.0, 3.0, 1.0, 3.0, 2.0]) * 5**0.5)


def test_resampled_runs_differ_as_much_as_their_mean_does():
    runs = [float(value) for value in range(100)]
    means = resample(runs, lambda chosen: sum(chosen) / len(chosen), times=2_000)

    assert 2.886 == pytest.approx(standard_error(means), rel=0.05)  # 28.86 / sqrt(100)
    assert means == resample(runs, lambda chosen: sum(chosen) / len(chosen), times=2_000)


def test_doubt_is_two_standard_errors_of_both_sides():
    assert 10.0 == doubt(3.0, 4.0)
    assert 0.1 == doubt(3.0, 4.0, scale=100.0)


@pytest.mark.parametrize(
    ("actual", "verdict"), [(104.0, "right"), (106.0, "unclear"), (109.0, "wrong"), (float("nan"), "wrong")]
)
def test_an_error_is_wrong_beyond_limit_and_doubt_together(actual, verdict):
    check = Check.relative("rate", {}, expected=100.0, actual=actual, allowed=0.05, doubt=0.03)

    assert verdict == check.verdict
    assert (verdict != "wrong") == check.holds


@pytest.mark.parametrize(("comparisons", "most"), [(2, 1), (10, 2), (100, 9), (119, 10)])
def test_one_comparison_in_twenty_may_miss_and_by_chance_a_few_more(comparisons, most):
    """The 95th percentile of the binomial law."""
    assert most == misses_max(comparisons)
