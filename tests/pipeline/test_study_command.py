"""``endive study`` and ``endive check --recount`` as a user sees them, on one session."""

from __future__ import annotations

import pytest
import typer
from tests.pipeline.swept import change_value
from typer.testing import CliRunner

from endive.cli.console import EndiveGroup
from endive.cli.studies import check as check_command
from endive.cli.studies import study as study_command
from endive.report import page

SMALL = ("--set", "transaction.inter_arrival.scale=[2000]", "--set", "simulation.duration_ms=60_000")


@pytest.fixture
def endive(monkeypatch):
    """``endive("study", ...)``: exit code, stdout and stderr."""
    monkeypatch.setattr(page, "bundle", lambda: "window.vegaEmbed = null;")
    app = typer.Typer(cls=EndiveGroup)
    app.command("study")(study_command.study)
    app.command("check")(check_command.check)

    def invoke(*arguments: object):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.mark.spark
def test_one_session_sweeps_analyses_and_draws_and_every_metric_is_confirmed(
    endive, shared, study_file, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    result = endive("study", study_file, "--detail", "sample", *SMALL)

    assert (0, ["endive small"]) == (result.exit_code, shared.names), result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("small: 4 runs simulated in ")
    assert lines[-1].startswith("report: out/small/report.html (")
    assert (tmp_path / "out/small/analysis/index.json").is_file()

    whole = endive("check", tmp_path / "out/small", "--recount", "--quiet")
    assert (0, "") == (whole.exit_code, whole.stderr)
    assert whole.stdout.splitlines()[-1].endswith(" values are confirmed.")
    change_value(tmp_path / "out/small", "small", "retries_mean", 0, lambda _: 7.0)
    changed = endive("check", tmp_path / "out/small", "--recount", "--quiet")
    assert 1 == changed.exit_code
    assert "small: retries_mean differs in 1 of " in changed.stderr
    assert "written and recomputed: " in " ".join(changed.stderr.split())
