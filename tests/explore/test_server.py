"""The server as a user starts it, with processes of its own: their memory stays flat, and any may die."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from benchmarks.measuring import process_tree
from tests.explore.conftest import SHORT, WRITERS
from tests.waiting import PATIENCE_S

from endive.explore.crew import DIED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are read from /proc"),
]
ROOT = Path(__file__).parents[2]
SETTLING, MOVES = 200, 1_000  # until every process has done each of its jobs
GROWTH_MIB_MAX = 24.0  # of noise, over all processes


@pytest.fixture(scope="module")
def server():
    command = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    process.address = urlsplit(process.stdout.readline().rpartition(" ")[2].strip())
    yield process
    process.terminate()
    process.wait(timeout=PATIENCE_S)


def ask(server, **changes):
    """A connection on which a question has been asked, and the answer as a file."""
    connection = http.client.HTTPConnection(server.address.netloc, timeout=PATIENCE_S)
    body = json.dumps({"start": WRITERS, "changes": changes})
    headers = {"Origin": f"http://{server.address.netloc}", "Content-Type": "application/json"}
    connection.request("POST", f"{server.address.path}api/ask", body, headers)
    return connection.getresponse()


def next_event(answer):
    line = answer.readline()
    answer.readline()  # the empty one between two events
    return json.loads(line.removeprefix(b"data: ")) if line else None


def workers(server):
    """Processes that the server's forkserver has made."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
    children = {pid for pid, parent in parents.items() if parent == server.pid}
    return [pid for pid, parent in parents.items() if parent in children]


def move(server, number):
    """One move, taken back as soon as it is answered, as a page does that moves on."""
    changes = {**SHORT, "source.writers.arrivals.clients": str(2 + number % 30), "simulation.seed": str(number)}
    answer = ask(server, **changes)
    assert "answer" == next_event(answer)["type"]
    answer.close()


def resident_mib(server):
    """Memory of the server and of all its processes."""
    return sum(size for size, _ in process_tree(server.pid).values()) / 2**20


def test_memory_is_flat_over_a_thousand_moves(server):
    for number in range(SETTLING):
        move(server, number)
    before_mib = resident_mib(server)
    for number in range(SETTLING, SETTLING + MOVES):
        move(server, number)

    assert resident_mib(server) - before_mib < GROWTH_MIB_MAX


def test_a_process_that_dies_is_told_of_and_replaced(server):
    answer = ask(server, **{"simulation.duration_ms": "20h"})  # refines for long enough
    assert "answer" == next_event(answer)["type"]
    for pid in workers(server):
        os.kill(pid, signal.SIGKILL)

    events = list(iter(lambda: next_event(answer), None))
    assert {"type": "failed", "text": DIED} == events[-1]
    assert "answer" == next_event(ask(server, **SHORT))["type"]
    assert server.poll() is None
