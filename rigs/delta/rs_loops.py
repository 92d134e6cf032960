"""``python -m rigs.delta.rs_loops``: closed loops of delta-rs on one table, measured.

Needs a Python with ``deltalake``, as ``delta_rs`` does. Every writer is a process with a door of its own; it appends,
and begins again as soon as the last append has ended. *keep*: it loads its table once, and again after a failure;
*load*: it loads it for every append.

A row of ``txns`` is writer, load, call, commit and end in ms since the start, PUTs of a commit, and how it ended.
*commit* is when the first request for the log came: what lies before it is the client's own work and the PUT of its
data.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import deltalake
from deltalake import DeltaTable

from rigs.delta.delta_rs import DATA
from rigs.delta.ground import BUCKET, append, make_table, options_of
from rigs.delta.log_names import object_kind
from rigs.delta.loop_figures import (
    CLEANED,
    COMMITTED,
    DELAYS_MS,
    ENDINGS,
    EXHAUSTED,
    OTHER,
    WRITERS,
    Cells,
    describe,
)
from rigs.java.object_server import Door, LoggedRequest, ObjectServer
from verification.recordings import pool

TOGETHER_MAX: Final = 16
READ: Final = "GET commit"
REPLAYED: Final = "GET commit, replayed"  # with the client's work when it has brought its table up to date


def ending_of(error: Exception) -> str:
    """Which of the endings an exception is."""
    text = str(error)
    if "Failed to commit transaction: 15" in text:
        return EXHAUSTED
    return CLEANED if "Invalid table version" in text else OTHER


def writer(number: int, port: int, uri: str, way: str, seconds: float, ready: Any, start: Any, answers: Any) -> None:
    """One process: appends until the time is over; loading counts as part of the loop, not of an append."""
    options = options_of(Door("", port))
    table = DeltaTable(uri, storage_options=options)
    ready.wait()
    begin_s = start.get()
    time.sleep(max(0.0, begin_s - time.perf_counter()))
    txns = []
    must_load = False
    while time.perf_counter() < begin_s + seconds:
        load_s = time.perf_counter()
        if must_load or way == "load":
            table = DeltaTable(uri, storage_options=options)
        call_s = time.perf_counter()
        try:
            append(table, 39)
            ending = COMMITTED
        except Exception as error:
            ending = ending_of(error)
        must_load = ending != COMMITTED
        txns.append((load_s, call_s, time.perf_counter(), ending))
    answers.put((number, txns))


def run(writers: int, way: str, seconds: float, slower: float = 1.0) -> tuple[list[list[Any]], dict[str, list[float]]]:
    """One run: its txns, and what each kind of request took from the client's side."""
    context = multiprocessing.get_context("spawn")
    with ObjectServer(object_kind) as server:
        maker = server.open_door("maker")
        maker.is_logged = False
        uri = f"s3://{BUCKET}/loop"
        make_table(uri, options_of(maker))
        doors = [server.open_door(str(number)) for number in range(writers)]
        for door in doors:
            door.delays_ms, door.way_out = {method: slower * ms for method, ms in DELAYS_MS.items()}, 0.5
        answers, start, ready = context.Queue(), context.Queue(), context.Barrier(writers + 1)
        processes = [
            context.Process(target=writer, args=(number, door.port, uri, way, seconds, ready, start, answers))
            for number, door in enumerate(doors)
        ]
        for process in processes:
            process.start()
        ready.wait()
        server.take_log()
        begin_s = time.perf_counter() + 0.5
        for _ in processes:
            start.put(begin_s)
        found = dict(answers.get() for _ in processes)
        for process in processes:
            process.join()
        log = server.take_log()
    rows: list[list[Any]] = []
    spans: dict[str, list[float]] = {}
    for number, txns in found.items():
        own = sorted((entry for entry in log if entry.door == str(number)), key=lambda entry: entry.begin_s)
        for load_s, call_s, end_s, ending in txns:
            inside = [entry for entry in own if call_s <= entry.begin_s < end_s]
            note_spans(spans, inside, end_s)
            commit_s = next((entry.begin_s for entry in inside if entry.kind != "data"), end_s)
            puts = sum(entry.method == "PUT" and entry.kind == "commit" for entry in inside)
            times = (round(1e3 * (at - begin_s), 1) for at in (load_s, call_s, commit_s, end_s))
            rows.append([number, *times, puts, ENDINGS.index(ending)])
    return sorted(rows, key=lambda row: row[4]), spans


def note_spans(spans: dict[str, list[float]], entries: Sequence[LoggedRequest], end_s: float) -> None:
    """What each request took, with the client's work behind it: until the next one came, or the txn ended.

    Of requests that were under way together each has its own duration, and the work behind the last of them. Of many
    nothing is noted: a whole log that is loaded for a checkpoint keeps the server busy, which no single request sees.
    """
    groups = grouped(entries)
    for at, group in enumerate(groups):
        next_s = groups[at + 1][0].begin_s if at + 1 < len(groups) else end_s
        work_s = next_s - max(entry.end_s for entry in group)
        for entry in group if len(group) <= TOGETHER_MAX else ():
            name = entry.method if entry.kind == "list" else f"{entry.method} {entry.kind}"
            name = REPLAYED if name == READ and is_replayed(groups, at) else name
            spans.setdefault(name, []).append(1e3 * (entry.end_s - entry.begin_s + work_s))


def grouped(entries: Sequence[LoggedRequest]) -> list[list[LoggedRequest]]:
    """Requests that were under way together."""
    groups: list[list[LoggedRequest]] = []
    over_s = 0.0
    for entry in entries:
        if entry.begin_s < over_s:
            groups[-1].append(entry)
        else:
            groups.append([entry])
        over_s = max(over_s, entry.end_s)
    return groups


def is_replayed(groups: Sequence[Sequence[LoggedRequest]], at: int) -> bool:
    """Whether commit files read here bring a table up to date: the last ones before a PUT, and the second after one."""
    after = groups[at + 1][0] if at + 1 < len(groups) else None
    before = groups[at - 3][0] if at >= 3 else None
    is_last = after is not None and _is_commit(after)
    return is_last or (before is not None and _is_commit(before) and before.status < 300)


def _is_commit(entry: LoggedRequest) -> bool:
    return entry.method == "PUT" and entry.kind == "commit"


def measure(writers: int, way: str, seconds: float, repetitions: int, slower: float) -> dict[str, Any]:
    """One cell."""
    runs: list[dict[str, Any]] = []
    pooled: dict[str, list[float]] = {}
    for _ in range(repetitions):
        txns, spans = run(writers, way, seconds, slower)
        runs.append({"load_average": round(os.getloadavg()[0], 1), "txns": txns})
        pool(pooled, spans)
        counts = {ENDINGS[code]: sum(row[6] == code for row in txns) for code in range(len(ENDINGS))}
        print(f"{way}, {writers} writers: {counts}, load {runs[-1]['load_average']}", file=sys.stderr, flush=True)
    return {
        "writers": writers,
        "way": way,
        "seconds": seconds,
        "slower": slower,
        "runs": runs,
        "spans": {name: describe(values) for name, values in sorted(pooled.items())},
    }


def main() -> int:
    """Record the cells that are asked for; others stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--repetitions", type=int, default=4)
    parser.add_argument("--writers", type=int, nargs="*", default=list(WRITERS))
    parser.add_argument("--slower", type=float, default=1.0, help="a factor on every delay")
    parser.add_argument("--way", choices=("keep", "load"), default="keep")
    parser.add_argument("--out", type=Path, default=DATA / "rs_loops.json")
    given = parser.parse_args()
    cells = Cells(given.out, "way", "slower", "writers")
    for count in given.writers:
        cells.replace(measure(count, given.way, given.seconds, given.repetitions, given.slower))
    cells.write({"deltalake": deltalake.__version__})
    return 0


if __name__ == "__main__":
    sys.exit(main())
