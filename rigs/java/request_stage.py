"""Plays scenarios on real Iceberg and writes down what was asked of storage and catalog, attempt by attempt.

Who commits when is staged here; what happened is read from two logs, the object server's and the database's. What a
trace looks like as text is in ``verification.suites.java.request_trace``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from rigs.java.gateway import DATABASE, IcebergJvm, Java
from rigs.java.object_server import LoggedRequest, ObjectServer, s3_properties
from rigs.java.operations import (
    BASE_IDS,
    RIVAL_IDS,
    RIVALS,
    VICTIM_IDS,
    Files,
    build,
    commit,
    commit_append,
    create_table,
)
from rigs.java.rest_server import RestCatalogServer
from verification.recordings import today
from verification.suites.java.request_recording import Recording
from verification.suites.java.request_trace import Recorded, Request, split_attempts
from verification.suites.java.scenario import BEHIND, OTHER_PARTITION, VICTIM_PARTITION, Scenario, rival_partition

LAST_ANSWER_S: Final = 0.005  # the last answer may be logged after the client has read it
QUICK_RETRY: Final = {"commit.retry.min-wait-ms": "1"}  # pauses change no request
OUTCOMES: Final = {"ValidationException": "validation_exception", "CommitFailedException": "retries_exhausted"}
_STATEMENT: Final = re.compile(
    rb"Thread\[(?P<thread>[^,]+),[^\n]*?"
    rb"(?:Executing prepared statement: (?P<verb>SELECT|UPDATE)[^\n]*iceberg_tables|(?P<end>Committing))"
)
_OBJECTS: Final = {"metadata": "metadata", "manifest_list": "manifest_list", "manifest": "manifest", "data": "data"}
_OPERATIONS: Final = {"GET": "read", "HEAD": "head", "PUT": "write", "DELETE": "delete", "POST": "bulk_delete"}


class Stage:
    """A JVM, an object store and catalogs for a victim, its rivals and a REST server; a context manager."""

    def __init__(self, jars: Path | None = None, release: str | None = None) -> None:
        self._stack = ExitStack()
        self.objects = self._stack.enter_context(ObjectServer())
        self.jvm = self._stack.enter_context(IcebergJvm(jars, release, is_catalog_logged=True))
        self.door = self.objects.open_door("victim")
        rival_door, server_door = self.objects.open_door("rival"), self.objects.open_door("server")
        rival_door.is_logged = False
        self.files = Files(self.jvm)
        self.rival = self.jvm.jdbc_catalog(s3_properties(rival_door))
        backing = self.jvm.jdbc_catalog(s3_properties(server_door))
        self.server = self._stack.enter_context(RestCatalogServer(self.jvm, backing, self.objects))
        quiet = {"rest-metrics-reporting-enabled": "false"}
        self.victims = {
            "jdbc": self.jvm.jdbc_catalog(s3_properties(self.door)),
            "rest": self.jvm.rest_catalog({**s3_properties(self.door), **quiet}, self.server.uri),
        }
        self.objects.position = self.database_position
        self._database = self.jvm.jvm.java.sql.DriverManager.getConnection(DATABASE, "endive", "endive")
        self._chains: dict[tuple[object, ...], list[str]] = {}
        self._tables = 0

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def database_position(self) -> int:
        path = self.jvm.database_log
        return path.stat().st_size if path.exists() else 0

    def play(self, scenario: Scenario) -> Recorded:
        """One scenario on a table of its own."""
        chain = self._chain(scenario)
        self._tables += 1
        identifier = self.jvm.identifier(f"t{self._tables}")
        self.rival.registerTable(identifier, chain[0])
        operation = scenario.operation
        victim_table = self.victims[scenario.catalog].loadTable(identifier)
        planned = self.rival.loadTable(identifier)
        change = build(self.jvm, self.files, victim_table, planned, operation)
        self._come_before(scenario, identifier, chain)
        rivals = _Rivals(self, scenario, self.rival.loadTable(identifier), turn=scenario.n_behind)
        attempts = [0]

        def interrupt(entry: LoggedRequest) -> None:
            if entry.method == "PUT" and entry.kind == "manifest_list":
                attempts[0] += 1
                if attempts[0] <= len(scenario.losses):
                    rivals.come(scenario.losses[attempts[0] - 1])

        self.objects.take_log()
        begin = self.database_position()
        self.door.before = interrupt
        try:
            error = commit(change, *OUTCOMES)
        finally:
            self.door.before = None
        time.sleep(LAST_ANSWER_S)
        outcome = "committed" if error is None else OUTCOMES[str(error.getClass().getSimpleName())]
        requests = self.requests(scenario.catalog, self.objects.take_log(), begin)
        return Recorded(outcome=outcome, attempts=split_attempts(requests, outcome))

    def _come_before(self, scenario: Scenario, identifier: Java, chain: list[str]) -> None:
        """Rivals between the victim's load and its commit: their commits were made once, for every scenario alike."""
        if scenario.conflict:
            _Rivals(self, scenario, self.rival.loadTable(identifier)).come_before()
        elif scenario.n_behind:
            self.point_to(identifier, chain[scenario.n_behind])

    def point_to(self, identifier: Java, location: str) -> None:
        """Move a table's pointer along its chain of commits."""
        statement = self._database.prepareStatement(
            "UPDATE iceberg_tables SET previous_metadata_location = metadata_location, metadata_location = ? "
            "WHERE table_name = ?"
        )
        statement.setString(1, location)
        statement.setString(2, identifier.name())
        assert statement.executeUpdate() == 1
        statement.close()

    def _chain(self, scenario: Scenario) -> list[str]:
        """Metadata objects of a table beside which rivals committed: before them, after the first, and so on."""
        operation = scenario.operation
        is_replaced = operation.java == "replace_partitions"
        partition = rival_partition(scenario)
        key = (operation.manifests, operation.is_merging, is_replaced, scenario.rivals, partition)
        if key not in self._chains:
            self._tables += 1
            properties = {**QUICK_RETRY}
            if not operation.is_merging:
                properties["commit.manifest-merge.enabled"] = "false"
            table = create_table(self.jvm, self.files, self.rival, f"chain{self._tables}", properties)
            for i in range(operation.manifests):
                is_elsewhere = is_replaced and i >= operation.removed_from
                commit_append(self.files, table, OTHER_PARTITION if is_elsewhere else VICTIM_PARTITION, BASE_IDS)
            chain = [_location(table)]
            rivals = _Rivals(self, scenario, table)
            for _ in range(max(BEHIND)):
                rivals.commit(RIVAL_IDS)
                chain.append(_location(table))
            self._chains[key] = chain
        return self._chains[key]

    def requests(self, catalog: str, log: Iterable[LoggedRequest], begin: int) -> list[Request]:
        """Requests to storage and catalog in the order they were sent."""
        entries = sorted(log, key=lambda entry: entry.begin_s)
        if catalog == "rest":
            return [_request(entry) for entry in entries]
        found: list[tuple[int, int, Request]] = [(entry.position, 1, _request(entry)) for entry in entries]
        with self.jvm.database_log.open("rb") as log_file:
            log_file.seek(begin)
            statements = _statements(log_file.read())
        found.extend((begin + at, 0, request) for at, request in statements)
        return [request for _, _, request in sorted(found, key=lambda each: each[:2])]


def _statements(log: bytes) -> list[tuple[int, Request]]:
    """The victim's statements in a piece of the database's log, and where they stand.

    The victim is the thread that speaks first. A statement that Derby prepares anew is written down twice; it ends with
    one commit, since every statement is a transaction of its own.
    """
    found: list[tuple[int, Request]] = []
    thread = b""
    is_open = False
    for matched in _STATEMENT.finditer(log):
        thread = thread or (matched["thread"] if matched["verb"] else b"")
        if matched["thread"] != thread:
            continue
        if matched["end"]:
            is_open = False
        elif not is_open:
            is_open = True
            found.append((matched.start(), Request("catalog", "read" if matched["verb"] == b"SELECT" else "cas")))
    return found


class _Rivals:
    """Those who commit beside the victim, in turns."""

    def __init__(self, stage: Stage, scenario: Scenario, table: Java, turn: int = 0) -> None:
        self._stage = stage
        self._scenario = scenario
        self._table = table
        self._turn = turn
        self._partition = rival_partition(scenario)

    def come_before(self) -> None:
        """Those between the victim's load and its commit, one of whom may overlap the victim's rows."""
        n, is_late = self._scenario.n_behind, bool(self._scenario.losses)  # then it overlaps at the lost attempt
        overlapping = -1 if is_late else {"newest": n - 1, "oldest": 0}[self._scenario.conflict]
        for i in range(n):
            self.commit(VICTIM_IDS if i == overlapping else RIVAL_IDS)

    def come(self, count: int) -> None:
        """Those between a refresh and its swap."""
        for _ in range(count):
            self.commit(VICTIM_IDS if self._scenario.conflict else RIVAL_IDS)

    def commit(self, ids: tuple[int, int]) -> None:
        """The next in turn."""
        kind = self._scenario.rivals[self._turn % len(self._scenario.rivals)]
        self._turn += 1
        RIVALS[kind](self._stage.files, self._table, self._partition, ids)


def _location(table: Java) -> str:
    return str(table.operations().current().metadataFileLocation())


def _request(entry: LoggedRequest) -> Request:
    if entry.kind == "catalog":
        return Request("catalog", "read" if entry.method == "GET" else "cas")
    prefix = "server_" if entry.door == "server" else ""
    return Request(prefix + _OBJECTS[entry.kind], _OPERATIONS[entry.method])


def play_each(entries: Iterable[Any], play: Callable[[Any], Any], minutes: float | None) -> dict[str, Any]:
    """What came of every entry, by its key, or of as many as the minutes allow."""
    end_s = float("inf") if minutes is None else time.monotonic() + 60.0 * minutes
    played = {}
    for entry in entries:
        if time.monotonic() > end_s:
            break
        played[entry.key] = play(entry)
    return played


def record(
    scenarios: Iterable[Scenario], jars: Path | None = None, release: str | None = None, minutes: float | None = None
) -> Recording:
    """What real Iceberg did in every scenario."""
    with Stage(jars, release) as stage:
        recorded = play_each(scenarios, stage.play, minutes)
        return Recording(scenarios=recorded, iceberg=stage.jvm.version, date=today())
