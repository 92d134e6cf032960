"""``endive study`` and ``endive verify dataset`` as a user sees them, on one session."""

from __future__ import annotations

import json

import pytest
import typer
from tests.pipeline.swept import change_value, reseal_summaries
from typer.testing import CliRunner

from endive.cli import verify as verify_command
from endive.cli.console import EndiveGroup
from endive.cli.studies import study as study_command
from endive.report import page
from endive.verification import Check, Outcome

SMALL = ("--set", "transaction.inter_arrival.scale=[2000]", "--set", "simulation.duration_ms=60_000")


@pytest.fixture
def endive(monkeypatch):
    """``endive("study", ...)``: exit code, stdout and stderr."""
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")
    app = typer.Typer(cls=EndiveGroup)
    app.command("study")(study_command.study)
    app.command("verify")(verify_command.verify)

    def invoke(*arguments: object):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.mark.spark
def test_one_session_sweeps_analyses_and_draws_and_the_dataset_verifies(
    endive, shared, study_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    result = endive("study", study_file, "--detail", "sample", *SMALL)

    assert (0, ["endive small"]) == (result.exit_code, shared.names)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("small: 4 runs simulated in ")
    assert lines[-1].startswith("report: out/small/report.html (")
    assert (tmp_path / "out/small/analysis/index.json").is_file()

    change_value(tmp_path / "out/small/groups/study=small/groups.parquet", "retries_mean", 0, lambda _: 7.0)
    reseal_summaries(tmp_path / "out/small")
    verified = endive("verify", "dataset", tmp_path / "out/small", "--json")
    assert 1 == verified.exit_code
    (outcome,) = json.loads(verified.stdout)["outcomes"]
    assert ["retries_mean"] == [check["name"] for check in outcome["checks"] if check["verdict"] != "right"]


@pytest.mark.parametrize(
    ("actual", "code", "told"),
    [(1, 0, "right: 1 checks right, "), (2, 1, "wrong: retries_mean ("), (2, 1, "wrong: 1 wrong, ")],
)
def test_a_dataset_ends_with_0_only_if_every_figure_holds(endive, tmp_path, monkeypatch, actual, code, told):
    check = Check.exact("retries_mean", {"study": "small"}, expected=1, actual=actual)
    outcome = Outcome(suite="dataset", checks=(check,))
    monkeypatch.setattr("endive.verification.dataset.check_dataset", lambda folder, session: outcome)

    result = endive("verify", "dataset", tmp_path)

    assert (code, True) == (result.exit_code, told in result.stdout)


def test_a_folder_belongs_to_the_suite_dataset(endive, tmp_path):
    for arguments in (("verify", "dataset"), ("verify", "theory", tmp_path)):
        result = endive(*arguments)
        assert (2, True) == (result.exit_code, "endive verify dataset DIR" in result.stderr)
