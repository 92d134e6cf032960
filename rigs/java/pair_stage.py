"""Plays pairs on real Iceberg: a victim, what its rivals did to which files, and whose objects the victim read.

The tables that the pairs begin with, and the staging, are here. The operations live in ``pair_operations``, the clients
and the logs in ``request_stage``.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rigs.java.gateway import Java
from rigs.java.object_server import LoggedRequest
from rigs.java.operations import BASE_IDS, RIVAL_IDS, VICTIM_IDS, commit, create_table, read_files
from rigs.java.pair_operations import PairOperations, Target
from rigs.java.request_stage import LAST_ANSWER_S, QUICK_RETRY, Stage, play_each
from verification.recordings import today
from verification.suites.java.pair_recording import PairRecording, Reads, RecordedPair
from verification.suites.java.pairs import (
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
from verification.suites.java.request_trace import LIST_WRITE, METADATA_WRITE, Recorded, split_attempts

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
DELETED_FROM: Final = ("A", "C1", "E1")  # files with position deletes, where those are rewritten
_WITHOUT_FILES: Final = (
    "append",
    "append_and_expire",
    "append_and_roll_back",
    "upsert",
    "replace_partitions",
    "overwrite_filter",
    "delete_where",
    "rollback",
)
_PATH: Final = re.compile(r"s3://\S+?(?=[\s,\]]|$)|\b\d{15,}\b")
_FILTER: Final = re.compile(r" matching \(.*?\)(?=[:\s]|$).*")
_MESSAGE_CHARS: Final = 110


@dataclass(slots=True, kw_only=True)
class _Start:
    """A table that pairs begin with: its metadata, its files by name, and the store as it was then."""

    location: str
    files: dict[str, Java]
    deletes: dict[str, Java]  # files of position deletes, by the data file they belong to
    manifests: list[Java]
    owners: Mapping[str, str]  # of its lists and manifests


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """What rivals made of a table, once for all victims: where it leads, and what came and went in the store."""

    location: str
    added: Mapping[str, Any]
    deleted: frozenset[str]
    owners: Mapping[str, str]


class PairStage:
    """A stage whose tables are put back after every pair; a context manager."""

    def __init__(self, jars: Path | None = None, release: str | None = None) -> None:
        self.stage = Stage(jars, release)
        self._operations = PairOperations(self.stage.jvm, self.stage.files)
        self._starts: dict[tuple[int, bool], _Start] = {}
        self._pasts: dict[object, _Past] = {}
        self._owners: Mapping[str, str] = {}  # whose lists and manifests there are, but for the victim's own
        self._objects: dict[str, Any] = {}
        self._tables = 0
        for format_version, has_deletes in ((2, False), (2, True), (3, False)):
            self._starts[format_version, has_deletes] = self._make_start(format_version, has_deletes)
        self._objects = dict(self.stage.objects.objects)

    def __enter__(self) -> PairStage:
        return self

    def __exit__(self, *_: object) -> None:
        self.stage.__exit__()

    def _make_start(self, format_version: int, has_deletes: bool) -> _Start:
        stage = self.stage
        properties = {**QUICK_RETRY, "format-version": str(format_version)}
        name = f"pairs_v{format_version}{'_deletes' * has_deletes}"
        table = create_table(stage.jvm, stage.files, stage.rival, name, properties)
        names: dict[str, str] = {}  # of data files, by their location
        for file_name, (partition, ids) in TABLE_FILES.items():
            data_file = stage.files.data(partition, ids)
            names[str(data_file.location())] = file_name
            table.newFastAppend().appendFile(data_file).commit()
        files = {}
        for manifest in table.currentSnapshot().dataManifests(table.io()):
            for each in read_files(stage.jvm, table, manifest):  # as a scan returns them
                files[names[str(each.location())]] = each
        deletes = {}
        for file_name in DELETED_FROM if has_deletes else ():
            target = Target(partition=TABLE_FILES[file_name][0], ids=BASE_IDS, files=(files[file_name],))
            self._operations.change("delete_rows", table, target).commit()
            newest = next(iter(table.currentSnapshot().addedDeleteFiles(table.io())))
            deletes[file_name] = newest
        return _Start(
            location=str(table.operations().current().metadataFileLocation()),
            files=files,
            deletes=deletes,
            manifests=list(table.currentSnapshot().dataManifests(table.io())),
            owners=_objects_of(table, {}),
        )

    def play(self, pair: Pair) -> RecordedPair:
        """One pair on a copy of the table."""
        stage, start = self.stage, self._start_of(pair)
        self._tables += 1
        identifier = stage.jvm.identifier(f"pair{self._tables}")
        stage.rival.registerTable(identifier, start.location)
        table = stage.victims[pair.catalog].loadTable(identifier)
        change = self._victims_change(pair, start, table)
        self._owners = start.owners
        if pair.when == BEFORE:
            self._rivals_commit(pair, start, identifier)
        requests, log, error = self._commit(pair, start, change, identifier)
        outcome, exception, message = _ending(error)
        built_with = METADATA_WRITE if pair.victim.java in ("expire_snapshots", "rollback") else LIST_WRITE
        attempts = split_attempts(requests, outcome, built_with=built_with)
        stage.objects.objects = dict(self._objects)
        return RecordedPair(
            recorded=Recorded(outcome=outcome, attempts=attempts),
            exception=exception,
            message=message,
            reads=_reads(
                log, self._owners, [sum(each.object != "catalog" for each in attempt) for attempt in attempts]
            ),
        )

    def _start_of(self, pair: Pair) -> _Start:
        played = (pair.victim.java, "" if pair.rival is None else pair.rival.java)
        has_deletes = pair.victim.is_replacing or "rewrite_deletes" in played
        return self._starts[pair.victim.format_version, has_deletes]

    def _victims_change(self, pair: Pair, start: _Start, table: Java) -> Java:
        victim = pair.victim
        target = Target(
            partition=0,
            ids=VICTIM_IDS,
            files=(start.files["A"], start.files["B"]),
            manifests=start.manifests,
            deletes=[start.deletes["A"]] if start.deletes else [],
            is_partition_wide=not victim.is_referring and victim.format_version == 2,
            format_version=victim.format_version,
        )
        return self._operations.change(victim.java, table, target, victim)

    def _rivals_commit(self, pair: Pair, start: _Start, identifier: Java) -> None:
        """Put the table where the rivals' commits lead."""
        if pair.rival is None:
            return
        key = (pair.victim.format_version, bool(start.deletes), pair.rival, pair.count, pair.second)
        if key not in self._pasts:
            self._pasts[key] = self._make_past(pair, pair.rival, start)
        past, store = self._pasts[key], self.stage.objects.objects
        store.update(past.added)
        for name in past.deleted:
            store.pop(name, None)
        self._owners = past.owners
        self.stage.point_to(identifier, past.location)

    def _make_past(self, pair: Pair, rival: Rival, start: _Start) -> _Past:
        """The rivals' commits, on a copy of the table."""
        stage = self.stage
        self._tables += 1
        identifier = stage.jvm.identifier(f"past{self._tables}")
        before = stage.objects.objects
        stage.objects.objects = dict(self._objects)
        table = stage.rival.registerTable(identifier, start.location)
        begin = table.currentSnapshot().snapshotId()
        java = "append" if rival.java in ("append_and_expire", "append_and_roll_back") else rival.java
        for turn in range(pair.count):
            target = _target(rival, turn, start, pair.victim.format_version)
            self._operations.change(java, table, target).commit()
        if pair.second is not None:
            target = _target(pair.second, pair.count, start, pair.victim.format_version)
            self._operations.change(pair.second.java, table, target).commit()
        owners = _objects_of(stage.rival.loadTable(identifier), start.owners)
        if rival.java == "append_and_expire":
            self._operations.change("expire_snapshots", table, target).commit()
        elif rival.java == "append_and_roll_back":
            table.manageSnapshots().rollbackTo(begin).commit()
        location = str(table.operations().refresh().metadataFileLocation())
        after, stage.objects.objects = stage.objects.objects, before
        return _Past(
            location=location,
            added={name: value for name, value in after.items() if name not in self._objects},
            deleted=frozenset(self._objects.keys() - after.keys()),
            owners=owners,
        )

    def _commit(
        self, pair: Pair, start: _Start, change: Java, identifier: Java
    ) -> tuple[list[Any], list[LoggedRequest], Any]:
        """Commit while rivals come at their moment: requests, those to storage as logged, and what was raised."""
        stage = self.stage
        has_come = [pair.when != DURING]
        moments = {("PUT", "manifest_list"), ("PUT", "metadata")}
        is_without_list = pair.victim.java in ("expire_snapshots", "rollback")
        if pair.victim.is_in_transaction or is_without_list:  # a Transaction's first list is of the table as loaded
            moments = {("PUT", "metadata"), ("POST", "catalog")}

        def interrupt(entry: LoggedRequest) -> None:
            if not has_come[0] and (entry.method, entry.kind) in moments:
                has_come[0] = True
                self._rivals_commit(pair, start, identifier)

        stage.objects.take_log()
        begin = stage.database_position()
        stage.door.before = stage.server.before = interrupt
        try:
            error = commit(change)
        finally:
            stage.door.before = stage.server.before = None
        time.sleep(LAST_ANSWER_S)
        log = sorted(stage.objects.take_log(), key=lambda entry: entry.begin_s)
        return stage.requests(pair.catalog, log, begin), log, error


def _target(rival: Rival, turn: int, start: _Start, format_version: int) -> Target:
    """What the rival of this turn works on."""
    if rival.touches in TOUCHED and rival.java not in _WITHOUT_FILES:
        name = TOUCHED[rival.touches][turn]
        partition, ids = TABLE_FILES[name]
        deletes = [start.deletes[name]] if name in start.deletes else []
        files = (start.files[name],)
        return Target(partition=partition, ids=ids, files=files, deletes=deletes, format_version=format_version)
    is_elsewhere = rival.touches == OTHER_PARTITION
    return Target(
        partition=1 if is_elsewhere else 0,
        ids=VICTIM_IDS if rival.touches == SAME_ROWS else RIVAL_IDS,
        is_partition_wide=rival.touches == SAME_PARTITION,
        format_version=format_version,
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


def record(
    pairs: Iterable[Pair], jars: Path | None = None, release: str | None = None, minutes: float | None = None
) -> PairRecording:
    """What real Iceberg did in every pair."""
    with PairStage(jars, release) as stage:
        recorded = play_each(pairs, stage.play, minutes)
        return PairRecording(pairs=recorded, iceberg=stage.stage.jvm.version, date=today())
