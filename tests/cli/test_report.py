"""``endive report`` as a user sees it."""

import re

import pytest
from tests.report.synthetic import SyntheticStudy, write_synthetic
from typer.testing import CliRunner

from endive.cli.main import app
from endive.report import page


@pytest.fixture(autouse=True)
def without_vega(monkeypatch):
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")


@pytest.fixture
def folder(tmp_path):
    return write_synthetic(tmp_path / "out", SyntheticStudy("study", {"load_per_s": (1, 2, 4)}, has_groups=False))


def test_the_answer_is_a_table_with_its_verdicts_and_the_report_is_named_last(endive, folder):
    result = endive("report", folder)

    lines = result.stdout.splitlines()
    assert 0 == result.exit_code
    assert "What does the table take?" == lines[0]
    assert lines[2].split() == ["success", "(objective", ">=", "99", "%)", "1", "txns/s", "2", "txns/s", "4", "txns/s"]
    assert "3 configurations x 3 seeds" in result.stdout
    assert lines[-1].startswith(f"report: {folder}/report.html (")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_the_file_can_be_elsewhere(endive, folder, tmp_path):
    path = tmp_path / "pages" / "study.html"

    assert 0 == endive("report", folder, "--out", path).exit_code
    assert path.is_file()
    assert not (folder / "report.html").exists()


def test_a_folder_without_analysis_is_analysed_and_what_prevents_that_is_told(endive, tmp_path):
    (tmp_path / "_endive.json").write_text("{}")
    result = endive("report", tmp_path)

    assert 2 == result.exit_code
    assert result.stderr.startswith(f"{tmp_path} has not been analysed: analysing it\n")
    assert "_endive.json cannot be read as the manifest of a sweep" in result.stderr


@pytest.mark.parametrize(
    ("out", "told"), [("file/report.html", "Cannot write "), ("", "it is a folder; name a file in it")]
)
def test_a_place_that_cannot_be_written_is_an_error_in_words(endive, folder, out, told):
    (folder / "file").write_text("")
    result = endive("report", folder, "--out", folder / out)

    assert (2, True) == (result.exit_code, result.stderr.startswith("error: "))
    assert told in result.stderr


def test_two_folders_are_compared(endive, folder, tmp_path):
    other = write_synthetic(tmp_path / "other", SyntheticStudy("other", {"load_per_s": (1, 2, 4)}, capacity_per_s=6.0))
    result = endive("report", folder, "--compare", other)

    assert 0 == result.exit_code
    assert any(line.startswith("Other against Study: P95 from") for line in result.stdout.splitlines())


def test_a_missing_library_is_named(endive, folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = endive("report", folder)

    assert 2 == result.exit_code
    assert "needs the package vl-convert-python. Install it: pip install 'endive[report]'" in result.stderr


RUN = """
[simulation]
duration_ms = 20_000

[transaction]
inter_arrival = { scale = 500 }
runtime = { mean = 500, sigma = 0.5, min = 200 }
"""


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """The folder of one run."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "one.toml").write_text(RUN)
    answer = CliRunner().invoke(app, ["run", str(folder / "one.toml"), "--out", str(folder / "run")])
    assert 0 == answer.exit_code, answer.output
    return folder / "run"


def test_the_folder_of_a_run_gets_a_page_of_its_own(endive, run_folder, tmp_path):
    result = endive("report", run_folder, "--out", tmp_path / "run.html")
    text = (tmp_path / "run.html").read_text()

    assert 0 == result.exit_code, result.stderr
    lines = result.stdout.splitlines()
    assert "run: seed 42, one run" == lines[0]
    assert "(objective >= 99 %: inconclusive, one run has no interval)" in lines[1]
    assert lines[2].startswith("default: ")
    assert ["Commit latency", "Commits over simulated time", "Attempts", "Commit latency by phase"] == (
        re.findall(r"<h3>([^<]+)</h3><p>", text)
    )
    assert 4 == text.count("<svg ")


def test_a_run_is_judged_by_the_objective_asked_for(endive, run_folder, tmp_path):
    result = endive("report", run_folder, "--out", tmp_path / "run.html", "--slo", "committed >= 1000000")

    assert "(objective >= 1,000,000: inconclusive, one run has no interval)" in result.stdout


def test_a_run_is_compared_by_another_command(endive, run_folder):
    result = endive("report", run_folder, "--compare", run_folder)

    assert 2 == result.exit_code
    assert "holds one run: --figures and --compare are for sweeps. See endive compare." in result.stderr
