"""However the page is ended, it ends in one line: Ctrl-C, SIGTERM, or a terminal that closes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.waiting import PATIENCE_S, wait_until

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

from endive.explore.serve import run_until_told


def hear_signals() -> None:
    """In the child: what a shell or nohup told the tests to ignore is not ignored here."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def explore(folder: Path, **how: bool) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"], subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear_signals, **how)


@pytest.mark.lengthy
def test_a_signal_ends_the_page_with_one_word_and_its_own_code(tmp_path):
    """SIGTERM; Ctrl-C is below, and that all of them are answered alike ``tests/cli/test_console.py``."""
    process = explore(tmp_path)
    assert process.stdout.readline().startswith("The page is at ")

    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)

    assert 128 + signal.SIGTERM == process.returncode
    assert "Traceback" not in errors
    assert "interrupted" == errors.splitlines()[-1]


def processes_of(session: int) -> int:
    """How many processes a session has."""
    stats = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            stats.append(entry.read_text().rpartition(")")[2].split())
    return sum(int(fields[3]) == session for fields in stats)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc")
@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow), 5])
@pytest.mark.lengthy
def test_a_ctrl_c_of_the_terminal_reaches_all_processes_and_none_complains(count, tmp_path):
    """While they start: the server alone, then with those that start others, then with the first two that simulate."""
    process = explore(tmp_path, start_new_session=True)
    process.stdout.readline()
    wait_until(lambda: processes_of(process.pid) >= count, f"{count} processes")

    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)

    assert 130 == process.returncode
    # Whoever is quick interrupts it before its second line.
    told = ["It answers this machine only. Ctrl-C ends it.", "interrupted"]
    assert errors.splitlines() in (told, told[1:])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_loop_runs_lets_the_server_start_and_stop_in_order(number):
    """uvicorn makes its coroutine first and hears signals later; one in between left the coroutine behind, loudly."""

    class Server:
        should_exit = False
        has_returned = False

        def run(self, sockets: object) -> None:
            signal.raise_signal(number)
            self.has_returned = self.should_exit

    server, reached = Server(), []
    before = signal.signal(number, lambda number, frame: reached.append((number, server.has_returned)))
    try:
        run_until_told(server, None)
    finally:
        signal.signal(number, before)

    assert [(number, True)] == reached
