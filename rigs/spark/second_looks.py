"""When Spark looks at its table between load and commit, on a real Iceberg: a stream's epoch, a copy-on-write filter.

A *rival* appends a row just before the victim's n-th read of the table from its catalog, or while the rows to change
are being looked for. Behind the tables stands a REST catalog that every look asks, so no look is missed. Run it with a
Python that has ``pyspark==4.0.1``, in the root of a checkout:

    spark4/bin/python -m rigs.spark.second_looks --jars iceberg-spark-runtime-4.0_2.13-1.10.0.jar \\
        iceberg-aws-bundle-1.10.0.jar
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rigs.java.object_server import LoggedRequest, ObjectServer, s3_properties
from rigs.java.rest_server import RestCatalogServer
from rigs.spark.session import (
    DATA,
    ROW_LEVEL,
    Signal,
    SparkJvm,
    catalog_settings,
    ending,
    release_of,
    start_spark,
)
from verification.recordings import today, write_entries

DATABASE: Final = "jdbc:derby:memory:looks;create=true"
CACHED, UNCACHED, BACKING = (
    "cached",
    "uncached",
    "backing",
)  # catalogs: two clients of the server, and what is behind it
STREAM: Final = "stream"
READ, SWAP = "read", "cas"
EPOCHS: Final[
    Mapping[str, Mapping[tuple[str, int], int]]
] = {  # rivals before a request, counted from the epoch's commit
    "nobody": {},
    "1 before the look": {(READ, 1): 1},
    "3 before the look": {(READ, 1): 3},
    "1 before the refresh": {(READ, 2): 1},
    "1 before the swap": {(SWAP, 1): 1},
    "2 before the look, 1 before the refresh": {(READ, 1): 2, (READ, 2): 1},
    "1 before the look, 1 before the swap": {(READ, 1): 1, (SWAP, 1): 1},
    "1 before each of two swaps": {(SWAP, 1): 1, (SWAP, 2): 1},
}
STATEMENTS: Final = {
    "merge": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "update": "UPDATE {t} SET v = {wait}(v) WHERE id = 30",
    "delete": "DELETE FROM {t} WHERE id = 30 AND {wait}(id) = 30",
}
RIVAL: Final = "INSERT INTO {t} VALUES (94, 9, 0)"
LAST_ANSWER_S: Final = 0.05  # it may be logged after the client has read it
SAME_SESSION: Final = "the same session"
_METHODS: Final = {"GET": "read", "HEAD": "head", "PUT": "write", "DELETE": "delete", "POST": "bulk_delete"}


class Stage:
    """Spark, an object store and a catalog server."""

    def __init__(self, jars: list[Path], folder: Path, objects: ObjectServer) -> None:
        self._folder = folder
        self._objects = objects
        self._tables = 0
        self._signal = Signal(folder / "signal")
        door, rival_door = objects.open_door("victim"), objects.open_door("rival")
        rival_door.is_logged = False
        backing = {
            "type": "jdbc",
            "uri": DATABASE,
            "jdbc.user": "endive",
            "jdbc.password": "endive",
            "cache-enabled": "false",
            **s3_properties(rival_door),
        }
        quiet = f"-Dderby.stream.error.file={folder / 'derby.log'}"
        self.spark = start_spark(jars, 4, catalog_settings(BACKING, backing), quiet)
        util = self.spark._jvm.org.apache.iceberg.spark.Spark3Util
        catalog = util.loadIcebergCatalog(self.spark._jsparkSession, BACKING)
        self.server = RestCatalogServer(SparkJvm(self.spark), catalog, objects)
        served = {"type": "rest", "uri": self.server.uri, "rest-metrics-reporting-enabled": "false"}
        served |= s3_properties(door)
        self._catalogs = {
            **catalog_settings(CACHED, {**served, "cache-enabled": "true"}),
            **catalog_settings(UNCACHED, {**served, "cache-enabled": "false"}),
        }
        self._name_catalogs(self.spark)  # a stream looks its table up in the active session

    def session(self) -> Any:
        """A session of its own, with catalogs of its own."""
        session = self.spark.newSession()
        self._name_catalogs(session)
        session.udf.register("wait_for_rival", self._signal.function(), "int")
        return session

    def _name_catalogs(self, session: Any) -> None:
        for key, value in self._catalogs.items():
            session.conf.set(key, value)

    def make_table(self, name: str) -> None:
        """Partitions 3 and 9; copy-on-write."""
        modes = ", ".join(f"'write.{each}.mode' = 'copy-on-write'" for each in ROW_LEVEL)
        self.spark.sql(
            f"CREATE TABLE {BACKING}.db.{name} (id int, p int, v int) USING iceberg PARTITIONED BY (p) "
            f"TBLPROPERTIES ('commit.retry.min-wait-ms' = '1', {modes})"
        )
        rows = ", ".join(f"({id}, {id // 30 * 3}, 0)" for id in (30, 31, 90, 91))
        self.spark.sql(f"INSERT INTO {BACKING}.db.{name} VALUES {rows}")

    def commit_rival(self, name: str) -> None:
        """Past the server, from a session of its own."""
        self.spark.newSession().sql(RIVAL.format(t=f"{BACKING}.db.{name}")).collect()

    @contextmanager
    def beset(self, name: str, rivals: Mapping[tuple[str, int], int]) -> Iterator[list[LoggedRequest]]:
        """Rivals come before the n-th request of a kind; afterwards the list has the victim's requests."""
        counted = {READ: 0, SWAP: 0}

        def interrupt(entry: LoggedRequest) -> None:
            if not entry.key.endswith(f"/{name}"):
                return
            operation = READ if entry.method == "GET" else SWAP
            counted[operation] += 1
            for _ in range(rivals.get((operation, counted[operation]), 0)):
                self.commit_rival(name)

        self._objects.take_log()
        self.server.before = interrupt
        log: list[LoggedRequest] = []
        try:
            yield log
        finally:
            self.server.before = None
            time.sleep(LAST_ANSWER_S)
            log.extend(sorted(self._objects.take_log(), key=lambda entry: entry.begin_s))

    # ---- a stream --------------------------------------------------------------------------------------

    def play_epochs(self) -> dict[str, Any]:
        """One query, an epoch for each cell; the first goes unrecorded."""
        self.make_table(STREAM)
        source = self._folder / "incoming"
        source.mkdir()
        session = self.session()
        rows = session.readStream.schema("id int, p int, v int").json(str(source))
        writer = rows.writeStream.option("checkpointLocation", str(self._folder / "checkpoint"))
        query = writer.trigger(processingTime="0 seconds").toTable(f"{UNCACHED}.db.{STREAM}")
        entries: dict[str, Any] = {}
        for turn, (cell, rivals) in enumerate({"": {}, **EPOCHS}.items()):
            with self.beset(STREAM, rivals) as log:
                draft = self._folder / f"{turn}.json"
                draft.write_text(json.dumps({"id": 100 + turn, "p": 3, "v": 0}) + "\n", encoding="utf-8")
                draft.rename(source / draft.name)
                query.processAllAvailable()
            if cell:
                requests = _requests(log)
                data = max(i for i, each in enumerate(requests) if each == "data.write")
                entries[f"stream / {cell}"] = {"before": requests[:data], "commit": requests[data + 1 :]}
        query.stop()
        return entries

    # ---- copy-on-write statements ----------------------------------------------------------------------

    def play_statements(self) -> dict[str, Any]:
        """Each statement alone, then with a rival before each of its reads, then with one while rows are looked for."""
        entries: dict[str, Any] = {}
        for catalog in (UNCACHED, CACHED):
            for statement in STATEMENTS:
                alone = self._play_statement(catalog, statement, {})
                entries[f"{catalog} / {statement} / nobody"] = alone
                for look in range(1, alone["requests"].count("catalog.read") + 1):
                    beset = self._play_statement(catalog, statement, {(READ, look): 1})
                    entries[f"{catalog} / {statement} / before read {look}"] = beset
                for whose in ("another session", SAME_SESSION):
                    beset = self._play_statement(catalog, statement, {}, while_looking=whose)
                    entries[f"{catalog} / {statement} / while rows are looked for, {whose}"] = beset
        return entries

    def _play_statement(
        self, catalog: str, statement: str, rivals: Mapping[tuple[str, int], int], while_looking: str = ""
    ) -> dict[str, Any]:
        self._tables += 1
        name = f"t{self._tables}"
        self.make_table(name)
        session, table = self.session(), f"{catalog}.db.{name}"
        self._signal.reset()
        if not while_looking:
            self._signal.go.touch()
        end: dict[str, Any] = {}

        def run() -> None:
            try:
                session.sql(STATEMENTS[statement].format(t=table, wait="wait_for_rival")).collect()
                end["outcome"] = "committed"
            except Exception as error:
                end.update(ending(error))

        with self.beset(name, rivals) as log:
            thread = threading.Thread(target=run)
            thread.start()
            if while_looking:
                self._signal.wait(thread)
                if while_looking == SAME_SESSION:
                    session.sql(RIVAL.format(t=table)).collect()
                else:
                    self.commit_rival(name)
                self._signal.go.touch()
            thread.join()
        return {**end, "requests": [each for each in _requests(log) if not each.startswith("data.")]}


def _requests(log: list[LoggedRequest]) -> list[str]:
    """Object and operation; of the catalog a table's reads and swaps."""
    told = []
    for entry in log:
        if entry.kind == "catalog":
            told.append(f"catalog.{READ if entry.method == 'GET' else SWAP}")
        else:
            told.append(f"{entry.kind}.{_METHODS[entry.method]}")
    return told


def record(jars: list[Path], out: Path) -> None:
    """Play all of it."""
    folder = Path(tempfile.mkdtemp(prefix="endive-looks-"))
    with ObjectServer() as objects:
        stage = Stage(jars, folder, objects)
        with stage.server:
            entries = {**stage.play_epochs(), **stage.play_statements()}
        head = {"spark": stage.spark.version, "iceberg": release_of(jars[0]), "date": today()}
        stage.spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    write_entries(out, head, dict(sorted(entries.items())))


def main() -> int:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jars", type=Path, nargs=2, required=True, help="Iceberg's runtime for Spark 4.0, AWS bundle")
    parser.add_argument("--out", type=Path, default=None, help="another place than the package's data")
    given = parser.parse_args()
    record(given.jars, given.out or DATA / f"spark_looks_{release_of(given.jars[0])}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
