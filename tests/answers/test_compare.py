"""Two configurations side by side."""

import json

import pytest
from tests.answers.conftest import busy_config
from typer.testing import CliRunner

from endive.answers import compare as compare_module
from endive.answers.compare import LESS, MORE, SAME, compare_bases, compare_configs, difference_of
from endive.answers.compare_answer import compare_answer
from endive.answers.replicate import Replicator
from endive.answers.variation import base_of
from endive.cli.main import app
from endive.objectives import Estimate, Subject, field_at
from endive.objectives.names import SOURCE

pytestmark = pytest.mark.lengthy


def compare(a, b, seeds=3):
    return compare_configs(a, b, seeds=seeds, replicator=Replicator(processes=1))


def test_a_configuration_does_not_differ_from_itself():
    found = compare(busy_config(), busy_config())

    assert () == found.keys
    assert {SAME} == {row.outcome for row in found.differences if row.difference.low is not None}
    assert ("Both are the same simulation: every difference is zero.",) == found.notes


@pytest.fixture(scope="module")
def against_more_clients():
    return compare(busy_config(), busy_config(clients=16), seeds=6)


def test_keys_and_figures_that_differ_are_told_with_their_direction(against_more_clients):
    by_figure = {str(row.subject): row.outcome for row in against_more_clients.differences}

    assert (("source.writers.arrivals.clients", 8, 16),) == against_more_clients.keys
    assert (MORE, MORE) == (by_figure["writers.committed_per_s"], by_figure["writers.retries_mean"])
    assert LESS == compare(busy_config(clients=16), busy_config()).differences[1].outcome


def test_without_a_duration_both_sides_run_as_long_as_the_one_that_needs_more_and_that_is_noted():
    sources = [{"name": "w", "arrivals": {"kind": "periodic", "period_ms": period}} for period in ("1h", "3h")]
    found = compare_bases(*(base_of({"source": [source]}) for source in sources), seeds=2)

    assert ["source.w.arrivals.period_ms"] == [key for key, *_ in found.keys]
    assert found.notes[-2].startswith("simulation.duration_ms is not given, so a run is 7 d long, about 56 txns")


def test_common_seeds_make_the_interval_of_a_difference_narrower_than_the_sum_of_both():
    found = compare(busy_config(), busy_config(table={"manifest_bytes": 8_001}), seeds=6)
    row = next(row for row in found.differences if str(row.subject) == "writers.p50_commit")

    assert row.difference.high - row.difference.low < (row.a.high - row.a.low) / 2


def test_brackets_of_all_rows_hold_at_once():
    a, b = busy_config(), busy_config(clients=9)
    found = compare(a, b, seeds=4)
    with Replicator(processes=1) as replicator:
        sides = [replicator.samples(config, range(1, 5)) for config in (a, b)]

    assert 25 == len(found.differences)
    for row in found.differences:
        assert row.difference == difference_of(*sides, row.subject, 1.0 - 0.05 / 25)


def test_a_difference_is_that_of_all_txns_and_its_doubt_that_between_seeds(monkeypatch):
    """Seed by seed it is 1, 2 and 3, so 2 on average; of all txns together 10, because runs are not of one size."""
    pooled = {(5, 6, 7): Estimate(100.0), (6, 8, 10): Estimate(110.0)}
    monkeypatch.setattr(compare_module, "estimate_of", lambda runs, *_: pooled.get(tuple(runs)) or Estimate(runs[0]))
    subject = Subject(SOURCE, "writers", field_at("p50_commit"))

    found = difference_of([5, 6, 7], [6, 8, 10], subject)

    assert (10.0, 10.0 - 2.4841377, 10.0 + 2.4841377) == pytest.approx((found.value, found.low, found.high))


def test_every_metric_is_a_detail_and_those_that_differ_are_the_table(against_more_clients):
    shown = compare_answer(against_more_clients)
    differing = [row for row in against_more_clients.differences if row.outcome in (MORE, LESS)]
    keys, everything = shown.details[:2]

    assert len(differing) == len(shown.tables[0].rows)
    assert len(against_more_clients.differences) == len(everything.rows)
    assert ["source.writers.arrivals.clients"] == [row.cells[0].text for row in keys.rows]
    assert shown.headline.startswith("B (B) commits ")


@pytest.fixture
def rest():
    """A REST catalog with a long list of snapshots, whose transfer nothing charges."""
    catalog = {"type": "service", "latency_ms": 2, "service": {"flavour": "rest"}}
    return busy_config(catalog=catalog, table={"initial_snapshots": 4_000, "snapshots_kept_max": 4_000})


def test_a_winner_that_an_unset_input_turns_has_a_column_for_it(rest):
    hive = busy_config(catalog={"type": "service", "latency_ms": 12})
    found = compare(hive, rest, seeds=4)
    shown = compare_answer(found)

    assert shown.headline.endswith(", unless its answers are large (not set)")
    assert ("[catalog.service] answer_ms_per_mib = 60",) == shown.paste
    assert "B, if answers cost 60 ms per MiB" == shown.tables[0].columns[-1].name


def test_a_winner_that_no_unset_input_turns_has_none(rest):
    charged = busy_config(
        catalog={**rest.to_dict()["catalog"], "service": {"flavour": "rest", "answer_ms_per_mib": 60}}
    )

    assert compare(busy_config(), charged, seeds=2).variation is None


def test_folders_of_runs_are_compared_and_another_model_is_refused(tmp_path):
    config = tmp_path / "a.toml"
    config.write_text(busy_config().to_toml())
    invoke = CliRunner().invoke
    assert 0 == invoke(app, ["run", str(config), "--out", str(tmp_path / "run")]).exit_code
    same = invoke(app, ["compare", str(config), str(tmp_path / "run"), "--seeds", "2", "--json"])
    summary = tmp_path / "run" / "summary.json"
    document = json.loads(summary.read_text())
    document["provenance"]["model_version"] = 1
    summary.write_text(json.dumps(document))
    refused = invoke(app, ["compare", str(config), str(tmp_path / "run"), "--seeds", "2"])

    assert [] == json.loads(same.stdout)["keys"]
    assert (2, True) == (refused.exit_code, "was made by model version 1" in refused.stderr)
