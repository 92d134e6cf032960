"""Intervals: known cases, and that they hold the truth as often as they promise."""

import math

import numpy as np
import pytest

from endive.answers.intervals import percentile_estimate, ratio_error, ratio_estimate, share_estimate, wilson


def test_wilsons_interval_of_none_in_24_reaches_to_14_percent():
    low, high = wilson(0.0, 24, 1.959964)

    assert 0.0 == low
    assert math.isclose(1.959964**2 / (24 + 1.959964**2), high, rel_tol=1e-12)


def test_a_share_without_doubt_between_clusters_is_wilsons():
    found = share_estimate([0, 0], [12, 12], pending=0, confidence=0.95)

    assert (0.0, 0.0, 24) == (found.value, found.low, found.txns)
    assert round(found.high, 4) == 0.1380


def test_clusters_that_disagree_widen_a_share():
    agreeing = share_estimate([5] * 10, [10] * 10, pending=0, confidence=0.95)
    disagreeing = share_estimate([0, 10] * 5, [10] * 10, pending=0, confidence=0.95)

    assert agreeing.value == disagreeing.value == 0.5
    assert disagreeing.high - disagreeing.low > 2 * (agreeing.high - agreeing.low)


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


def test_a_ratio_of_equal_clusters_is_certain_and_one_cluster_has_no_error():
    found = ratio_estimate([2.0, 4.0], [1.0, 2.0], 0.95)

    assert (2.0, 2.0, 2.0) == (found.value, found.low, found.high)
    assert ratio_error([2.0], [1.0]) is None
    assert ratio_estimate([0.0], [0.0], 0.95).value is None


def test_the_ninety_ninth_percentile_of_few_values_has_no_upper_end():
    found = percentile_estimate([np.arange(12.0), np.arange(12.0)], 99, 0.95)

    assert math.isinf(found.high)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_intervals_hold_the_truth_in_about_95_of_100_cases(spread):
    generator = np.random.default_rng(5)
    shares, percentiles = 0, 0
    for _ in range(400):
        levels = np.clip(generator.normal(0.7, spread / 3, 20), 0.0, 1.0)
        hits = generator.binomial(50, levels)
        found = share_estimate(hits.tolist(), [50] * 20, 0, 0.95)
        shares += found.low <= 0.7 <= found.high
        clusters = [generator.exponential(1.0, 60) for _ in range(10)]
        median = percentile_estimate(clusters, 50, 0.95)
        percentiles += median.low <= math.log(2.0) <= median.high
    assert 0.92 <= shares / 400 <= 0.99
    assert 0.92 <= percentiles / 400 <= 0.99
