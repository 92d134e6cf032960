"""Milliseconds from a move on the live page to its first answer, as a browser would see them.

    python -m benchmarks.explore

A real server with its worker processes answers moves of one key, one every ``PAUSE_S``, so that what refines the move
before is still at work and has to be taken back. Wall time, over HTTP, to the first event of the answer, with the 25 ms
for which the page waits whether the slider moves on; and CPU time of the same question without a server, which a busy
machine does not change much. The limit is 200 ms of wall time.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from benchmarks.measuring import ROOT, machine, table

LIMIT_MS: Final = 200.0
DEBOUNCE_MS: Final = 25.0  # MOVE_MS of page/main.js
MOVES: Final = 12
PAUSE_S: Final = 0.5
STARTS: Final = {
    "built-in/twenty_writers": ("source.writers.arrivals.clients", "20"),
    "questions/nightly_merge": ("source.streams.arrivals.clients", "30"),
    "questions/rest_catalog": ("source.writers.arrivals.per_s", "0.5"),
}


def main() -> int:
    """The table; 1 if half of the moves of a start took longer than the limit."""
    print(machine(), flush=True)
    rows = []
    is_late = False
    with served() as address:
        for start, (key, now) in STARTS.items():
            first_event_ms(address, start, key, now)  # tables of sums are made once
            took_ms = sorted(moves_ms(address, start, key, float(now)))
            is_late |= median(took_ms) > LIMIT_MS
            rows.append((start, f"{median(took_ms):.0f}", f"{took_ms[-1]:.0f}", f"{cpu_ms(start, key, now):.0f}"))
    print(table(("start", "median ms", "slowest ms", "CPU ms"), rows))
    print(f"{MOVES} moves each, {DEBOUNCE_MS:.0f} ms of them the page's own; the limit is {LIMIT_MS:.0f} ms.")
    return 1 if is_late else 0


def moves_ms(address: str, start: str, key: str, now: float) -> Iterator[float]:
    """Moves to other values, each while the one before is still refined."""
    waiting: http.client.HTTPConnection | None = None
    for number in range(MOVES):
        value = now * (1.0 + 0.05 * number)
        if waiting is not None:
            waiting.close()  # as the page takes its old question back
        took_ms, waiting = asked(address, start, key, f"{value:.0f}" if now >= 10 else f"{value:.3g}")
        yield took_ms + DEBOUNCE_MS
        time.sleep(PAUSE_S)
    if waiting is not None:
        waiting.close()


def cpu_ms(start: str, key: str, value: str) -> float:
    """CPU time from a question to its first answer, in this process; the least of five."""
    from endive.explore.jobs import first
    from endive.explore.page_question import read_question
    from endive.explore.starting_points import Starts, all_starts

    starts = Starts(all_starts(None))
    found = []
    for _ in range(5):
        begin_s = time.process_time()
        base = read_question({"start": start, "changes": {key: value}}, starts).base()
        next(first(base, lambda: False))
        found.append(1_000.0 * (time.process_time() - begin_s))
    return min(found)


def first_event_ms(address: str, start: str, key: str, value: str) -> float:
    """One question, and the connection closed."""
    took_ms, connection = asked(address, start, key, value)
    connection.close()
    return took_ms


def asked(address: str, start: str, key: str, value: str) -> tuple[float, http.client.HTTPConnection]:
    """Milliseconds to the first event; the connection is left open, so the server goes on refining."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=600)
    body = json.dumps({"start": start, "changes": {key: value}})
    begin_s = time.perf_counter()
    headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection.request("POST", f"{parts.path}api/ask", body, headers)
    line = connection.getresponse().readline()
    took_ms = 1_000.0 * (time.perf_counter() - begin_s)
    assert b'"type":"answer"' in line, line
    return took_ms, connection


@contextmanager
def served() -> Iterator[str]:
    """The address of a server of its own."""
    command = [sys.executable, "-m", "endive.cli.main", "explore", "--no-open"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().rpartition(" ")[2].strip()
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    sys.exit(main())
