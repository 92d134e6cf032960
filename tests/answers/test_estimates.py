"""Estimates from samples are the figures of the summary, whatever pieces they were counted in."""

import pytest

from endive.answers.estimates import estimate_of
from endive.answers.replicate import Replicator, run_sample
from endive.answers.sample import SampleSink
from endive.config.slo import names_of
from endive.objectives import FIELDS, Subject
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
