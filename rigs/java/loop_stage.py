"""Closed loops on real Iceberg: writers that append, change rows or compact, on JDBC or REST, with a kept table or not.

Which loops there are lives in ``verification.suites.load.loops``; the clients and the sorting of requests in
``load_stage``.
"""

from __future__ import annotations

import functools
import itertools
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rigs.java.gateway import Java
from rigs.java.load_stage import (
    FILES_PER_S,
    LoadStage,
    Run,
    Txn,
    commits,
    finished,
    quantiles,
)
from rigs.java.object_server import s3_properties
from rigs.java.operations import BASE_IDS, commit_append, create_table
from rigs.java.rest_server import RestCatalogServer
from verification.recordings import machine, run_together, today
from verification.suites.java.scenario import VICTIM_PARTITION
from verification.suites.load.cells import BASE_SNAPSHOTS, DELAYS_MS
from verification.suites.load.loops import (
    APPEND,
    COMPACTION,
    DATA_FILES,
    DELETE,
    FREE,
    GATHER,
    GATHER_EVERY_S,
    KEEP,
    QUEUE,
    TOUCHED,
    WORK_S,
    Loop,
)

FIRST_OWN_PARTITION: Final = 10  # of the first compacting writer
IDS_PER_WRITER: Final = 1000
WITHOUT_MERGING: Final = {"commit.manifest-merge.enabled": "false"}
SERVER_DELAYS_MS: Final = {"PUT": DELAYS_MS["PUT"]}  # a REST server reads its metadata at once
WARM_UP_S: Final = 10.0
Turns = Callable[[Java, Java], tuple[bool, float]]  # commits a change with its file: did it work, and when was its turn


@dataclass(slots=True, kw_only=True)
class _Writer:
    """One writer of a run: what it does, with which client, and the file it compacts next."""

    operation: str
    catalog: Java
    identifier: Java
    partition: int
    ids: tuple[int, int]
    filter: Java = None
    compacted: Java = None
    spare: list[Java] = field(default_factory=list)  # files made beforehand
    targets: list[Java] = field(default_factory=list)  # of which it deletes rows
    format_version: int = 2
    chance: random.Random = field(default_factory=random.Random)


def _commit_at_once(change: Java, _: Java) -> tuple[bool, float]:
    """Whether it worked, and when it was its turn: at once."""
    turn_s = time.perf_counter()
    return commits(change), turn_s


class _Queue:
    """A lock around all commits; whoever asked first has it first."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._waiting: deque[int] = deque()

    def __call__(self, change: Java, _: Java) -> tuple[bool, float]:
        """Wait for the turn, commit, and pass it on."""
        own = threading.get_ident()
        with self._lock:
            self._waiting.append(own)
            self._lock.wait_for(lambda: self._waiting[0] == own)
        turn_s = time.perf_counter()
        try:
            return commits(change), turn_s
        finally:
            with self._lock:
                self._waiting.popleft()
                self._lock.notify_all()


class _Coordinator:
    """The first of those who wait commits the files of all of them, at the next multiple of the interval."""

    def __init__(self, begin_s: float) -> None:
        self._begin_s = begin_s
        self._lock = threading.Condition()
        self._files: list[Java] = []  # of those who wait for a commit to take them along
        self._round = 0  # that those who come now go with
        self._ended: dict[int, bool] = {}
        self._is_busy = False

    def __call__(self, change: Java, new: Java) -> tuple[bool, float]:
        """Go with another's commit, or be the one that commits for all."""
        with self._lock:
            mine = self._round
            if self._is_busy:
                self._files.append(new)
                self._lock.wait_for(lambda: mine in self._ended or not self._is_busy)
                if mine in self._ended:
                    return self._ended[mine], time.perf_counter()
                self._files = [each for each in self._files if each is not new]
            self._is_busy = True
        since_s = time.perf_counter() - self._begin_s
        time.sleep(-since_s % GATHER_EVERY_S)
        with self._lock:
            others, self._files = self._files, []
            self._round += 1
        turn_s = time.perf_counter()
        for other in others:
            change = change.appendFile(other)
        is_committed = commits(change)
        with self._lock:
            self._ended[mine] = is_committed
            self._is_busy = False
            self._lock.notify_all()
        return is_committed, turn_s


class LoopStage(LoadStage):
    """A load stage with a REST server beside the database."""

    def __init__(self, jars: Path | None = None) -> None:
        super().__init__(jars)
        door = self.objects.open_door("server")
        door.delays_ms = SERVER_DELAYS_MS
        backing = self.jvm.jdbc_catalog(s3_properties(door))
        self._server = self._stack.enter_context(RestCatalogServer(self.jvm, backing, self.objects))
        self._rest: dict[int, Java] = {}

    def rest_writer(self, index: int) -> Java:
        """The REST client of a writer; its requests come through the writer's door too."""
        if index not in self._rest:
            door = self.writer(index)[0]
            properties = {**s3_properties(door), "rest-metrics-reporting-enabled": "false"}
            self._rest[index] = self.jvm.rest_catalog(properties, f"{self._server.uri}/{door.name}")
        return self._rest[index]

    def run_loop(self, loop: Loop, duration_s: float) -> Run:
        """All writers of a cell until the time is over; a txn that has begun is finished."""
        writers = self._writers_of(loop, duration_s)
        kept = [each.catalog.loadTable(each.identifier) for each in writers]
        self.objects.take_log()
        txns: list[list[Txn]] = [[] for _ in writers]
        begin_s = time.perf_counter()
        ways: dict[str, Turns] = {FREE: _commit_at_once, QUEUE: _Queue(), GATHER: _Coordinator(begin_s)}
        turns = ways[loop.order]

        def write(index: int) -> None:
            writer = writers[index]
            while (load_s := time.perf_counter()) - begin_s <= duration_s:
                table = kept[index] if loop.table == KEEP else writer.catalog.loadTable(writer.identifier)
                loaded_s = time.perf_counter()
                new = writer.spare.pop() if writer.spare else self._new_file(writer)
                change = self._change(writer, table, new)
                commit_s = time.perf_counter()
                is_committed, turn_s = turns(change, new)
                end_s = time.perf_counter()
                if is_committed and writer.operation == COMPACTION:
                    writer.compacted = new
                times = {"load_s": load_s, "loaded_s": loaded_s, "commit_s": commit_s, "turn_s": turn_s, "end_s": end_s}
                since = {name: at_s - begin_s for name, at_s in times.items()}
                txns[index].append(Txn(writer=index, is_committed=is_committed, attempts=0, **since))

        run_together([functools.partial(write, index) for index in range(len(writers))])
        time.sleep(0.01)
        return finished(txns, self.objects.take_log(), begin_s, duration_s, is_building_apart=True)

    def _writers_of(self, loop: Loop, duration_s: float) -> list[_Writer]:
        """A new table, and the writers with most of the files they will need."""
        self._tables += 1
        name = f"loop{self._tables}"
        properties = {**WITHOUT_MERGING, "format-version": str(loop.format_version)}
        table = create_table(self.jvm, self.files, self.quick, name, properties)
        for _ in range(BASE_SNAPSHOTS):
            commit_append(self.files, table, VICTIM_PARTITION, BASE_IDS)
        targets = [self.files.data(VICTIM_PARTITION, BASE_IDS) for _ in range(DATA_FILES)]
        if loop.operation == DELETE:
            _append_all(table, targets)
        writers = []
        for index, operation in enumerate(loop.operations):
            is_compaction = operation == COMPACTION
            low = (index + 1) * IDS_PER_WRITER
            writer = _Writer(
                operation=operation,
                catalog=self.rest_writer(index) if loop.catalog == "rest" else self.writer(index)[1],
                identifier=self.jvm.identifier(name),
                partition=FIRST_OWN_PARTITION + index if is_compaction else VICTIM_PARTITION,
                ids=(low, low + 9),
                targets=targets,
                format_version=loop.format_version,
                chance=random.Random(1000 * self._tables + index),
            )
            writer.filter = self._filter(writer)
            if is_compaction:
                writer.compacted = self._new_file(writer)
                table.newFastAppend().appendFile(writer.compacted).commit()
            count = round(duration_s * FILES_PER_S / min(loop.writers, 4))
            writer.spare = [self._new_file(writer) for _ in range(count)]
            writers.append(writer)
        return writers

    def _new_file(self, writer: _Writer) -> Java:
        return self.files.data(writer.partition, writer.ids)

    def _filter(self, writer: _Writer) -> Java:
        """The rows the writer works on."""
        of = self.jvm.iceberg.expressions.Expressions
        low, high = writer.ids
        rows = getattr(of, "and")(of.greaterThanOrEqual("id", low), of.lessThanOrEqual("id", high))
        return getattr(of, "and")(of.equal("part", writer.partition), rows)

    def _change(self, writer: _Writer, table: Java, new: Java) -> Java:
        """What the writer commits, with the checks Spark asks for."""
        if writer.operation == APPEND:
            return table.newFastAppend().appendFile(new)
        start = table.currentSnapshot().snapshotId()
        if writer.operation == DELETE:
            return self._delete(writer, table, start)
        if writer.operation == COMPACTION:
            return table.newRewrite().deleteFile(writer.compacted).addFile(new).validateFromSnapshot(start)
        change = table.newRowDelta().addRows(new).addDeletes(self.files.deletes(writer.partition, writer.ids))
        change.validateFromSnapshot(start).conflictDetectionFilter(writer.filter)
        return change.validateDeletedFiles().validateNoConflictingDeleteFiles().validateNoConflictingDataFiles()

    def _delete(self, writer: _Writer, table: Java, start: int) -> Java:
        """Rows of some data files, as Spark's merge-on-read DELETE; vectors of before it does not take out."""
        time.sleep(WORK_S)  # its work
        change, touched = table.newRowDelta(), writer.chance.sample(writer.targets, TOUCHED)
        for each in touched:
            deletes = self.files.position_deletes if writer.format_version == 2 else self.files.vector
            change.addDeletes(deletes(writer.partition, each))
        partition = self.jvm.iceberg.expressions.Expressions.equal("part", writer.partition)
        change.validateFromSnapshot(start).conflictDetectionFilter(partition)
        return change.validateDataFilesExist(
            [str(each.location()) for each in touched]
        ).validateNoConflictingDataFiles()


def _append_all(table: Java, files: Sequence[Java]) -> None:
    change = table.newFastAppend()
    for each in files:
        change.appendFile(each)
    change.commit()


def measure_loops(
    loops: Sequence[Loop],
    jars: Path | None,
    *,
    repetitions: int,
    duration_s: float,
    keep: Callable[[dict[str, Any]], None] = lambda document: None,
) -> dict[str, Any]:
    """Every cell ``repetitions`` times, in rounds, so that a busy minute does not fall on one cell alone."""
    with LoopStage(jars) as stage:
        for loop in _first_of_each_kind(loops):
            stage.run_loop(loop, min(WARM_UP_S, duration_s))
        document: dict[str, Any] = {
            "iceberg": stage.jvm.version,
            "date": today(),
            "machine": machine(),
            "delays_ms": DELAYS_MS,
            "pointer_ms": round(stage.pointer_ms(), 3),
            "loops": {loop.key: [] for loop in loops},
        }
        for _, loop in itertools.product(range(repetitions), loops):
            document["loops"][loop.key].append(run_dict(stage.run_loop(loop, duration_s)))
            keep(document)
    return document


def _first_of_each_kind(loops: Iterable[Loop]) -> Iterator[Loop]:
    """One cell of every operation and catalog: code is loaded and compiled before anything counts."""
    seen = set()
    for loop in loops:
        if loop.writers >= 3 and (loop.operation, loop.catalog) not in seen:
            seen.add((loop.operation, loop.catalog))
            yield loop


def run_dict(run: Run) -> dict[str, Any]:
    """A run as JSON: per txn the writer, then load, loaded, commit and end in ms, committed, attempts."""
    rows = [
        (
            txn.writer,
            *(round(1e3 * at_s) for at_s in (txn.load_s, txn.loaded_s, txn.commit_s, txn.end_s)),
            int(txn.is_committed),
            txn.attempts,
        )
        for txn in run.txns
    ]
    return {
        "duration_s": round(run.duration_s, 3),
        "load_average": run.load_average,
        "txns": rows,
        "beyond_ms": {kind: quantiles(values) for kind, values in sorted(run.beyond_ms.items())},
    }
