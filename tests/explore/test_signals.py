"""However the page is ended, it ends in one line: Ctrl-C, SIGTERM, or a terminal that closes."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.waiting import PATIENCE_S, wait_until

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")

import uvicorn
from tests.explore.conftest import WRITERS

from endive.explore.serve import WaryProtocol, run_until_told


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


@pytest.mark.lengthy
def test_clients_that_hang_up_and_an_open_page_at_the_end_cost_no_line(tmp_path):
    process = explore(tmp_path, start_new_session=True)
    address = urlsplit(process.stdout.readline().rpartition(" ")[2].strip())
    question = json.dumps({"start": WRITERS, "changes": {"simulation.duration_ms": "20h"}})
    headers = {"Origin": f"http://{address.netloc}", "Content-Type": "application/json"}

    def ask() -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE_S)
        connection.request("POST", f"{address.path}api/ask", question, headers)
        answer = connection.getresponse()
        answer.readline()
        return answer

    for _ in range(5):
        ask().close()
    still_open = ask()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    still_open.close()

    assert 130 == process.returncode
    assert "interrupted" == errors.splitlines()[-1]
    assert "Traceback" not in errors
    assert "ERROR" not in errors


class Transport(asyncio.Transport):
    """A connection without a network."""

    is_closed = False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return default

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("sent", "is_closed"),
    [
        (b"", True),
        (b"POST / HT", True),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123", True),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n123", False),
    ],
)
def test_a_connection_without_a_whole_request_is_closed_however_slowly_it_comes(sent, is_closed, monkeypatch):
    monkeypatch.setattr("endive.explore.serve.REQUEST_S_MAX", 0.0)
    transport = Transport()

    async def never_ends(*_: object) -> None:
        await asyncio.Event().wait()

    async def connect() -> None:
        config = uvicorn.Config(never_ends, http=WaryProtocol, log_config=None)
        config.load()
        protocol = WaryProtocol(config, uvicorn.server.ServerState(), {})
        protocol.connection_made(transport)
        if sent:
            protocol.data_received(sent)
        for _ in range(5):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    asyncio.run(connect())

    assert is_closed == transport.is_closed
