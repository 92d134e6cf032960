"""Endive in a notebook: values that show themselves, and the example that a reader opens."""

import inspect
import json
import sys
from pathlib import Path

import pytest
from tests.answers.conftest import busy_config

import endive
from endive.answers import replicate
from endive.errors import OutputError
from endive.results import SimulationResult

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "questions.ipynb"


@pytest.fixture(scope="module")
def one():
    return endive.simulate(busy_config())


@pytest.fixture(scope="module")
def several():
    return endive.simulate(busy_config(), seeds=2)


def test_a_run_is_a_result_that_shows_itself():
    run = endive.simulate(busy_config(), overrides={"source.writers.retry": 6})

    assert isinstance(run, SimulationResult)
    assert "(objective >= 99 %: " in repr(run).splitlines()[0]
    assert any(line.startswith("source ") for line in repr(run).splitlines())
    assert '<p class="answer-headline ' in run._repr_html_()
    assert len(run.to_pandas()) == run.transactions.num_rows
    assert 6 == run.answer.config.sources[0].retry


def test_a_single_run_is_shown_alone_and_simulates_nothing_more(monkeypatch):
    seeds: list[int] = []
    monkeypatch.setattr(replicate, "run_sample", lambda config, seed, **_: seeds.append(seed))
    run = endive.simulate(busy_config(), seed=7)

    assert "1 run of 4 min" in repr(run).replace("4.00", "4")
    assert "seed 7;" in repr(run)
    assert [] == seeds


def test_the_txns_are_a_polars_frame_where_polars_is_installed(one):
    polars = pytest.importorskip("polars")

    frame = one.to_polars()

    assert isinstance(frame, polars.DataFrame)
    assert one.transactions.column_names == frame.columns
    assert one.transactions["commit_latency_ms"].to_pylist() == frame["commit_latency_ms"].to_list()


def test_without_polars_one_line_says_what_is_missing(one, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(OutputError, match="to_polars needs the package polars"):
        one.to_polars()


def test_several_seeds_are_one_value_and_a_frame_with_a_row_for_each_run_and_source(several):
    frame, told = several.to_pandas(), several.to_json_dict()
    rows = list(zip(frame["seed"], frame["source"], strict=True))

    assert [1, 2] == told["seeds"]
    assert "seeds 1-2" in repr(several)
    assert [(1, "writers"), (1, "merge"), (2, "writers"), (2, "merge")] == rows
    total = told["by_source"]["writers"]["txns"]["committed"]
    assert total == frame[frame["source"] == "writers"]["committed"].sum()


@pytest.mark.parametrize("runs", ["one", "several"])
def test_a_plot_has_a_curve_for_each_source_that_commits(runs, request):
    pytest.importorskip("vl_convert")
    chart = request.getfixturevalue(runs).plot().to_dict()
    curves, phases, *_ = chart["hconcat"]

    assert "writers" in {row["source"] for row in curves["data"]["values"]}
    assert "writers" in {row["source"] for row in phases["data"]["values"]}
    assert "var(" not in str(chart)


def test_a_plot_shows_itself_without_a_network(several):
    pytest.importorskip("vl_convert")
    shown = several.plot()._repr_mimebundle_()

    assert shown["image/svg+xml"].startswith("<svg")
    assert "text/html" not in shown


def test_the_package_shows_its_own_names_only():
    assert sorted(endive.__all__) == dir(endive)


@pytest.mark.parametrize("name", ["simulate", "limit", "advise", "compare", "explain"])
def test_a_signature_names_every_option(name):
    kinds = {parameter.kind for parameter in inspect.signature(getattr(endive, name)).parameters.values()}

    assert inspect.Parameter.VAR_KEYWORD not in kinds


@pytest.mark.lengthy
def test_the_questions_are_functions_that_return_values():
    limit = endive.limit(busy_config(), "source.writers.arrivals.clients", "writers.retries_mean <= 0.5", seeds_max=3)
    comparison = endive.compare(busy_config(), overrides={"source.writers.retry": 9}, seeds=2)
    story = endive.explain(busy_config(), worst=1)

    assert limit.interval[0] <= limit.value <= limit.interval[1]
    assert '<table class="answer-table">' in limit._repr_html_()
    assert " clients is the most that keeps writers.retries_mean <= 0.5 (now 8)" in repr(limit)
    assert repr(comparison).splitlines()[0]
    assert repr(story).startswith("transaction ")


def test_the_example_notebook_is_stored_with_what_it_shows():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    shown = [output["data"] for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]

    assert sum(cell["cell_type"] == "code" for cell in cells) == len(shown)
    assert any("image/svg+xml" in data for data in shown)
    assert "cdn." not in str(shown)


@pytest.mark.slow
def test_the_example_notebook_runs_from_top_to_bottom():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()

    assert all(cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code")
