"""Plays pairs on real Iceberg: a victim, what its rivals did to which files, and whose objects the victim read.

This file defines the table the pairs share and the staging. The operations live in ``pair_operations``, the clients and
the logs in ``request_stage``.
"""

from __future__ import annotations

import datetime
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from endive.verification.java.pair_recording import PairRecording, Reads, RecordedPair
from endive.verification.java.pairs import (
    BEFORE,
    DURING,
    OTHER_FILE,
    OTHER_PARTITION,
    SAME_FILE,
    SAME_PARTITION,
    SAME_ROWS,
    Pair,
    Rival,
)
from endive.verification.java.request_trace import LIST_WRITE, METADATA_WRITE, Recorded, split_attempts
from verification.java_rig.gateway import Java
from verification.java_rig.object_server import LoggedRequest
from verification.java_rig.operations import BASE_IDS, RIVAL_IDS, VICTIM_IDS, create_table
from verification.java_rig.pair_operations import PairOperations, Target, read_files
from verification.java_rig.request_stage import LAST_ANSWER_S, QUICK_RETRY, Stage

# The files of the table, oldest first, each in a manifest of its own: partition and ids.
TABLE_FILES: Final[Mapping[str, tuple[int, tuple[int, int]]]] = {
    **dict.fromkeys(("E1", "E2", "E3"), (1, BASE_IDS)),
    **dict.fromkeys(("C1", "C2", "C3"), (0, BASE_IDS)),
    **dict.fromkeys(("A", "B"), (0, VICTIM_IDS)),
}
TOUCHED: Final[Mapping[str, tuple[str, ...]]] = {
    SAME_FILE: ("A", "B", "C1"),
    OTHER_FILE: ("C1", "C2", "C3"),
    OTHER_PARTITION: ("E1", "E2", "E3"),
}
_WITHOUT_FILES: Final = ("append", "append_and_expire", "upsert", "replace_partitions")
_PATH: Final = re.compile(r"s3://\S+?(?=[\s,\]]|$)|\b\d{15,}\b")
_FILTER: Final = re.compile(r" matching \(.*?\)(?=[:\s]|$).*")
_MESSAGE_CHARS: Final = 110


class PairStage:
    """A stage with one table that is put back after every pair; a context manager."""

    def __init__(self, jars: Path | None = None) -> None:
        self.stage = Stage(jars)
        self._operations = PairOperations(self.stage.jvm, self.stage.files)
        self._names: dict[str, str] = {}  # of data files, by their location
        table = self._make_table()
        self._base = str(table.operations().current().metadataFileLocation())
        self._files = self._files_of(table)
        self._manifests = list(table.currentSnapshot().dataManifests(table.io()))
        self._base_objects = _objects_of(table, {})
        self._objects = dict(self.stage.objects.objects)
        self._objects_seen: Mapping[str, str] = {}  # whose lists and manifests there are, but for the victim's own
        self._tables = 0

    def __enter__(self) -> PairStage:
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.__exit__()

    def _make_table(self) -> Java:
        stage = self.stage
        table = create_table(stage.jvm, stage.files, stage.rival, "pairs", QUICK_RETRY)
        for name, (partition, ids) in TABLE_FILES.items():
            data_file = stage.files.data(partition, ids)
            self._names[str(data_file.location())] = name
            table.newFastAppend().appendFile(data_file).commit()
        return table

    def play(self, pair: Pair) -> RecordedPair:
        """One pair on a copy of the table."""
        stage = self.stage
        self._tables += 1
        identifier = stage.jvm.identifier(f"pair{self._tables}")
        stage.rival.registerTable(identifier, self._base)
        table = stage.victims[pair.catalog].loadTable(identifier)
        change = self._victims_change(pair, table)
        self._objects_seen = self._base_objects
        if pair.when == BEFORE:
            self._rivals_commit(pair, identifier)
        requests, log, error = self._commit(pair, change, identifier)
        outcome, exception, message = _ending(error)
        built_with = METADATA_WRITE if pair.victim.java == "expire_snapshots" else LIST_WRITE
        attempts = split_attempts(requests, outcome, built_with=built_with)
        stage.objects.objects = dict(self._objects)
        return RecordedPair(
            recorded=Recorded(outcome=outcome, attempts=attempts),
            exception=exception,
            message=message,
            reads=_reads(
                log, self._objects_seen, [sum(each.object != "catalog" for each in attempt) for attempt in attempts]
            ),
        )

    def _files_of(self, planned: Java) -> dict[str, Java]:
        """The table's files by name, as a scan returns them."""
        found = {}
        for manifest in planned.currentSnapshot().dataManifests(planned.io()):
            for each in read_files(self.stage.jvm, planned, manifest):
                found[self._names[str(each.location())]] = each
        return found

    def _victims_change(self, pair: Pair, table: Java) -> Java:
        victim = pair.victim
        target = Target(
            partition=0,
            ids=VICTIM_IDS,
            files=(self._files["A"], self._files["B"]),
            manifests=self._manifests,
            is_partition_wide=not victim.is_referring,
        )
        return self._operations.change(victim.java, table, target, victim)

    def _rivals_commit(self, pair: Pair, identifier: Java) -> None:
        rival = pair.rival
        if rival is None:
            return
        is_expiry = rival.java == "append_and_expire"
        table = self.stage.rival.loadTable(identifier)
        for turn in range(pair.count):
            java = "append" if is_expiry else rival.java
            self._operations.change(java, table, _target(rival, turn, self._files)).commit()
        if is_expiry:
            self._operations.change("expire_snapshots", table, _target(rival, 0, self._files)).commit()
        self._objects_seen = _objects_of(self.stage.rival.loadTable(identifier), self._objects_seen)

    def _commit(self, pair: Pair, change: Java, identifier: Java) -> tuple[list[Any], list[LoggedRequest], Any]:
        """Commit while rivals come at their moment: requests, those to storage as logged, and what was raised."""
        stage = self.stage
        has_come = [pair.when != DURING]

        def interrupt(entry: LoggedRequest) -> None:
            if not has_come[0] and entry.method == "PUT" and entry.kind in ("manifest_list", "metadata"):
                has_come[0] = True
                self._rivals_commit(pair, identifier)

        stage.objects.take_log()
        begin = stage.database_position()
        stage.door.before = interrupt
        error = None
        try:
            change.commit()
        except Exception as raised:
            error = getattr(raised, "java_exception", None)
            if error is None:
                raise
        finally:
            stage.door.before = None
        time.sleep(LAST_ANSWER_S)
        log = sorted(stage.objects.take_log(), key=lambda entry: entry.begin_s)
        return stage.requests(pair.catalog, log, begin), log, error


def _target(rival: Rival, turn: int, files: Mapping[str, Java]) -> Target:
    """What the rival of this turn works on."""
    if rival.touches in TOUCHED and rival.java not in _WITHOUT_FILES:
        name = TOUCHED[rival.touches][turn]
        partition, ids = TABLE_FILES[name]
        return Target(partition=partition, ids=ids, files=(files[name],))
    is_elsewhere = rival.touches == OTHER_PARTITION
    return Target(
        partition=1 if is_elsewhere else 0,
        ids=VICTIM_IDS if rival.touches == SAME_ROWS else RIVAL_IDS,
        is_partition_wide=rival.touches == SAME_PARTITION,
    )


def _ending(error: Any) -> tuple[str, str, str]:
    """The model's word for it, the exception's class, and how its message begins, without names of objects."""
    if error is None:
        return "committed", "", ""
    exception = str(error.getClass().getSimpleName())
    message = _PATH.sub("...", _FILTER.sub(" matching ...", str(error.getMessage()).split("\n")[0]))
    outcome = "retries_exhausted" if exception == "CommitFailedException" else "validation_exception"
    return outcome, exception, message[:_MESSAGE_CHARS]


def _objects_of(table: Java, known: Mapping[str, str]) -> dict[str, str]:
    """Lists and manifests that the table's snapshots lead to, and whose they are: new ones are a rival's."""
    whose = "a rival" if known else "the table"
    found = dict(known)
    for snapshot in table.snapshots():
        place = _key(snapshot.manifestListLocation())
        if place in found:
            continue
        found[place] = f"list of {whose}"
        for manifest in snapshot.allManifests(table.io()):
            kind = "deletes" if str(manifest.content()) == "DELETES" else "data"
            found.setdefault(_key(manifest.path()), f"{kind} manifest of {whose}")
    return found


def _key(location: Any) -> str:
    return str(location).removeprefix("s3://")


def _reads(log: Iterable[LoggedRequest], objects: Mapping[str, str], sizes: Iterable[int]) -> tuple[Reads, ...]:
    """By attempt, what was read of whom; the victim's own objects are those nobody else has."""
    entries = iter(log)
    found = []
    for size in sizes:
        counted: Counter[str] = Counter()
        for _ in range(size):
            entry = next(entries)
            if entry.method == "GET" and entry.kind in ("manifest_list", "manifest"):
                own = "list of its own" if entry.kind == "manifest_list" else "manifest of its own"
                counted[objects.get(entry.key, own)] += 1
        found.append(dict(counted))
    return tuple(found)


def record(pairs: Iterable[Pair], jars: Path | None = None) -> PairRecording:
    """What real Iceberg did in every pair."""
    with PairStage(jars) as stage:
        recorded = {pair.key: stage.play(pair) for pair in pairs}
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return PairRecording(pairs=recorded, iceberg=stage.stage.jvm.version, date=today)
