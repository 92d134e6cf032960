"""``python -m rigs.delta.spark_loops --jars DIR``: closed loops of Delta Spark on one table, measured.

Needs what ``delta_spark`` needs. Writers are threads of one JVM, and each has a name of its own for the bucket, so that
none shares another's log, cache or snapshot. A commit is created if it is absent, as on Google's store: Delta's
``GCSLogStore`` leaves the decision to the store. S3A does not send the condition that Google's connector sends, so the
server adds it to every PUT of a commit, and refuses in the words that this LogStore knows.

Delayed are the requests of the log that the model knows and the PUT of the data; not what S3A asks besides (looks at
paths), nor the checksum, which it drafts and renames: it is there as soon after its commit as Spark can make it.

A row of ``txns`` is as in ``rs_loops``; then how long it worked before its commit, without what it asked to load its
table, and how many files of the log it read as a whole, before its commit and after it. What each request took is told
as there, with what S3A asks between one and the next; one that loads a table is told alone. Where the log is read as a
whole, ``LOG`` is the client's work, once for each time: until the next request, without those that read it.
``cpu_share`` of a run is the processors' time that Spark and the server took, of all there was.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from rigs.delta.delta_spark import BUCKET, DATA, AliasedServer, start_spark
from rigs.delta.log_names import PROBE, object_kind
from rigs.delta.loop_figures import DELAYS_MS, ENDINGS, OTHER, WRITERS, Cells, describe
from rigs.java.object_server import Door, LoggedRequest
from rigs.java.wire import HttpRequest
from verification.recordings import pool, run_together

LOG_STORE: Final = {
    "spark.delta.logStore.s3a.impl": "io.delta.storage.GCSLogStore",
    "spark.hadoop.fs.s3a.performance.flags": "create",
}
WARM_S: Final = 30.0
CREATE: Final = "PUT commit"
CHECKSUM: Final = "PUT crc_draft"
WINNER: Final = "GET commit"  # after a lost race
WHOLE: Final = (WINNER, "GET checkpoint")  # when a table is loaded without a checksum, or to make one or a checkpoint
LOG: Final = "log"
# Requests of the log by their words; what S3A asks besides belongs to the one before it.
READ: Final = ("LIST list", "GET commit", "GET crc", "GET checkpoint", "GET last_checkpoint")
WRITTEN: Final = (CREATE, "PUT checkpoint", "PUT last_checkpoint")
MODELLED: Final = {*READ, *WRITTEN, CHECKSUM}


def delays_of(slower: float) -> dict[str, float]:
    """What a request is delayed by, in ms."""
    return {word: slower * DELAYS_MS[word.split()[0]] for word in (*READ, *WRITTEN, "PUT data")}


def tell_probe(entry: LoggedRequest) -> None:
    """S3A asks whether a folder has anything in it: no listing of the log."""
    if PROBE.search(entry.query):
        entry.kind = "probe"


class ConditionalServer(AliasedServer):
    """Never overwrites a commit."""

    def serve(self, door: Door, request: HttpRequest) -> bytes:
        """A PUT of a commit is answered as if it had the condition."""
        if request.method == "PUT" and object_kind(urlsplit(request.target).path.lstrip("/")) == "commit":
            request = dataclasses.replace(request, headers={**request.headers, "if-none-match": "*"})
        return super().serve(door, request)


Span = tuple[float, float, str]  # begin, end, word
Call = tuple[float, float, int]  # begin, end, ending
Noted = dict[str, list[float]]


@dataclasses.dataclass(slots=True)
class Told:
    """One txn's requests: those that the model knows as spans, and how many files of the log were read as a whole."""

    loading: list[Span] = dataclasses.field(default_factory=list)
    committing: list[Span] = dataclasses.field(default_factory=list)
    before: list[LoggedRequest] = dataclasses.field(default_factory=list)  # files of the log, read as a whole
    after: list[LoggedRequest] = dataclasses.field(default_factory=list)


def tell(entries: Sequence[LoggedRequest]) -> Told:
    """Each request from the looks that S3A takes before it.

    What follows a commit that was made belongs to the checksum that is written next, so that a creation takes no longer
    where it wins than where it loses; the log that is read for that checksum is told apart.
    """
    told = Told()
    looked: dict[str, float] = {}  # since when, by the kind of what will be asked for
    is_behind = False
    for entry in entries:
        word = f"{entry.method} {entry.kind}"
        if entry.method == "HEAD":
            looked.setdefault("list" if entry.kind == "log" else entry.kind, entry.begin_s)
        elif word in WHOLE and not (is_behind and word == WINNER):
            (told.after if told.committing else told.before).append(entry)
        elif entry.kind != "probe":
            if word == CREATE:
                is_behind = entry.status >= 300
            if word in MODELLED:
                part = told.committing if told.committing or word == CREATE else told.loading
                part.append((looked.get(entry.kind, entry.begin_s), entry.end_s, word))
            looked = {"crc_draft": entry.end_s} if word == CREATE and not is_behind else {}
    return told


def note_reading(noted: Noted, read: Sequence[LoggedRequest], entries: Sequence[LoggedRequest], end_s: float) -> float:
    """How long the log was read as a whole, from the request before to the next; the work is told, by the times.

    Files that are looked for are among it: ``HEAD`` is a part of every ``GET``.
    """
    if not read:
        return 0.0
    first_s, last_s = read[0].begin_s, max(each.end_s for each in read)
    looks = [each for each in entries if each.method == "HEAD" and each.kind in ("commit", "checkpoint")]
    begin_s = max((each.end_s for each in entries if each.end_s <= first_s and each not in looks), default=first_s)
    next_s = min((each.begin_s for each in entries if each.begin_s >= last_s), default=end_s)
    asking_s, over_s = 0.0, first_s
    for each in sorted((*read, *looks), key=lambda each: each.begin_s):
        if first_s <= each.begin_s < next_s:
            asking_s += max(0.0, each.end_s - max(each.begin_s, over_s))
            over_s = max(over_s, each.end_s)
    times = max(Counter(each.key for each in read if f"{each.method} {each.kind}" == WINNER).values(), default=1)
    noted.setdefault(LOG, []).extend([1e3 * (next_s - begin_s - asking_s) / times] * times)
    return 1e3 * (next_s - begin_s)


def note_spans(noted: Noted, spans: Sequence[Span], end_s: float) -> None:
    """What each took, with the work behind it until the next; of those under way together each its own."""
    spans, at = sorted(spans), 0
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

    def __init__(self, server: ConditionalServer, jars: Path) -> None:
        self.server = server
        self.maker = server.open_door("maker")
        self.maker.is_logged = False
        self.doors = [server.open_door(f"w{number}") for number in range(max(WRITERS))]
        self.spark = start_spark(jars, (self.maker, *self.doors), cores=2 * max(WRITERS), besides=LOG_STORE)
        self._runs = 0

    def run(self, writers: int, seconds: float, delays: dict[str, float]) -> tuple[dict[str, Any], Noted]:
        """One run, and what each kind of request took."""
        self._runs += 1
        name = f"loop{self._runs}"
        self.spark.sql(f"CREATE TABLE delta.`s3a://maker/{name}` (id int, p int, v int) USING delta PARTITIONED BY (p)")
        doors = self.doors[:writers]
        for door in doors:
            self._insert(door, name)
            door.delays_ms, door.way_out, door.before = delays, 0.5, tell_probe
        self.server.take_log()
        calls: dict[str, list[Call]] = {door.name: [] for door in doors}
        begin_s, cpu_s = time.perf_counter() + 0.5, self._cpu_s()
        run_together([partial(self._write, door, name, begin_s, seconds, calls[door.name]) for door in doors])
        share = (self._cpu_s() - cpu_s) / (time.perf_counter() - begin_s) / (os.cpu_count() or 1)
        for door in doors:
            door.delays_ms = {}
        for key in [key for key in self.server.objects if key.startswith(f"{BUCKET}/{name}/")]:
            del self.server.objects[key]
        txns, noted = self._read_log(begin_s, calls)
        return {"load_average": round(os.getloadavg()[0], 1), "cpu_share": round(share, 3), "txns": txns}, noted

    def _cpu_s(self) -> float:
        """What Spark and the server have taken so far."""
        stat = Path(f"/proc/{self.spark.sparkContext._gateway.proc.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") + time.process_time()

    def _insert(self, door: Door, name: str) -> None:
        self.spark.sql(f"INSERT INTO delta.`s3a://{door.name}/{name}` VALUES (39, 3, 0)").collect()

    def _write(self, door: Door, name: str, begin_s: float, seconds: float, calls: list[Call]) -> None:
        time.sleep(max(0.0, begin_s - time.perf_counter()))
        while time.perf_counter() < begin_s + seconds:
            call_s, code = time.perf_counter(), 0
            try:
                self._insert(door, name)
            except Exception as error:
                print(str(error)[:300], file=sys.stderr)
                code = ENDINGS.index(OTHER)
            calls.append((call_s, time.perf_counter(), code))

    def _read_log(self, begin_s: float, calls: dict[str, list[Call]]) -> tuple[list[list[Any]], Noted]:
        log, noted = self.server.take_log(), Noted()
        txns: list[list[Any]] = []
        for number, (name, own) in enumerate(calls.items()):
            entries = sorted((each for each in log if each.door == name), key=lambda each: each.begin_s)
            for call_s, end_s, code in own:
                asked = [each for each in entries if call_s <= each.begin_s < end_s]
                told = tell(asked)
                commit_s = told.committing[0][0] if told.committing else end_s
                note_spans(noted, told.committing, end_s)
                if told.after:
                    noted[CHECKSUM][-1] -= note_reading(noted, told.after, asked, end_s)
                loading_ms = note_reading(noted, told.before, asked, end_s)
                for since_s, over_s, word in told.loading:
                    noted.setdefault(word, []).append(1e3 * (over_s - since_s))
                loading_ms += 1e3 * sum(over_s - since_s for since_s, over_s, _ in told.loading)
                work_ms = 1e3 * (commit_s - call_s) - loading_ms
                times = [round(1e3 * (at - begin_s), 1) for at in (call_s, call_s, commit_s, end_s)]
                puts = sum(word == CREATE for _, _, word in told.committing)
                whole = (len(told.before), len(told.after))
                txns.append([number, *times, puts, code, round(work_ms, 1), *whole])
        return sorted(txns, key=lambda row: row[4]), noted


def measure(loops: Loops, writers: int, given: argparse.Namespace) -> dict[str, Any]:
    """One cell."""
    runs: list[dict[str, Any]] = []
    pooled = Noted()
    for _ in range(given.repetitions):
        run, noted = loops.run(writers, given.seconds, delays_of(given.slower))
        runs.append(run)
        pool(pooled, noted)
        told = f"{writers} writers: {len(run['txns'])} txns, processors {run['cpu_share']:.0%}"
        print(f"{told}, load {run['load_average']}", file=sys.stderr, flush=True)
    spans = {name: describe(values) for name, values in sorted(pooled.items())}
    return {
        "writers": writers,
        "seconds": given.seconds,
        "slower": given.slower,
        "runs": runs,
        "spans": spans,
    }


def main() -> int:
    """Record the cells that are asked for; others stay as they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--writers", type=int, nargs="*", default=list(WRITERS))
    parser.add_argument("--slower", type=float, default=5.0, help="a factor on every delay")
    parser.add_argument("--out", type=Path, default=DATA / "spark_loops.json")
    given = parser.parse_args()
    cells = Cells(given.out, "slower", "writers")
    delta = next(re.findall(r"\d+\.\d+\.\d+", jar.name)[-1] for jar in given.jars.glob("delta-spark*.jar"))
    server = ConditionalServer(object_kind)
    with server:
        loops = Loops(server, given.jars)
        loops.run(4, WARM_S, {})
        for count in given.writers:
            cells.replace(measure(loops, count, given))
            cells.write({"spark": loops.spark.version, "delta": delta})
        loops.spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
