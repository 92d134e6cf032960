"""``endive verify --live`` that is told to stop: one line, and nobody is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from endive.verification.suite import UnavailableError
from rigs.live import run_apart

# A rig with a server of its own that takes no hint; the rig itself says that it was asked to stop.
RIG = """#!/bin/sh
sh -c 'trap "" TERM; while :; do sleep 1; done' &
trap 'echo asked >> "$RIG_NOTES"; exit 143' TERM
echo $! >> "$RIG_NOTES"
while :; do sleep 0.1; done  # "wait" may miss a signal that comes just before it
"""


def wait_until(is_so, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def rig(tmp_path, monkeypatch):
    script, notes = tmp_path / "rig", tmp_path / "notes"
    script.write_text(RIG)
    script.chmod(0o755)
    notes.touch()
    monkeypatch.setenv("RIG_NOTES", str(notes))
    return script


@pytest.mark.lengthy
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_live_run_that_is_stopped_ends_its_rig_and_the_rigs_servers(rig, tmp_path, number):
    notes = tmp_path / "notes"
    command = [sys.executable, "-m", "endive.cli.main", "verify", "replay", "--live", "--iceberg-jars", str(tmp_path)]
    live = subprocess.Popen(
        command, env={**os.environ, "ENDIVE_SPARK_PYTHON": str(rig)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until(lambda: notes.read_text().endswith("\n"))
    server = int(notes.read_text())
    assert is_running(server)

    live.send_signal(number)
    _, said = live.communicate(timeout=90)

    assert 128 + number == live.returncode
    assert 1 == len(said.decode().strip().splitlines()), said
    assert "asked" == notes.read_text().split()[-1]
    wait_until(lambda: not is_running(server))


@pytest.mark.lengthy  # a second of patience
def test_a_rig_that_takes_too_long_is_ended_with_its_servers(rig, tmp_path):
    with pytest.raises(UnavailableError, match="did not end within 1 s"):
        run_apart([str(rig)], timeout_s=1.0)

    server = int(Path(os.environ["RIG_NOTES"]).read_text().split()[0])
    wait_until(lambda: not is_running(server))
