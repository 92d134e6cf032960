"""``endive sweep`` as a user starts it, interrupts it and gets it wrong."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.command import started
from tests.pipeline.contents import contents, rows
from tests.pipeline.in_process import InProcessSpark
from tests.pipeline.processes import descendants, parts_there
from tests.waiting import PATIENCE_S, wait_until
from typer.testing import CliRunner

from endive.cli.main import app
from endive.cli.studies.sweep import duration, standing_text
from endive.pipeline import run_sweep
from endive.pipeline.spark import session as session_module
from endive.pipeline.sweep.run_sweep import Standing


@pytest.fixture
def endive():
    """``endive(path, ...)``: exit code, stdout and stderr of ``endive sweep`` in this process."""

    def invoke(*arguments: object):
        return CliRunner().invoke(app, ["sweep", *(str(argument) for argument in arguments)])

    return invoke


@pytest.mark.lengthy
def test_a_dry_run_shows_the_grid_its_size_and_an_estimate_and_writes_nothing(endive, study_file, tmp_path):
    answer = endive(study_file, "--dry-run", "--out", tmp_path / "out")

    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert answer.exit_code == 0
    assert "transaction.inter_arrival.scale 3 500, 1000, 2000" in lines
    assert 'transaction.retry_backoff.policy 2 "none", "iceberg"' in lines
    assert "Does a retry policy pay?" in lines
    assert "6 combinations (0 dropped) x 2 seeds = 12 runs" in lines
    assert "about 280 txns" in lines
    assert [line for line in lines if line.startswith("about ") and line.endswith("(scaled from runs made now)")]
    assert not (tmp_path / "out").exists()


def test_a_sweep_that_is_complete_says_so_and_needs_no_spark(endive, study_file, out):
    answer = endive(study_file, "--out", out, "--master", "spark://127.0.0.1:1")

    assert (0, "") == (answer.exit_code, answer.stderr)
    assert answer.stdout.startswith("small: 0 runs simulated in ")
    assert answer.stdout.endswith(f" in {out}\n")
    assert "(12 were there)" in answer.stdout
    more = endive(study_file, "--dry-run", "--out", out, "--seeds", 3)
    assert f"12 of these runs are in {out} already" in more.stdout


def refusal(answer) -> str:
    """The one line on stderr of a command that ended with 2 and printed nothing else."""
    assert (answer.exit_code, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    return line.removeprefix("error: ")


OUT = ("--out", "out")
POLICY, POLCIY = "transaction.retry_backoff.policy", "transaction.retry_backoff.polciy"


@pytest.mark.parametrize(
    ("was", "text", "options", "told"),
    [
        ("policy", "polciy", OUT, f"axes: '{POLCIY}' is not a key of a configuration. Did you mean '{POLICY}'?"),
        ("[base.sim", "[[drop]]\nwhen = 'true'\n[base.sim", OUT, "The grid is empty"),
        (
            "",
            "",
            (*OUT, "--seeds", 2000),
            "The study has 12,000 runs; above 10,000, say that you mean it with --yes (--",
        ),
        ("", "", (*OUT, "--master", "spark://127.0.0.1:1"), "--master spark://127.0.0.1:1 cannot be reached: 127.0."),
        ("", "", (), "Where to? Name the folder of the dataset with --out DIR"),
    ],
)
def test_a_study_that_cannot_be_swept_is_refused_in_one_line(
    endive, study_file, tmp_path, monkeypatch, was, text, options, told
):
    monkeypatch.chdir(tmp_path)
    study_file.write_text(study_file.read_text().replace(was, text))

    assert refusal(endive(study_file, *options)).startswith(told)
    assert not (tmp_path / "out").exists()


@pytest.mark.lengthy
def test_a_folder_nobody_may_write_into_is_refused_in_one_line(study_file, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir(mode=0o555)
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study_file), "--out", str(folder)]
    if os.geteuid() == 0:  # who may write anywhere, unless it is taken from him
        if shutil.which("setpriv") is None:
            pytest.skip("root can give up its powers only with setpriv")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]

    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    told = f"error: Cannot write {folder}: permission denied; choose a folder you may write to."
    assert (2, [told]) == (answer.returncode, answer.stderr.splitlines())
    assert [] == list(folder.iterdir())


def test_the_bar_tells_runs_rate_and_time_left():
    assert standing_text(Standing(0, 12, 0.0), 3.0) == "0 of 12 runs"
    assert standing_text(Standing(3, 12, 0.5), 6.0) == "3 of 12 runs, 0.5 runs/s, 6 s left"
    resumed = Standing(9, 12, 0.75, runs_before=6, share_before=0.5)
    assert standing_text(resumed, 6.0) == "9 of 12 runs (6 were there), 0.5 runs/s, 6 s left"
    texts = ["0 s", "59 s", "1 min 15 s", "59 min 59 s", "2 h 01 min"]
    assert texts == [duration(seconds) for seconds in (0.4, 59, 75, 3599, 7260)]


@pytest.mark.lengthy
def test_an_interrupted_sweep_says_what_is_kept_and_goes_on_to_the_same_dataset(
    endive, study_file, in_process, whole, tmp_path, monkeypatch
):
    monkeypatch.setattr(session_module, "make_session", lambda name, **_: in_process)
    out, in_process.dies_after = tmp_path / "out", 1

    answer = endive(study_file, "--out", out)

    assert (130, "") == (answer.exit_code, answer.stdout)
    kept = f"What was finished is kept in {out}; the same command goes on from there."
    assert [kept, "interrupted"] == answer.stderr.splitlines()
    assert not (out / "_progress").exists()
    in_process.dies_after = None
    assert 0 == endive(study_file, "--out", out).exit_code
    assert contents(whole) == contents(out)


LONGER = ("--master", "local[2]", "--set", "simulation.duration_ms=200_000", "--commit-every", "0.5", "--seeds", "24")


def wait_for_parts(process: subprocess.Popen[str], out: Path, count: int) -> None:
    wait_until(lambda: process.poll() is not None or parts_there(out) >= count, f"{count} parts in {out}")
    assert process.poll() is None, process.communicate()


@pytest.mark.slow  # ``make chaos`` does so too; without Spark: above, and tests/pipeline/test_chaos.py
@pytest.mark.spark
def test_a_killed_and_an_interrupted_sweep_go_on_to_the_same_dataset(study_file, planned, tmp_path):
    study = planned("simulation.duration_ms=200_000", seeds=24)
    out = tmp_path / "out"

    driver = started(study_file, out, *LONGER)
    wait_for_parts(driver, out, 2)
    jvm_and_workers = descendants(driver.pid)
    os.kill(driver.pid, signal.SIGKILL)
    for pid in jvm_and_workers:  # they go by themselves, but a machine that is lost takes them along at once
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert driver.wait() == -signal.SIGKILL
    after_kill = parts_there(out)
    assert 2 <= after_kill

    driver = started(study_file, out, *LONGER)
    wait_for_parts(driver, out, after_kill + 2)
    os.kill(driver.pid, signal.SIGINT)
    stdout, stderr = driver.communicate()
    assert (driver.returncode, stdout) == (130, "")
    assert stderr.splitlines() == [
        f"What was finished is kept in {out}; the same command goes on from there.",
        "interrupted",
    ]
    after_interrupt = parts_there(out)
    assert not (out / "_progress").exists()
    kept = len(rows(out))

    outcome = run_sweep(study, out, InProcessSpark, engine="reference")
    assert after_kill + 2 <= after_interrupt
    assert (outcome.kept, outcome.simulated) == (kept, 144 - kept)
    run_sweep(study, tmp_path / "whole", InProcessSpark, engine="reference")
    assert contents(out) == contents(tmp_path / "whole")
