"""``python -m rigs.delta.rs_history``: a history of delta-rs, as its log and as its clients tell it.

Three writers on one table of the rig's object server, a process each: a stream of appends, deletes of single rows, and
compactions. What is kept: the ``_delta_log`` without its checkpoints, and ``attempts.csv``, in which every call is
noted by whoever made it, failed ones too. Needs a Python with ``deltalake``, as ``delta_rs`` does.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any, Final

from deltalake import DeltaTable

from rigs.delta.ground import BUCKET, append, make_table, options_of
from rigs.delta.log_names import object_kind
from rigs.delta.loop_figures import DELAYS_MS
from rigs.java.object_server import Door, ObjectServer

OUT: Final = Path(__file__).parents[2] / "tests/observation/data/delta_rs"
PERIODS_S: Final = {"stream": 0.3, "deletes": 1.5, "compactions": 4.0}
COLUMNS: Final = ("timestamp", "operation", "writer", "duration_ms", "outcome")
OPERATIONS: Final = {"stream": "append", "deletes": "overwrite", "compactions": "replace"}


def write(kind: str, number: int, table: DeltaTable) -> None:
    """One commit of a writer."""
    if kind == "stream":
        append(table, 39, 99)
    elif kind == "deletes":
        table.delete(f"p = 3 AND id = {30 + number % 9} AND v = 0")
    else:
        table.optimize.compact(partition_filters=[("p", "=", "9")])


def writer(kind: str, port: int, uri: str, seconds: float, answers: Any) -> None:
    """A commit every period, each on a freshly loaded table."""
    options = options_of(Door("", port))
    begin_s, noted = time.time(), []
    for number in range(int(seconds / PERIODS_S[kind])):
        time.sleep(max(0.0, begin_s + number * PERIODS_S[kind] - time.time()))
        table = DeltaTable(uri, storage_options=options)
        started_s, outcome = time.time(), "committed"
        try:
            write(kind, number, table)
        except Exception:
            outcome = "failed"
        noted.append((started_s, kind, time.time() - started_s, outcome))
    answers.put(noted)


def record(seconds: float, out: Path) -> None:
    """Play the history and keep it."""
    context = multiprocessing.get_context("spawn")
    with ObjectServer(object_kind) as server:
        door = server.open_door("all")
        uri = f"s3://{BUCKET}/history"
        make_table(uri, options_of(door), {"delta.checkpointInterval": "20"})
        door.delays_ms, door.way_out = DELAYS_MS, 0.5
        answers = context.Queue()
        processes = [
            context.Process(target=writer, args=(kind, door.port, uri, seconds, answers)) for kind in PERIODS_S
        ]
        for process in processes:
            process.start()
        noted = sorted(row for _ in processes for row in answers.get())
        for process in processes:
            process.join()
        log = {key: body for key, body in server.objects.items() if "_delta_log/" in key and "checkpoint." not in key}
    folder = out / "_delta_log"
    folder.mkdir(parents=True, exist_ok=True)
    for key, body in log.items():
        (folder / key.rpartition("/")[2]).write_bytes(body)
    with (out / "attempts.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for started_s, kind, took_s, outcome in noted:
            when = datetime.datetime.fromtimestamp(started_s, datetime.UTC).isoformat(timespec="milliseconds")
            rows.writerow((when.replace("+00:00", "Z"), OPERATIONS[kind], kind, round(1e3 * took_s, 1), outcome))
    print(f"{len(log)} files of the log, {len(noted)} calls in {out}")


def main() -> int:
    """Record a history."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=24.0)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    record(given.seconds, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
