"""Runs are added until a figure is known as well as was asked."""

import pytest
from tests.answers.conftest import jobs_that_meet_in_some_runs

from endive.answers.estimates import estimate_of
from endive.answers.replicate import Replicator
from endive.answers.run_count import RUNS, reach_of, replicate
from endive.config.slo import objective_of
from endive.errors import ObjectiveError


def test_seeds_are_added_until_every_figure_of_the_objective_is_narrow_enough(busy):
    """The success is at the first look, and P99 is not."""
    objective = objective_of(busy, "writers.success_rate >= 90 % and writers.p99_commit <= 5s")
    with Replicator(processes=1) as replicator:
        samples = replicate(replicator, busy, objective, precision=0.02)

    assert len(samples) > RUNS
    for subject in objective.subjects:
        assert reach_of(subject, estimate_of(samples, subject)) <= 0.02


def test_three_runs_that_agree_by_chance_are_not_precise(busy):
    """The first look is at as many runs as an answer takes unasked; any reach would do here."""
    objective = objective_of(busy, "writers.success_rate >= 90 %")
    with Replicator(processes=1) as replicator:
        assert RUNS == len(replicate(replicator, busy, objective, precision=0.9))
        assert 3 == len(replicate(replicator, busy, objective, seeds=3, precision=0.9))


def test_runs_that_differ_are_repeated_though_the_figure_is_narrow_enough():
    config = jobs_that_meet_in_some_runs().config
    objective = objective_of(config, "jobs.p95_commit <= 1s")
    with Replicator(processes=1) as replicator:
        assert 3 * RUNS == len(replicate(replicator, config, objective, seeds=3 * RUNS, precision=0.9))


def test_a_precision_out_of_reach_says_what_was_reached(busy):
    objective = objective_of(busy, "merge.success_rate >= 90 %")
    with Replicator(processes=1) as replicator, pytest.raises(ObjectiveError) as refused:
        replicate(replicator, busy, objective, seeds=3, precision=0.001)

    assert str(refused.value).startswith(
        "--precision 0.1% is not reached within 3 simulations: merge.success_rate is known to ±"
    )
