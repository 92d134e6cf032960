"""Estimates from samples are the figures of the summary, whatever pieces they were counted in."""

import pytest

from endive.answers.estimates import commits_estimate, estimate_of
from endive.answers.replicate import Replicator, run_sample
from endive.answers.sample import SampleSink
from endive.config.slo import names_of
from endive.objectives import FIELDS, Subject, field_at
from endive.objectives.intervals import rate_estimate, share_estimate
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


def test_one_run_has_every_figure_and_no_interval(busy):
    sample = run_sample(busy, 1)

    for field in FIELDS:
        found = estimate_of([sample], Subject("source", "writers", field))
        assert (None, None) == (found.low, found.high), field.name
