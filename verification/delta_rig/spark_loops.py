"""``python -m verification.delta_rig.spark_loops --jars DIR``: closed loops of Delta Spark on one table, measured.

Needs what ``delta_spark`` needs. Writers are threads of one JVM, and each has a name of its own for the bucket, so that
none shares another's log, cache or snapshot. Delta's ``S3SingleDriverLogStore`` looks whether a commit is there and
writes it, under a lock on the path; for several names the server holds that lock: who is told that a commit is not
there has it until it has written it.

A row of ``txns`` is as in ``rs_loops``, and how long it worked before its commit, without the requests that load its
table. What each request took is told as there, with what S3A asks between one and the next.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from verification.delta_rig.delta_spark import DATA, AliasedServer, start_spark
from verification.delta_rig.log_names import _PROBE, object_kind
from verification.delta_rig.rs_loops import DELAYS_MS, ENDINGS, SHARES, quantiles
from verification.java_rig.object_server import Door, LoggedRequest

WRITERS: Final = (1, 2, 4, 8)
LOCK_S: Final = 20.0
# Requests of the log by their words; what S3A asks besides belongs to the one before it.
READ: Final = {"LIST list", "GET commit", "GET crc", "GET checkpoint", "GET last_checkpoint"}
MODELLED: Final = READ | {"PUT crc_draft", "PUT checkpoint", "PUT last_checkpoint"}
CREATE: Final = "PUT commit"

Span = tuple[float, float, str]  # begin, end, word


class LockingServer(AliasedServer):
    """Holds the lock of ``S3SingleDriverLogStore`` for writers that have different names for one path."""

    def __init__(self) -> None:
        super().__init__(object_kind)
        self._free = threading.Condition()
        self._owners: dict[str, str] = {}
        self.asked: dict[tuple[str, str], float] = {}  # when a writer first wanted a commit, by its name and the key

    def guard(self, door: Door) -> None:
        """Have a door's requests for commits wait for the lock."""
        door.before = self._wait

    def _wait(self, entry: LoggedRequest) -> None:
        if entry.method != "HEAD" or entry.kind != "commit":
            return
        self.asked.setdefault((entry.door, entry.key), time.perf_counter())
        with self._free:
            self._free.wait_for(lambda: self._owners.get(entry.key, entry.door) == entry.door, LOCK_S)
            if entry.key not in self.objects:
                self._owners[entry.key] = entry.door

    def note(self, entry: LoggedRequest) -> None:
        """Logged when it is answered: a commit that is written gives its lock back."""
        super().note(entry)
        if entry.method == "PUT" and entry.kind == "commit":
            with self._free:
                self._owners.pop(entry.key, None)
                self._free.notify_all()


def spans_of(entries: Sequence[LoggedRequest], asked: dict[tuple[str, str], float]) -> list[Span]:
    """One writer's requests that the model knows, each from the look that S3A takes before it."""
    found: list[Span] = []
    looked: dict[str, float] = {}
    created = ""
    for at, entry in enumerate(entries):
        word = f"{entry.method} {entry.kind}"
        if entry.method == "HEAD":
            looked[entry.key] = entry.begin_s
            if entry.kind == "commit" and entry.key != created and not _is_read(entry, entries[at + 1 :]):
                created = entry.key
                found.append((asked.get((entry.door, entry.key), entry.begin_s), entry.end_s, CREATE))
        elif word == CREATE:
            found[-1] = (found[-1][0], entry.end_s, CREATE)
        elif word in MODELLED and not _PROBE.search(entry.query):
            found.append((looked.pop(entry.key, entry.begin_s), entry.end_s, word))
    return sorted(found)


def _is_read(entry: LoggedRequest, later: Sequence[LoggedRequest]) -> bool:
    """Whether a commit is looked for to be read, and not to be made: it is there, and it is read before a listing."""
    ends = (
        each for each in later if (each.method == "LIST" and not _PROBE.search(each.query)) or each.key == entry.key
    )
    after = next((each for each in ends if each.method in ("LIST", "GET", "PUT")), None)
    return entry.status < 300 and after is not None and after.method == "GET"


def note_spans(noted: dict[str, list[float]], spans: Sequence[Span], end_s: float) -> None:
    """What each took, with the work behind it until the next; of those under way together each its own."""
    at = 0
    while at < len(spans):
        last, over_s = at + 1, spans[at][1]
        while last < len(spans) and spans[last][0] < over_s:
            over_s = max(over_s, spans[last][1])
            last += 1
        work_s = (spans[last][0] if last < len(spans) else end_s) - over_s
        for begin_s, done_s, word in spans[at:last]:
            noted.setdefault(word, []).append(1e3 * (done_s - begin_s + work_s))
        at = last


class Loops:
    """One session, and runs of writers on tables of their own."""

    def __init__(self, server: LockingServer, jars: Path, slower: float) -> None:
        self.server = server
        self.maker = server.open_door("maker")
        self.maker.is_logged = False
        self.doors = [server.open_door(f"w{number}") for number in range(max(WRITERS))]
        self.spark = start_spark(jars, (self.maker, *self.doors), cores=2 * max(WRITERS))
        self._runs = 0
        self._delays = {method: slower * ms for method, ms in DELAYS_MS.items()}

    def run(self, writers: int, seconds: float) -> tuple[list[list[Any]], dict[str, list[float]]]:
        """Txns of one run, and what each kind of request took."""
        self._runs += 1
        name = f"loop{self._runs}"
        self.spark.sql(f"CREATE TABLE delta.`s3a://maker/{name}` (id int, p int, v int) USING delta PARTITIONED BY (p)")
        doors = self.doors[:writers]
        for door in doors:
            self._insert(door, name)
            door.delays_ms, door.way_out = self._delays, 0.5
            self.server.guard(door)
        self.server.take_log()
        self.server.asked.clear()
        begin_s = time.perf_counter() + 0.5
        rows: dict[str, list[tuple[float, float, int]]] = {door.name: [] for door in doors}
        threads = [
            threading.Thread(target=self._write, args=(door, name, begin_s, seconds, rows[door.name])) for door in doors
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for door in doors:
            door.before, door.delays_ms = None, {}
        return self._read_log(begin_s, rows)

    def _insert(self, door: Door, name: str) -> None:
        self.spark.sql(f"INSERT INTO delta.`s3a://{door.name}/{name}` VALUES (39, 3, 0)").collect()

    def _write(
        self, door: Door, name: str, begin_s: float, seconds: float, rows: list[tuple[float, float, int]]
    ) -> None:
        time.sleep(max(0.0, begin_s - time.perf_counter()))
        while time.perf_counter() < begin_s + seconds:
            call_s, code = time.perf_counter(), 0
            try:
                self._insert(door, name)
            except Exception as error:
                print(str(error)[:300], file=sys.stderr)
                code = ENDINGS.index("other")
            rows.append((call_s, time.perf_counter(), code))

    def _read_log(
        self, begin_s: float, rows: dict[str, list[tuple[float, float, int]]]
    ) -> tuple[list[list[Any]], dict[str, list[float]]]:
        log, noted = self.server.take_log(), dict[str, list[float]]()
        txns: list[list[Any]] = []
        for number, (name, own) in enumerate(rows.items()):
            entries = sorted((each for each in log if each.door == name), key=lambda each: each.begin_s)
            for call_s, end_s, code in own:
                spans = spans_of([each for each in entries if call_s <= each.begin_s < end_s], self.server.asked)
                first = next(at for at, span in enumerate(spans) if span[2] == CREATE)
                commit_s = spans[first][0]
                inside: dict[str, list[float]] = {}
                note_spans(inside, spans[:first], commit_s)
                loading_ms = sum(sum(each) for each in inside.values())
                note_spans(noted, spans[first:], end_s)
                for word, each in inside.items():
                    noted.setdefault(word, []).extend(each)
                times = [round(1e3 * (at - begin_s), 1) for at in (call_s, call_s, commit_s, end_s)]
                puts = sum(word == CREATE for _, _, word in spans)
                work_ms = round(1e3 * (commit_s - call_s) - loading_ms, 1)
                txns.append([number, *times, puts, code, work_ms])
        return sorted(txns, key=lambda row: row[4]), noted


def main() -> int:
    """Record the cells that are asked for; others stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--writers", type=int, nargs="*", default=list(WRITERS))
    parser.add_argument("--slower", type=float, default=2.0, help="a factor on every delay")
    parser.add_argument("--out", type=Path, default=DATA / "spark_loops.json")
    given = parser.parse_args()
    known = json.loads(given.out.read_text())["cells"] if given.out.is_file() else []
    cells = {each["writers"]: each for each in known}
    server = LockingServer()
    with server:
        loops = Loops(server, given.jars, given.slower)
        loops.run(2, 12.0)  # until the JVM is warm
        for count in given.writers:
            runs, pooled = [], dict[str, list[float]]()
            for _ in range(given.repetitions):
                txns, noted = loops.run(count, given.seconds)
                runs.append({"load_average": round(os.getloadavg()[0], 1), "txns": txns})
                for word, values in noted.items():
                    pooled.setdefault(word, []).extend(values)
                print(
                    f"{count} writers: {len(txns)} txns, load {runs[-1]['load_average']}", file=sys.stderr, flush=True
                )
            spans = {name: {"count": len(v), "quantiles_ms": quantiles(v)} for name, v in sorted(pooled.items())}
            cell = {"writers": count, "seconds": given.seconds, "slower": given.slower, "runs": runs, "spans": spans}
            cells[count] = cell
            document = {
                "spark": loops.spark.version,
                "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "cores": os.cpu_count(),
                "delays_ms": DELAYS_MS,
                "shares": SHARES,
                "endings": ENDINGS,
                "cells": [cells[key] for key in sorted(cells)],
            }
            given.out.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
        loops.spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
