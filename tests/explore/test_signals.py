"""However the page is ended, it ends in one line: Ctrl-C, SIGTERM, or a terminal that closes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")


def hear_signals() -> None:
    """In the child: what a shell or nohup told the tests to ignore is not ignored here."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_page_with_one_word_and_its_own_code(number, tmp_path):
    command = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear_signals)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("The page is at ")

    process.send_signal(number)
    _, errors = process.communicate(timeout=300)

    assert 128 + number == process.returncode
    assert "Traceback" not in errors
    assert "interrupted" == errors.splitlines()[-1]


@pytest.mark.parametrize("wait_s", [0.3, 0.8, 1.5])
def test_a_ctrl_c_of_the_terminal_reaches_all_processes_and_none_complains(wait_s, tmp_path):
    """While they start; the moments are those at which the processes complained."""
    command = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_signals,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(wait_s)  # no condition is waited for: whatever the moment, one line follows

    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=300)

    assert 130 == process.returncode
    assert ["It answers this machine only. Ctrl-C ends it.", "interrupted"] == errors.splitlines()
