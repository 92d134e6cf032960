"""Coverage as a law: in clustered cases a 95 % interval holds the truth in 93 to 98 of 100 draws, never far more.

The runs are made by hand, so that the truth is known and the cases are clustered on purpose; the same for simulated
ones is docs/validation/coverage.md, which ``python -m verification.coverage`` writes.
"""

import numpy as np
import pytest

from endive.objectives.intervals import (
    mean_estimate,
    percentile_estimate,
    rate_estimate,
    ratio_estimate,
    share_estimate,
)

pytestmark = pytest.mark.lengthy

RUNS = 16
DRAWS = 1_000
CONFIDENCE = 0.95


def covered(draw, truth, draws=DRAWS):
    generator = np.random.default_rng(7)
    found = [draw(generator) for _ in range(draws)]
    return sum(one.low <= truth <= one.high for one in found) / draws


def assert_covers(share, low=0.93, high=0.98):
    assert low <= share <= high


# What the success of a run may be: phases drawn once per run, a table that tips, all alike.
LEVELS = {
    "phases": (lambda generator: generator.beta(12.0, 3.0, RUNS), 0.8),
    "tipping": (lambda generator: np.where(generator.random(RUNS) < 0.4, 0.1, 0.95), 0.6 * 0.95 + 0.4 * 0.1),
    "alike": (lambda generator: np.full(RUNS, 0.8), 0.8),
}


@pytest.mark.parametrize("case", LEVELS)
def test_a_share_of_clustered_txns(case):
    levels, truth = LEVELS[case]

    def draw(generator):
        of = generator.poisson(200.0, RUNS)
        return share_estimate(generator.binomial(of, levels(generator)).tolist(), of.tolist(), 0, CONFIDENCE)

    assert_covers(covered(draw, truth))


@pytest.mark.parametrize("runs", [4, 8, 16])
def test_a_share_of_few_runs_of_which_a_quarter_tip(runs):
    """What a run commits is 85 to 97 % or, after it has tipped, 0 to 50 %: four runs often see only one of the two."""

    def draw(generator):
        is_tipped = generator.random(runs) < 0.25
        levels = np.where(is_tipped, generator.uniform(0.0, 0.5, runs), generator.uniform(0.85, 0.97, runs))
        return share_estimate(generator.binomial(650, levels).tolist(), [650] * runs, 0, CONFIDENCE)

    assert_covers(covered(draw, 0.75 * 0.91 + 0.25 * 0.25), high=0.99)


@pytest.mark.parametrize("runs", [4, 8])
def test_a_share_of_few_runs_that_are_alike_is_not_given_up(runs):
    """The caution about other kinds of runs is for runs that differ: these get what independent txns would."""
    generator = np.random.default_rng(7)
    found = [
        share_estimate(generator.binomial(650, 0.9, runs).tolist(), [650] * runs, 0, CONFIDENCE) for _ in range(400)
    ]

    independent = 2 * 1.96 * np.sqrt(0.9 * 0.1 / (650 * runs))
    assert np.median([one.high - one.low for one in found]) < 1.5 * independent


def test_a_share_of_a_source_with_one_txn_or_two_in_a_run():
    def draw(generator):
        of = generator.poisson(1.5, RUNS)
        return share_estimate(generator.binomial(of, 0.3).tolist(), of.tolist(), 0, CONFIDENCE)

    assert_covers(covered(draw, 0.3))


@pytest.mark.parametrize("runs", [4, 8, 16, 64])
def test_a_share_of_runs_that_differ_less_than_chance(runs):
    """A closed loop: a failure makes room for a commit, so counts have half the variance of independent txns."""

    def draw(generator):
        failed = np.rint(generator.normal(55.0, np.sqrt(0.5 * 680 * 0.08 * 0.92), runs)).astype(int)
        return share_estimate((680 - failed).tolist(), [680] * runs, 0, CONFIDENCE)

    assert_covers(covered(draw, 1.0 - 55 / 680), high=0.97)


def test_failures_that_come_together_in_few_runs_are_not_ruled_out_by_runs_without_any():
    """One run in forty loses a thirtieth of its txns, the others none: most draws of sixteen see no failure at all."""

    def draw(generator):
        levels = np.where(generator.random(RUNS) < 0.025, 0.967, 1.0)
        return share_estimate(generator.binomial(1_000, levels).tolist(), [1_000] * RUNS, 0, CONFIDENCE)

    assert_covers(covered(draw, 1.0 - 0.025 * 0.033), high=1.0)


@pytest.mark.parametrize(("percent", "z"), [(50, 0.0), (95, 1.6448536269514722)])
def test_a_percentile_of_runs_of_which_each_is_faster_or_slower(percent, z):
    """Lognormal within runs (sigma 0.8) and between them (sigma 0.6), so lognormal with sigma 1 together."""
    truth = float(np.exp(z))

    def draw(generator):
        levels = generator.normal(0.0, 0.6, RUNS)
        runs = [np.exp(level + generator.normal(0.0, 0.8, 150)) for level in levels]
        return percentile_estimate(runs, percent, CONFIDENCE)

    assert_covers(covered(draw, truth, 400), low=0.92, high=0.985)


def test_a_rate_whose_runs_differ_more_than_poisson():
    def draw(generator):
        return rate_estimate(generator.poisson(generator.gamma(4.0, 5.0, RUNS)).tolist(), [10.0] * RUNS, CONFIDENCE)

    assert_covers(covered(draw, 2.0))


def test_a_rate_of_a_source_that_seldom_commits():
    def draw(generator):
        return rate_estimate(generator.poisson(0.3, RUNS).tolist(), [1.0] * RUNS, CONFIDENCE)

    assert_covers(covered(draw, 0.3), high=0.985)


def test_a_mean_and_a_difference_of_skewed_runs():
    def mean(generator):
        return ratio_estimate(generator.gamma(2.0, 0.5, RUNS).tolist(), [1.0] * RUNS, CONFIDENCE)

    def difference(generator):
        return mean_estimate((generator.gamma(2.0, 0.5, RUNS) - generator.gamma(2.0, 0.5, RUNS)).tolist(), CONFIDENCE)

    assert_covers(covered(mean, 1.0))
    assert_covers(covered(difference, 0.0))
