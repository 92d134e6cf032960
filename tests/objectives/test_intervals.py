"""Intervals from whole runs: exact values, bounds that cannot be crossed, and what one run does not say."""

import math

import numpy as np
import pytest

from endive.objectives import Estimate
from endive.objectives.intervals import (
    degrees_of,
    design_of,
    events_estimate,
    mean_estimate,
    newcombe,
    percentile_estimate,
    rate_estimate,
    ratio_estimate,
    score_ends,
    share_design,
    share_estimate,
    spread_of,
    wilson,
)
from endive.objectives.student import normal_z, student_t

Z = normal_z()


def ends(found):
    return found.low, found.high


# ---- shares -----------------------------------------------------------------------------------------


def test_wilsons_interval_of_none_in_24_reaches_to_14_percent():
    low, high = wilson(0.0, 24, 1.959964)

    assert 0.0 == low
    assert math.isclose(1.959964**2 / (24 + 1.959964**2), high, rel_tol=1e-12)


def test_the_spread_of_a_ratio_is_that_of_whole_runs_with_n_less_one():
    spread = spread_of([1, 3, 8], [10, 10, 20])

    ratio = 12 / 40
    residuals = [1 - 10 * ratio, 3 - 10 * ratio, 8 - 20 * ratio]
    assert (0.3, 3) == (spread.ratio, spread.runs)
    assert math.isclose(math.sqrt(3 / 2 * sum(r * r for r in residuals)) / 40, spread.error, rel_tol=1e-12)


def test_runs_without_a_txn_say_nothing():
    assert spread_of([1, 3, 8, 0], [10, 10, 20, 0]) == spread_of([1, 3, 8], [10, 10, 20])
    assert None is spread_of([5, 0], [10, 0])


@pytest.mark.parametrize(
    ("residuals", "degrees"),
    [
        ([1.0, -1.0, 1.0, -1.0, 1.0, -1.0], 5.0),  # equal: all runs but one
        ([3.0, 0.0, 0.0, 0.0, 0.0, -0.0], 2.0),  # one run makes all of the spread
        ([3.0, -1.0, -1.0, -1.0, 0.0, 0.0], 2 * 144 / 84 - 1),
    ],
)
def test_few_runs_that_make_most_of_the_spread_leave_few_degrees(residuals, degrees):
    squares = np.square(residuals)

    assert degrees == degrees_of(6, squares.sum(), (squares * squares).sum(), 2.0)


def test_runs_that_agree_on_few_failures_have_the_interval_of_independent_txns():
    found = share_estimate([98, 98, 97] + [98] * 5, [100] * 8, pending=0, confidence=0.95)  # 17 failed

    assert 1.0 == found.design
    assert wilson(783 / 800, 800, Z) == pytest.approx(ends(found), rel=1e-12)


def test_runs_that_agree_on_many_failures_tell_more_than_independent_txns():
    found = share_estimate([48, 52] * 4, [100] * 8, pending=0, confidence=0.95)

    measured = (8 / 7 * 8 * 2**2 / 800**2) * 800 / 0.25
    design = (student_t(7) / Z) ** 2 * measured
    assert math.isclose(design, found.design, rel_tol=1e-12)
    assert wilson(0.5, 800 / design, Z) == pytest.approx(ends(found), rel=1e-12)


def test_runs_that_all_show_one_count_may_be_one_off_in_every_other_run():
    found = share_estimate([50] * 8, [100] * 8, pending=0, confidence=0.95)

    assert math.isclose((student_t(7) / Z) ** 2 * 0.25 * 8 / 800 / 0.25, found.design, rel_tol=1e-12)


def test_all_and_none_are_in_their_own_intervals_whatever_is_rounded():
    txns = np.arange(1.0, 400.0)

    assert 1.0 == wilson(np.ones_like(txns), txns, Z)[1].min()
    assert 0.0 == wilson(np.zeros_like(txns), txns, Z)[0].max()


def test_the_design_effect_has_the_doubt_about_the_spread_in_it():
    hits, of = [40, 60, 45, 55], [100] * 4

    error = math.sqrt(4 / 3 * (100 + 100 + 25 + 25)) / 400
    measured = error**2 * 400 / 0.25
    degrees = max(2.0, 1.25 * 250**2 / (2 * 100**2 + 2 * 25**2) - 1)
    whole, few, kinds = ((student_t(known) / Z) ** 2 for known in (3, min(3, degrees), 1))
    chance = 1 + Z * math.sqrt(2 / 3)
    expected = whole * measured + (few - whole) * (measured - 1) + (kinds - few) * (measured - chance)
    assert measured > chance
    assert math.isclose(expected, share_design(hits, of, 0.95), rel_tol=1e-12)
    found = share_estimate(hits, of, 0, 0.95)
    assert wilson(0.5, 400 / expected, Z) == pytest.approx(ends(found), rel=1e-12)


def test_runs_in_which_nothing_failed_are_taken_to_have_one_percent_in_common():
    found = share_estimate([1_000] * 16, [1_000] * 16, pending=0, confidence=0.95)

    design = 1 + 0.01 * 999
    assert math.isclose(design, found.design, rel_tol=1e-12)
    assert math.isclose(1 / (1 + Z * Z * design / 16_000), found.low, rel_tol=1e-12)
    assert 1.0 == found.high


def test_ten_failures_in_ten_runs_show_that_runs_agree():
    one_each = share_estimate([999] * 10, [1_000] * 10, pending=0, confidence=0.95)
    five = share_estimate([999, 1_000] * 5, [1_000] * 10, pending=0, confidence=0.95)

    assert 1.0 == one_each.design
    assert math.isclose(1 + 0.01 * 999 * 0.5, five.design, rel_tol=1e-12)


def test_txns_that_may_turn_out_either_way_widen_a_share_to_both_sides():
    sure = share_estimate([45, 45], [50, 50], pending=0, confidence=0.95)
    unsure = share_estimate([45, 45], [50, 50], pending=20, confidence=0.95)

    assert unsure.low < sure.low < 0.9 < sure.high < unsure.high


def test_a_part_of_which_no_txn_ended_has_no_share():
    assert (None, 0.0, 1.0) == (
        (found := share_estimate([0], [0], pending=3, confidence=0.95)).value,
        found.low,
        found.high,
    )
    assert share_estimate([0], [0], pending=0, confidence=0.95).low is None


def test_one_run_has_a_share_and_no_interval():
    assert Estimate(0.9, None, None, 100, 1) == share_estimate([90], [100], 0, 0.95)
    assert Estimate(0.9, None, None, 100, 1) == share_estimate([90, 0], [100, 0], 0, 0.95)


def test_arrays_of_shares_have_the_design_of_each():
    one = design_of(0.5, 0.05, 4, 3.0, 400.0, 100.0, 200.0, 0.95)
    many = design_of(np.array([0.5, 1.0]), np.array([0.05, 0.0]), 4, np.array([3.0, 3.0]), 400.0, 100.0, 0.0, 0.95)

    assert float(one) == float(many[0])
    assert math.isclose(1 + 0.01 * 99, float(many[1]), rel_tol=1e-12)


# ---- percentiles ------------------------------------------------------------------------------------


def test_a_percentile_lies_where_the_share_below_may_be_that_percentage():
    runs = [np.arange(start, 1_000.0, 8.0) for start in range(8)]
    found = percentile_estimate(runs, 50, 0.95)

    def holds(value, side):
        below = [int(np.searchsorted(run, value, side)) for run in runs]
        low, high = ends(share_estimate(below, [125] * 8, 0, 0.95))
        return low <= 0.5 <= high

    assert (499.5, 1_000, 8) == (found.value, found.txns, found.runs)
    assert holds(found.low, "right")
    assert not holds(found.low - 1, "right")
    assert holds(found.high, "left")
    assert not holds(found.high + 1, "left")
    assert (496.0, 503.0) == ends(found)


def test_runs_that_differ_widen_a_percentile_to_what_runs_show():
    inside = [np.arange(100.0) for _ in range(8)]
    between = [np.arange(100.0) + 50.0 * seed for seed in range(8)]

    same, apart = percentile_estimate(inside, 50, 0.95), percentile_estimate(between, 50, 0.95)
    assert (49.0, 50.0) == ends(same)
    assert (9.0, 440.0) == ends(apart)


def test_a_percentile_beyond_all_that_was_seen_reaches_three_times_as_far_or_as_its_tail_is_too_thick():
    """24 values in two runs: Z^2 / (24 / design + Z^2) of all may lie beyond the largest, a seventh."""
    runs = [np.arange(12.0), np.arange(12.0)]
    beyond = Z * Z / (24 / (1 + 0.01 * 11) + Z * Z)

    assert math.isclose(11.0 * beyond / 0.01, percentile_estimate(runs, 99, 0.95).high, rel_tol=1e-9)
    assert 33.0 == percentile_estimate(runs, 90, 0.95).high
    assert 11.0 == percentile_estimate(runs, 80, 0.95).high


def test_the_most_and_what_may_be_the_bulk_of_all_values_have_no_upper_end():
    few = [np.arange(4.0), np.arange(4.0)]

    assert math.inf == percentile_estimate(few, 95, 0.95).high
    assert math.inf == percentile_estimate([np.arange(1_000.0)] * 16, 100, 0.95).high


def test_the_median_of_two_values_may_be_anything_above_nothing():
    assert (0.0, math.inf) == ends(percentile_estimate([np.array([3.0]), np.array([5.0])], 50, 0.95))


def test_one_run_has_a_percentile_and_no_interval():
    found = percentile_estimate([np.arange(100.0)], 50, 0.95)

    assert (49.5, None, None, 1) == (found.value, found.low, found.high, found.runs)


# ---- rates and means --------------------------------------------------------------------------------


def test_a_mean_has_students_interval_where_the_variance_grows_with_it():
    y, x = [1.0, 3.0, 2.0, 4.0], [1.0, 1.0, 1.0, 1.0]
    found = ratio_estimate(y, x, 0.95)

    error = math.sqrt(5.0 / 3.0 / 4.0)
    degrees = min(3.0, 2 * 25.0 / (2 * (1.5**4 + 0.5**4)) - 1)
    reach = student_t(degrees) * error
    assert 2.5 == found.value
    assert score_ends(2.5, reach) == pytest.approx(ends(found), rel=1e-12)
    for end in ends(found):
        assert math.isclose((2.5 - end) ** 2, reach**2 * end / 2.5, rel_tol=1e-9)


def test_a_ratio_of_equal_runs_is_certain_and_one_run_has_no_interval():
    assert (2.0, 2.0) == ends(ratio_estimate([2.0, 4.0], [1.0, 2.0], 0.95))
    assert Estimate(2.0, runs=1) == ratio_estimate([2.0], [1.0], 0.95)
    assert ratio_estimate([0.0], [0.0], 0.95).value is None


def test_a_source_that_committed_nothing_may_commit_a_little():
    found = rate_estimate([0] * 4, [100.0] * 4, 0.95)

    assert (0.0, 0.0) == (found.value, found.low)
    assert math.isclose(-math.log(0.025) / 400.0, found.high, rel_tol=1e-12)


def test_retries_that_no_run_shows_may_come_together_in_others():
    """As few failures would: txns of a run of 1,001 are taken to be correlated by 1 %, so 11 tell as much as one."""
    none, two = (events_estimate([count, 0, 0, 0], [1_001] * 4, 0.95) for count in (0, 2))

    assert (0.0, -math.log(0.025) * 11.0 / 4_004.0) == pytest.approx(ends(none), rel=1e-12)
    skew = 1.959963984540054**2 * (1.0 + 10.0 * 0.8) / 2.0  # two seen of ten: a fifth less correlated
    assert (2.0 + skew + math.sqrt(skew**2 + 4.0 * skew)) / 4_004.0 == pytest.approx(two.high, rel=1e-9)
    assert rate_estimate([10, 0, 0, 0], [1_001.0] * 4, 0.95) == events_estimate([10, 0, 0, 0], [1_001] * 4, 0.95)


def test_a_count_that_every_run_shows_may_be_one_off_in_some():
    found = rate_estimate([36] * 16, [10.0] * 16, 0.95)

    reach = (1.0 - 0.025 ** (1 / 16)) / 10.0
    assert (3.6 - reach, 3.6 + reach) == pytest.approx(ends(found), rel=1e-12)


# ---- differences ------------------------------------------------------------------------------------


def test_a_difference_has_students_interval_over_seeds():
    found = mean_estimate([1.0, -1.0, 3.0], 0.95)

    degrees = 2.0
    reach = student_t(degrees) * math.sqrt(8.0 / 2.0 / 3.0)
    assert (1.0, 1.0 - reach, 1.0 + reach) == pytest.approx((found.value, *ends(found)), rel=1e-12)
    assert Estimate(2.0, runs=1) == mean_estimate([2.0], 0.95)


def test_newcombes_difference_adds_the_doubts_of_both_sides():
    found = newcombe(Estimate(0.5, 0.4, 0.7), Estimate(0.9, 0.6, 1.0))

    assert (0.4, 0.4 - math.hypot(0.3, 0.2), 0.4 + math.hypot(0.1, 0.1)) == pytest.approx((found.value, *ends(found)))


def test_a_tail_that_nobody_came_near_is_bounded_though_few_txns_are_in_it():
    """Above the largest value no txn was seen in three runs, and three runs could not show that none is there."""
    generator = np.random.default_rng(3)
    runs = [generator.lognormal(6.0, 0.4, 1_800) for _ in range(3)]

    found = percentile_estimate(runs, 99, 0.95)

    assert share_estimate([1_800] * 3, [1_800] * 3, 0, 0.95).low < 0.99
    assert found.value < found.high < max(values.max() for values in runs)
