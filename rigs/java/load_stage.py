"""Loads real Iceberg on this machine: closed-loop writers on one table, and slow operations beside a stream of appends.

Written down are every txn, and how long requests took beyond the delay the object server added. It judges nothing and
simulates nothing; see ``verification.suites.load.java_load``.

Each writer has a catalog client, an S3 client and a door of its own, so that its requests form one sequence. A writer
is a Python thread that sits in one call of the JVM most of the time; its data files are made beforehand.
"""

from __future__ import annotations

import functools
import itertools
import os
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from rigs.java.gateway import IcebergJvm, Java
from rigs.java.object_server import Door, LoggedRequest, ObjectServer, s3_properties
from rigs.java.operations import (
    BASE_IDS,
    RIVAL_IDS,
    Files,
    build,
    commit,
    commit_append,
    create_table,
)
from verification.recordings import QUANTILES, run_together
from verification.suites.java.scenario import VICTIM_PARTITION, Operation
from verification.suites.load.cells import BASE_SNAPSHOTS, DELAYS_MS

WORKER_THREADS: Final = 64  # writers share one JVM here; each would have a pool of its own
FILES_PER_S: Final = 8.0  # made beforehand: more than one writer commits; what is missing is made on the way
POINTER_CALLS: Final = 400
FAILURES: Final = ("CommitFailedException", "ValidationException")


@dataclass(frozen=True, slots=True, kw_only=True)
class Txn:
    """One txn as its writer saw it; times in seconds since the run began."""

    writer: int
    load_s: float  # when it began to load its table
    loaded_s: float  # when it had loaded it
    commit_s: float  # when it began to commit
    end_s: float
    is_committed: bool
    attempts: int
    turn_s: float = 0.0  # when it was its turn to commit, if it waited for that


@dataclass(slots=True, kw_only=True)
class Run:
    """One run: who did what, how busy the machine was, and what requests took beyond their delay, by kind, in ms."""

    txns: list[Txn]
    duration_s: float
    load_average: float
    beyond_ms: dict[str, list[float]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, times to a tenth of a millisecond."""
        rows = [
            [t.writer, round(t.load_s, 4), round(t.commit_s, 4), round(t.end_s, 4), int(t.is_committed), t.attempts]
            for t in self.txns
        ]
        return {
            "duration_s": round(self.duration_s, 3),
            "load_average": self.load_average,
            "txns": rows,
            "beyond_ms": {kind: quantiles(values) for kind, values in sorted(self.beyond_ms.items())},
        }


def quantiles(values: Sequence[float]) -> list[float]:
    """How many, their mean, and the values at the shares of ``QUANTILES``."""
    ordered = sorted(values)
    last = len(ordered) - 1
    mean = sum(ordered) / len(ordered)
    return [len(ordered), round(mean, 2), *(round(ordered[round(last * share)], 1) for share in QUANTILES)]


class LoadStage:
    """A JVM and an object store that delays, with as many writers as a run asks for; a context manager."""

    def __init__(self, jars: Path | None = None) -> None:
        self._stack = ExitStack()
        self.objects = self._stack.enter_context(ObjectServer())
        self.jvm = self._stack.enter_context(IcebergJvm(jars, worker_threads=WORKER_THREADS))
        self.files = Files(self.jvm)
        self._quick = self.objects.open_door("quick")
        self._quick.is_logged = False
        self.quick = self.jvm.jdbc_catalog(s3_properties(self._quick))
        self._writers: list[tuple[Door, Java]] = []
        self._tables = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def writer(self, index: int) -> tuple[Door, Java]:
        """The door and the catalog of a writer; they live as long as the stage."""
        while len(self._writers) <= index:
            door = self.objects.open_door(f"writer{len(self._writers)}")
            door.delays_ms = DELAYS_MS
            self._writers.append((door, self.jvm.jdbc_catalog(s3_properties(door))))
        return self._writers[index]

    def new_table(self, snapshots: int = BASE_SNAPSHOTS) -> Java:
        """A table with a few snapshots, made without delays."""
        self._tables += 1
        table = create_table(self.jvm, self.files, self.quick, f"load{self._tables}", {})
        for _ in range(snapshots):
            commit_append(self.files, table, VICTIM_PARTITION, BASE_IDS)
        return self.jvm.identifier(f"load{self._tables}")

    def pointer_ms(self) -> float:
        """How long one statement to the database takes, without the trip from Python to the JVM."""
        identifier = self.new_table(1)
        operations = self.quick.loadTable(identifier).operations()
        for _ in range(POINTER_CALLS):
            operations.refresh()
        refresh_s = _mean_call_s(operations.refresh)
        return 1000.0 * max(0.0, refresh_s - _mean_call_s(operations.current))

    # --- closed loop --------------------------------------------------------------------------------

    def run_closed(self, writers: int, duration_s: float) -> Run:
        """Writers that append, one file per txn, as fast as they can; each loads the table before every txn."""
        identifier = self.new_table()
        each = range(round(duration_s * FILES_PER_S / min(writers, 4)))
        made = [[self.files.data(VICTIM_PARTITION, RIVAL_IDS) for _ in each] for _ in range(writers)]
        for index in range(writers):
            self.writer(index)[1].loadTable(identifier)
        self.objects.take_log()
        txns: list[list[Txn]] = [[] for _ in range(writers)]
        begin_s = time.perf_counter()

        def write(index: int) -> None:
            catalog = self.writer(index)[1]
            spare = iter(made[index])
            while (load_s := time.perf_counter()) - begin_s <= duration_s:
                data_file = next(spare, None) or self.files.data(VICTIM_PARTITION, RIVAL_IDS)
                table = catalog.loadTable(identifier)
                loaded_s = time.perf_counter()
                append = table.newFastAppend().appendFile(data_file)
                commit_s = time.perf_counter()
                is_committed = commits(append)
                txns[index].append(_txn(index, begin_s, (load_s, loaded_s, commit_s), is_committed))

        run_together([functools.partial(write, index) for index in range(writers)])
        time.sleep(0.01)
        log = self.objects.take_log()
        return finished(txns, log, begin_s, duration_s)


def _txn(writer: int, begin_s: float, until_commit_s: tuple[float, float, float], is_committed: bool) -> Txn:
    end_s = time.perf_counter()
    load_s, loaded_s, commit_s = until_commit_s
    return Txn(
        writer=writer,
        load_s=load_s - begin_s,
        loaded_s=loaded_s - begin_s,
        commit_s=commit_s - begin_s,
        end_s=end_s - begin_s,
        is_committed=is_committed,
        attempts=0,  # counted from the log
    )


def finished(
    txns: Sequence[Sequence[Txn]],
    log: Sequence[LoggedRequest],
    begin_s: float,
    duration_s: float,
    *,
    is_building_apart: bool = False,
) -> Run:
    """Count attempts (a manifest list is written at each) and what requests took beyond their delay.

    If ``is_building_apart``, what the client does between two commits belongs to no request.
    """
    by_door: dict[str, list[LoggedRequest]] = {}
    for entry in sorted(log, key=lambda entry: entry.begin_s):
        by_door.setdefault(entry.door, []).append(entry)
    counted: list[Txn] = []
    beyond: dict[str, list[float]] = {}
    for index, own in enumerate(txns):
        entries = by_door.get(f"writer{index}", [])
        times_s = [entry.begin_s - begin_s for entry in entries]
        for txn in own:
            first, end = bisect_left(times_s, txn.load_s), bisect_right(times_s, txn.end_s)
            counted.append(Txn(**{**asdict(txn), "attempts": _count(entries[first:end], "PUT", "manifest_list")}))
            sent = entries[max(0, first - 1) : end]  # behind the last request of the txn before
            starts_s = [begin_s + at_s for at_s in (txn.load_s, txn.commit_s, txn.turn_s)] if is_building_apart else []
            for label, before, entry in _labelled(sent, begin_s + txn.commit_s):
                beyond.setdefault(label, []).append(_beyond_ms(before, entry, starts_s))
    return Run(txns=counted, duration_s=duration_s, load_average=round(os.getloadavg()[0], 2), beyond_ms=beyond)


def _beyond_ms(before: LoggedRequest, entry: LoggedRequest, starts_s: Sequence[float]) -> float:
    """What a request took beyond its delay, from the answer before it or from the last of ``starts_s`` in between.

    A REST server's delay is the metadata object it writes for a winner.
    """
    since_s = max([before.end_s, *(at_s for at_s in starts_s if at_s < entry.begin_s)])
    delay_ms = DELAYS_MS.get(entry.method, 0.0)
    if entry.kind == "catalog":
        is_winner = entry.method == "POST" and entry.status == 200
        delay_ms = DELAYS_MS["PUT"] if is_winner else 0.0
    return 1000.0 * (entry.end_s - since_s) - delay_ms


def _count(entries: Sequence[LoggedRequest], method: str, kind: str) -> int:
    return sum((entry.method, entry.kind) == (method, kind) for entry in entries)


def _labelled(sent: Sequence[LoggedRequest], commit_s: float) -> Iterator[tuple[str, LoggedRequest, LoggedRequest]]:
    """A txn's requests, each with the one before it, and where in the txn's life it belongs.

    ``first PUT manifest``: sent in the first attempt, as ``retry`` in a later one; ``swap GET metadata``: the first
    after the last attempt's swap; ``after``: those behind it. Left out are requests sent side by side, and the first of
    a retry, before which the client paused.
    """
    attempts_left = sum(_is_last_word(entry) for entry in sent[1:])
    phase = "load" if sent and sent[0].begin_s < commit_s else "first"
    for position, (before, entry) in enumerate(itertools.pairwise(sent)):
        if before.begin_s < commit_s <= entry.begin_s:
            phase = "first"
        elif position and _is_last_word(before):
            attempts_left -= 1
            phase = "pause" if attempts_left else "swap"
        elif phase in ("pause", "swap"):
            phase = "retry" if phase == "pause" else "after"
        if phase != "pause" and entry.begin_s >= before.end_s:
            yield f"{phase} {entry.method} {entry.kind}", before, entry


def _is_last_word(entry: LoggedRequest) -> bool:
    """Whether it is the last request of an attempt that the log shows: what follows is the database's or an answer."""
    return (entry.method, entry.kind) in (("PUT", "metadata"), ("POST", "catalog"))


def commits(change: Java) -> bool:
    """Commit; whether it worked. Anything but a refusal is an error."""
    return commit(change, *FAILURES) is None


def _mean_call_s(call: Any) -> float:
    begin_s = time.perf_counter()
    for _ in range(POINTER_CALLS):
        call()
    return (time.perf_counter() - begin_s) / POINTER_CALLS


# --- a slow operation beside appends ------------------------------------------------------------------


def run_beside(stage: LoadStage, operation: Operation, n_behind: int, period_s: float, phase_s: float) -> Run:
    """``operation`` commits ``n_behind`` snapshots after it loaded its table, while an append comes every period.

    The first append of the stream begins ``phase_s`` after the victim began to commit.
    """
    identifier = stage.new_table()
    table = stage.writer(0)[1].loadTable(identifier)
    rival = stage.quick.loadTable(identifier)
    change = build(stage.jvm, stage.files, table, rival, operation)
    for _ in range(n_behind):
        commit_append(stage.files, rival, VICTIM_PARTITION, RIVAL_IDS)
    stream = stage.writer(1)[1]
    made = [stage.files.data(VICTIM_PARTITION, RIVAL_IDS) for _ in range(200)]
    stream.loadTable(identifier)
    stage.objects.take_log()
    is_over = threading.Event()
    begin_s = time.perf_counter()

    def append_all() -> None:
        for turn, data_file in enumerate(made):
            if is_over.wait(max(0.0, begin_s + phase_s + turn * period_s - time.perf_counter())):
                return
            commits(stream.loadTable(identifier).newFastAppend().appendFile(data_file))

    found: list[Txn] = []

    def commit_victim() -> None:
        try:
            is_committed = commits(change)
            found.append(_txn(0, begin_s, (begin_s, begin_s, begin_s), is_committed))
        finally:
            is_over.set()

    run_together([append_all, commit_victim])
    time.sleep(0.01)
    return finished([found], stage.objects.take_log(), begin_s, 0.0)
