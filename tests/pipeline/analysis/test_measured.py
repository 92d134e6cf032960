"""Figures of runs are those of the simulator, to the last bit."""

import json

import pytest
from tests.pipeline.contents import rows

import endive
from endive.tables.figure_columns import FIGURES, figures_of
from endive.tables.scopes import EXTRA_FIGURES


def told_by_sweep(swept, dataset, study):
    runs = rows(swept, study)
    if dataset == "runs":
        return runs
    return [{"run_id": run["run_id"], **group} for run in runs for group in run["groups"] or ()]


def figures(row):
    return {name: row[name] for name in FIGURES}


@pytest.mark.parametrize("study", ["mixed", "lengths", "bare", "sampled"])
def test_every_figure_of_every_run_is_that_of_the_simulator(analysis, swept, study):
    expected = {row["run_id"]: figures(row) for row in told_by_sweep(swept, "runs", study)}

    found = {row["run_id"]: figures(row) for row in analysis.tables["runs"].to_pylist() if row["study"] == study}

    assert expected == found


@pytest.mark.parametrize("study", ["mixed", "lengths", "bare", "sampled"])
@pytest.mark.parametrize(("scope", "table"), [("operation", "operations"), ("source", "sources")])
def test_every_figure_of_every_operation_type_and_source_is_that_of_the_simulator(analysis, swept, study, scope, table):
    told = [row for row in told_by_sweep(swept, "groups", study) if row["scope"] == scope]
    found = [row for row in analysis.tables[table].to_pylist() if row["study"] == study]

    assert {(row["run_id"], row["name"]): figures(row) for row in told} == {
        (row["run_id"], row[scope]): figures(row) for row in found
    }


def test_a_run_simulated_alone_says_the_same(analysis, swept):
    """The two tests above compare with what the sweep wrote; this one with the simulator itself."""
    runs = told_by_sweep(swept, "runs", "mixed")
    run = next(run for run in runs if run["committed_in_window_per_s"] != run["committed_per_s"])
    result = endive.simulate(json.loads(run["config"]), seed=run["seed"])
    (found,) = (row for row in analysis.tables["runs"].to_pylist() if row["run_id"] == run["run_id"])

    assert figures_of({**result.summary(), "requests": result.requests()}) == figures(found)
    ended = found["txns_committed"] + sum(result.summary()["txns"]["aborted"].values())
    share = result.summary()["txns"]["in_flight"]["committing"] / found["txns_submitted"]
    assert [result.requests()["total"] / ended, share] == [found[name] for name in EXTRA_FIGURES]


def test_the_studies_hold_every_kind_of_outcome_these_tests_are_about(analysis):
    found = analysis.tables["runs"].to_pylist()
    mixed = [row for row in found if row["study"] == "mixed"]
    assert all(row["txns_committed"] > 0 for row in mixed if row["status"] == "ok")
    assert sum(row["txns_aborted_retries_exhausted"] or 0 for row in mixed) > 0
    assert sum(row["txns_in_flight_committing"] or 0 for row in mixed) > 0
    empty, short = (row for row in found if row["simulation.duration_ms"] in (20, 900))
    for row in (empty, short):
        assert (None, None) == (row["success_rate"], row["commit_latency_p50_ms"])
    assert empty["txns_submitted"] == 0 < short["txns_submitted"]


def test_a_failed_run_stays_in_the_table_with_its_error_and_without_figures(analysis):
    failed = [row for row in analysis.tables["runs"].to_pylist() if row["status"] != "ok"]
    assert [("mixed", 44, "cas", "ZeroDivisionError: by nought")] == [
        (row["study"], row["seed"], row["catalog.type"], row["error"]) for row in failed
    ]
    assert dict.fromkeys(FIGURES) == figures(failed[0])
