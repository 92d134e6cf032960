"""How many runs are taken, and how long they are, when nobody says, or says only how well a figure is to be known."""

from types import SimpleNamespace

import pytest
from tests.answers.conftest import busy_config, jobs_that_meet_in_some_runs

from endive.answers import run_count
from endive.answers.advice.advise import advise_on
from endive.answers.compare import compare_configs
from endive.answers.estimates import estimate_of
from endive.answers.length import ever_longer, long_enough
from endive.answers.limit_search import Search
from endive.answers.replicate import Replicator
from endive.answers.run_count import RUNS, RUNS_FEW, RUNS_MOST, may_double, reach_of, replicate, runs_for, take_enough
from endive.answers.variation import base_of
from endive.config.slo import objective_of
from endive.errors import ObjectiveError

HOUR = 3_600_000.0


@pytest.mark.parametrize(
    ("txns", "runs"), [(0, RUNS), (1_000, RUNS), (625_000, 16), (1_000_000, 10), (2_500_000, RUNS_FEW), (2_500_001, 1)]
)
def test_large_runs_are_repeated_less_often_and_huge_ones_not_at_all(txns, runs):
    assert runs == runs_for(txns)


@pytest.mark.lengthy
def test_more_runs_are_taken_only_while_the_objective_cannot_be_told():
    config = busy_config(2)
    with Replicator(processes=1) as replicator:
        told = take_enough(replicator, config, objective_of(config, "writers.success_rate >= 50 %"))
        close = take_enough(replicator, config, objective_of(config, "writers.success_rate >= 99.999 %"))

    assert list(range(1, 1 + RUNS)) == [sample.seed for sample in told]
    assert RUNS_MOST == len(close)


@pytest.mark.parametrize(
    ("runs", "txns", "may"),
    [
        (RUNS, 1, True),
        (RUNS - 1, 1, False),
        (RUNS_MOST // 2, 1, True),
        (RUNS_MOST, 1, False),
        (RUNS, 62_500, True),  # two million in all
        (RUNS, 62_501, False),
    ],
)
def test_runs_are_doubled_while_that_is_cheap(runs, txns, may):
    assert may is may_double([SimpleNamespace(n_txns=txns)] * runs)


@pytest.mark.lengthy
def test_more_runs_are_taken_where_runs_differ_though_the_objective_can_be_told(monkeypatch):
    monkeypatch.setattr(run_count, "RUNS_MOST", 2 * RUNS)
    asked = jobs_that_meet_in_some_runs()
    with Replicator(processes=1) as replicator:
        taken = take_enough(replicator, asked.config, objective_of(asked.config))
        search = Search(asked, "source.jobs.arrivals.jobs", None, replicator, is_whole=True)
        compared = compare_configs(asked.config, asked.config, replicator=replicator)
        advised = advise_on(asked, levers=("retries",), replicator=replicator)

        assert 2 * RUNS == len(taken) == compared.seeds == advised.now.seeds
        assert (2 * RUNS, "met") == (search.try_value(8).seeds, search.points[8].outcome)


@pytest.mark.lengthy
def test_advice_begins_with_what_run_says_of_the_configuration_as_it_is(monkeypatch):
    """Sixteen runs cannot tell, and twice as many still cannot: both take as many as are allowed."""
    monkeypatch.setattr(run_count, "RUNS_MOST", 8 * RUNS)
    config = busy_config(2, slo={"objective": "writers.success_rate >= 99.999 %"})
    with Replicator(processes=1) as replicator:
        assert 8 * RUNS == len(take_enough(replicator, config, objective_of(config)))
        assert 8 * RUNS == advise_on(base_of(config), levers=("retries",), replicator=replicator).now.seeds


def test_no_more_runs_are_taken_of_a_value_than_were_allowed():
    with Replicator(processes=1) as replicator:
        key, slo = "source.writers.arrivals.clients", "writers.success_rate >= 99.999 %"
        search = Search(base_of(busy_config(2)), key, slo, replicator, is_whole=True, seeds_max=20)

        assert (20, "cannot tell") == (search.try_value(2).seeds, search.points[2].outcome)


def base(arrivals, **sections):
    return base_of({"source": [{"name": "writers", "arrivals": arrivals}], **sections})


def chosen(asked, slo=None):
    found = long_enough(asked, slo)
    return found.config.simulation.duration_ms / HOUR, next(iter(found.notes), None)


def test_a_stated_duration_is_kept():
    asked = base({"kind": "periodic", "period_ms": "1d"}, simulation={"duration_ms": "1h"})

    assert (1.0, None) == chosen(asked)
    assert [asked] == ever_longer(asked)


def test_an_hour_that_tells_is_kept():
    assert (1.0, None) == chosen(base({"kind": "poisson", "per_s": 1.0}))


def test_a_nightly_source_gets_so_many_days_that_its_objective_can_be_told():
    """99 % needs 2 x 380 txns in 16 runs, one a day: 48 days, so 60."""
    hours, note = chosen(base({"kind": "periodic", "period_ms": "1d"}))

    assert 60 * 24 == hours
    assert "simulation.duration_ms is not given, so a run is 60 d long, about 60 txns: in less, writers has" in note
    assert note.endswith("Give it to choose yourself.")


def test_a_job_that_commits_ten_times_arrives_as_seldom_as_one_that_commits_once():
    """Hourly, its ten txns come together: an hour, of which half is measured, may have none of them."""
    groups = {"name": "groups", "recipe": "spark_rewrite_data_files_partial", "interval_ms": "1h"}
    hours, note = chosen(base_of({"source": [groups]}), "groups.retries_mean <= 1")

    assert (3.0, True) == (hours, "about 30 txns: in less, groups has too few to tell" in note)


def test_a_percentile_needs_as_many_txns_as_its_share():
    """P50 needs 2 x 3.84 txns in 16 runs, but two in each: two days, and margins."""
    assert 96 == chosen(base({"kind": "periodic", "period_ms": "1d"}), "writers.p50_commit <= 5s")[0]


def test_a_run_is_never_longer_than_its_txns_allow():
    sources = [
        {"name": "writers", "arrivals": {"kind": "poisson", "per_s": 1.0}},
        {"name": "nightly", "arrivals": {"kind": "periodic", "period_ms": "1d"}},
    ]
    hours, _ = chosen(base_of({"source": sources}))

    assert 48 == hours  # 172,800 txns; four days would be 345,600


def test_a_search_may_go_on_with_longer_runs_if_no_duration_is_stated():
    asked = base({"kind": "poisson", "per_s": 1.0})
    longer = ever_longer(asked)

    assert [1.0, 6.0, 36.0] == [each.config.simulation.duration_ms / HOUR for each in longer]


# --- as many as a precision takes ---------------------------------------------------------------------


@pytest.mark.lengthy
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
