"""Estimates from samples are the figures of the summary, whatever pieces they were counted in."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from endive.answers.estimates import (
    commits_estimate,
    data_estimate,
    estimate_of,
    outcome_counts,
    pooled_figures,
    success_estimate,
)
from endive.answers.replicate import Replicator, run_sample
from endive.answers.sample import SampleSink
from endive.config import parse_config
from endive.config.slo import names_of
from endive.objectives import FIELDS, Subject, field_at
from endive.objectives.intervals import events_estimate, rate_estimate, ratio_estimate, share_estimate
from endive.results import statistics as st
from endive.results.freshness import Ages
from endive.simulation import Simulation


def at(block, path):
    for part in path:
        block = block[part]
    return block


@pytest.mark.parametrize(("scope", "name"), [("all", ""), ("source", "merge"), ("kind", "fast_append")])
def test_the_value_of_every_estimate_is_the_figure_of_the_summary(busy, scope, name):
    sink = SampleSink(busy)
    document = Simulation(busy).run(sink=sink).to_json_dict()
    block = {
        "all": {**document["summary"], "requests": document["requests"]},
        "source": document["by_source"].get(name),
        "kind": document["by_operation"].get(name),
    }[scope]
    samples = [sink.sample(1)]

    for field in FIELDS:
        expected = at(block, field.path)
        found = estimate_of(samples, Subject(scope, name, field)).value
        assert found == (None if expected is None else pytest.approx(expected, rel=1e-9)), field.name


@pytest.mark.parametrize(("scope", "name"), [("all", ""), ("source", "merge")])
def test_the_figure_of_several_runs_is_that_of_all_their_txns_and_counts_are_per_run(busy, scope, name):
    samples = [run_sample(busy, seed) for seed in range(1, 5)]
    pooled = pooled_figures(samples, scope, name)

    for field in FIELDS:
        if not field.is_of_data:
            value = at(pooled, field.path)
            is_per_run = field.path[0] in ("txns", "counters", "requests") and field.path[-1] != "per_committed_txn"
            expected = None if value is None else pytest.approx(value / (4 if is_per_run else 1), rel=1e-9)
            assert expected == estimate_of(samples, Subject(scope, name, field)).value, field.name


def test_txns_that_are_still_committing_may_turn_out_either_way():
    tallies = np.zeros((len(st.OUTCOMES), 1), np.int64)
    tallies[[st.COMMITTED, st.OUTCOMES.index("timeout"), st.EXECUTING, st.COMMITTING], st.TXNS] = 80, 10, 7, 5
    runs = [SimpleNamespace(tallies=tallies)] * 3

    assert share_estimate([80] * 3, [90] * 3, 15, 0.95) == success_estimate(runs)


def test_tables_apart_hold_every_txn_once_if_each_writes_one(busy):
    sample = run_sample(busy, 1, is_per_table=True)

    def submitted(statistics):
        return int(statistics.slice().tallies[:, 0].sum())

    assert names_of(busy).tables == len(sample.tables) == 2
    assert submitted(sample.statistics) == sum(submitted(table) for table in sample.tables)


def test_the_pool_gives_the_samples_that_this_process_gives(busy):
    with Replicator(processes=1) as here, Replicator(processes=2) as pool:
        pool._seconds_each = 1_000.0  # as if each took that long: the pool starts at once
        expected = here.samples(busy, range(3))
        found = pool.samples(busy, range(3))

    for field in FIELDS[:6]:
        subject = Subject("source", "writers", field)
        assert estimate_of(expected, subject) == estimate_of(found, subject)
    assert (3, 3) == (here.simulations, pool.simulations)


def test_what_ran_before_is_not_run_again(busy):
    with Replicator(processes=1) as replicator:
        replicator.samples(busy, range(2))
        replicator.samples(busy, range(3))

        assert 3 == replicator.simulations


@pytest.mark.parametrize("name", ["writers", "merge"])
def test_commits_are_as_sure_as_the_share_that_commits_and_at_most_the_offered(busy, name):
    samples = [run_sample(busy, seed) for seed in range(1, 7)]
    txns = [sample.slice("source", name).tallies[:, 0] for sample in samples]
    committed, submitted = [int(count[0]) for count in txns], [int(count.sum()) for count in txns]
    length_s = samples[0].window.length_us / 1e6

    found = estimate_of(samples, Subject("source", name, field_at("committed_per_s")))
    rate, offered = (rate_estimate(counts, [length_s] * 6, 0.95) for counts in (committed, submitted))
    share = share_estimate(committed, submitted, 0, 0.95)
    assert found.low == min(rate.low, offered.value * share.low)
    assert found.high == max(found.value, min(max(rate.high, offered.value * share.high), offered.high))
    assert found.low < found.high


def test_commits_are_never_more_than_the_offered_however_little_two_runs_say():
    found, offered = commits_estimate([20, 90], [100, 101], [10.0, 10.0]), rate_estimate([100, 101], [10.0, 10.0], 0.95)

    assert (5.5, offered.high) == (found.value, found.high)
    assert offered.high < rate_estimate([20, 90], [10.0, 10.0], 0.95).high


def test_retries_that_were_not_seen_are_as_unsure_as_failures():
    work = {"distribution": "fixed", "ms": 1_000}
    alone = {"name": "alone", "arrivals": {"kind": "periodic", "period_ms": "1min"}, "runtime": work}
    config = parse_config({"storage": {"provider": "s3"}, "catalog": {"type": "cas"}, "source": [alone]})
    samples = [run_sample(config, seed) for seed in range(1, 4)]
    ended = outcome_counts([sample.slice("source", "alone") for sample in samples])[1]
    expected = events_estimate([0, 0, 0], ended, 0.95)

    found = estimate_of(samples, Subject("source", "alone", field_at("retries_mean")))
    assert 0.0 == found.value < expected.high
    assert (expected.low, expected.high) == (found.low, found.high)


def test_one_run_has_every_figure_and_no_interval(busy):
    sample = run_sample(busy, 1)

    for field in FIELDS:
        found = estimate_of([sample], Subject("source", "writers", field))
        assert (None, None) == (found.low, found.high), field.name


# ---- how late data are ------------------------------------------------------------------------------


def ages(until_s, **counts):
    """A run in which data got older from nothing to ``until_s``, once."""
    return Ages(np.array([0]), np.array([until_s * 1_000_000]), **counts)


RUNS = (
    ages(10, batches=4, lost=1),
    ages(30, batches=6, bound_us=1, stale_us=15_000_000),
    None,  # brought no data
    ages(10, batches=2, lost=1, bound_us=1, stale_us=0),
)


def test_the_mean_age_of_data_is_over_the_time_of_all_runs():
    found = data_estimate(RUNS, ("freshness_ms", "mean"))
    expected = ratio_estimate([50e9, 450e9, 50e9], [10e6, 30e6, 10e6], 0.95)

    assert (11_000.0, 12) == (pytest.approx(found.value), found.txns)
    assert (expected.low, expected.high) == pytest.approx((found.low, found.high))


def test_lost_data_are_a_share_of_batches():
    expected = share_estimate([1, 0, 1], [4, 6, 2], 0, 0.95)

    assert expected == data_estimate(RUNS, ("lost_share",))


def test_data_can_be_stale_only_where_a_bound_is_stated():
    found = data_estimate(RUNS, ("stale_share",))
    expected = ratio_estimate([15e6, 0.0], [30e6, 10e6], 0.95)

    assert (0.375, expected.low, expected.high, 8) == (found.value, found.low, found.high, found.txns)


def test_percentiles_of_age_are_over_the_time_of_all_runs_and_the_most_has_no_upper_end():
    """Of 50 s in all, data are less than 10 s old for 30."""
    half, most = (data_estimate(RUNS, ("freshness_ms", name)) for name in ("p60", "max"))

    assert 10_000.0 == pytest.approx(half.value, rel=1e-3)
    assert (30_000.0, math.inf) == (pytest.approx(most.value), most.high)


def test_counts_of_batches_are_per_run():
    assert pytest.approx(2 / 3) == data_estimate(RUNS, ("data", "lost")).value
