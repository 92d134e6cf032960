"""Row-level statements of Spark SQL beside each other, on a real Iceberg: which of them commit, and with which filter.

A *victim* is a statement that has read its snapshot and waits; a *rival* commits; then the victim goes on. What it is
told says which filter Spark handed over. A statement that can call a function waits in it; one that cannot (a
procedure, INSERT OVERWRITE, a DELETE of whole partitions) is held up at its first swap, which then fails, and its
second attempt meets the rival. Run it with a Python that has ``pyspark==4.0.1``, which the package itself does not use:

    python -m venv spark4 && spark4/bin/pip install pyspark==4.0.1 'pandas<3' pyarrow
    spark4/bin/python -m rigs.spark.statements --jar iceberg-spark-runtime-4.0_2.13-1.10.0.jar --missing

The table has partitions 3 and 9. Partition 3 has the files A (ids 30 to 33) and B (35 to 38), partition 9 the file E
(90 to 93). Victims change row 30 of A, those named ``..._p`` every row of partition 3; a compaction rewrites A and B.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rigs.java.object_server import LoggedRequest, ObjectServer
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
from verification.recordings import read_entries, run_together, today, write_entries

DATABASE: Final = "jdbc:derby:memory:statements;create=true"
MODES: Final = ("copy-on-write", "merge-on-read")
ISOLATIONS: Final = ("serializable", "snapshot")
FORMATS: Final = (2, 3)
VICTIMS: Final = {
    "merge": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, t.p = 3": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id AND t.p = 3 "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "update, id = 30": "UPDATE {t} SET v = {wait}(1) WHERE id = 30",
    "update, p = 3": "UPDATE {t} SET v = {wait}(1) WHERE p = 3",
    "update, p = 3 and id = 30": "UPDATE {t} SET v = {wait}(1) WHERE p = 3 AND id = 30",
    "delete, p = 3 and id = 30": "DELETE FROM {t} WHERE p = 3 AND id = 30 AND {wait}(id) = 30",
    "rewrite_data_files, p = 3": "CALL {c}.system.rewrite_data_files(table => '{t}', where => 'p = 3', "
    "options => map('rewrite-all', 'true'))",
}
# Statements that a reader might ask about, beside four rivals on a v2 table, serializable.
OTHERS: Final = {
    "merge, t.p = s.p": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 3 AS p, 1 AS v) s "
    "ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, t.id < 50": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id AND t.id < 50 "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, t.p < 5": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id AND t.p < 5 "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, not matched alone": "MERGE INTO {t} t USING (SELECT {wait}(34) AS id, 3 AS p, 1 AS v) s ON t.id = s.id "
    "WHEN NOT MATCHED THEN INSERT *",
    "delete, id = 30": "DELETE FROM {t} WHERE id = 30 AND {wait}(id) = 30",
    "insert overwrite, p = 3": "INSERT OVERWRITE {t} PARTITION (p = 3) SELECT {wait}(30), 1",
}
OTHER_RIVALS: Final = ("insert, p = 9", "insert, p = 3", "delete, a row of p = 9", "delete, the same file")
RIVALS: Final = {
    "insert, p = 9": "INSERT INTO {t} VALUES (94, 9, 0)",
    "insert, p = 3": "INSERT INTO {t} VALUES (39, 3, 0)",
    "delete, a row of p = 9": "DELETE FROM {t} WHERE p = 9 AND id = 91",
    "delete, another file": "DELETE FROM {t} WHERE p = 3 AND id = 36",
    "delete, the same file": "DELETE FROM {t} WHERE p = 3 AND id = 31",
    "delete, all of p = 9": "DELETE FROM {t} WHERE p = 9",
    "update, another file": "UPDATE {t} SET v = 2 WHERE p = 3 AND id = 36",
    "merge, the same file": "MERGE INTO {t} t USING (SELECT 31 AS id, 2 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, a row of p = 9": "MERGE INTO {t} t USING (SELECT 91 AS id, 2 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v",
    "rewrite_data_files, p = 3": VICTIMS["rewrite_data_files, p = 3"],
    "rewrite_data_files, p = 9": VICTIMS["rewrite_data_files, p = 3"].replace("p = 3", "p = 9"),
}
# Statements of which a die threw cells: any mode, level, format version and rival.
THROWN: Final = {
    "merge, upsert": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 3 AS p, 1 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "merge, upsert, t.p = 3": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 3 AS p, 1 AS v) s "
    "ON t.id = s.id AND t.p = 3 WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *",
    "merge, delete, t.p in (3, 5)": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id) s "
    "ON t.id = s.id AND t.p IN (3, 5) WHEN MATCHED THEN DELETE",
    "update, id < 31": "UPDATE {t} SET v = {wait}(1) WHERE id < 31",
    "update, p in (3, 5)": "UPDATE {t} SET v = {wait}(1) WHERE p IN (3, 5)",
    "delete, p = 3 and v = 0": "DELETE FROM {t} WHERE p = 3 AND v = 0 AND {wait}(id) > 0",
}
THROWN_RIVALS: Final = {
    "update, a row of p = 9": "UPDATE {t} SET v = 2 WHERE p = 9 AND id = 91",
    "insert overwrite, p = 9": "INSERT OVERWRITE {t} PARTITION (p = 9) SELECT 94, 0",
    "merge, inserts into p = 3": "MERGE INTO {t} t USING (SELECT 39 AS id, 3 AS p, 0 AS v) s ON t.id = s.id "
    "WHEN NOT MATCHED THEN INSERT *",
}
# The second throw: several partitions, IN lists, ranges, subqueries, OR, no function to wait in, other procedures.
UNSEEN: Final = {
    "delete, p = 3": "DELETE FROM {t} WHERE p = 3",
    "delete, id in (30, 90)": "DELETE FROM {t} WHERE id IN (30, 90) AND {wait}(id) > 0",
    "delete, p in (3, 9) and id < 32": "DELETE FROM {t} WHERE p IN (3, 9) AND id < 32 AND {wait}(id) > 0",
    "delete, in a subquery": "DELETE FROM {t} WHERE id IN (SELECT {wait}(30))",
    "update, id between 30 and 33": "UPDATE {t} SET v = {wait}(1) WHERE id BETWEEN 30 AND 33",
    "update, v = 0": "UPDATE {t} SET v = {wait}(1) WHERE v = 0",
    "update, p = 3, in a subquery": "UPDATE {t} SET v = 1 WHERE p = 3 AND id IN (SELECT {wait}(30))",
    "merge, deletes by source": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.p = 9 THEN DELETE",
    "merge, t.id in (30, 31)": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s "
    "ON t.id = s.id AND t.id IN (30, 31) WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, t.p = 3 or t.id = 90": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s "
    "ON t.id = s.id AND (t.p = 3 OR t.id = 90) WHEN MATCHED THEN UPDATE SET v = s.v",
    "merge, t.p + 0 = 3": "MERGE INTO {t} t USING (SELECT {wait}(30) AS id, 1 AS v) s "
    "ON t.id = s.id AND t.p + 0 = 3 WHEN MATCHED THEN UPDATE SET v = s.v",
    "insert overwrite, dynamic": "INSERT OVERWRITE {t} SELECT 30, 3, 1",
    "rewrite_data_files": "CALL {c}.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",
    "rewrite_position_delete_files": "CALL {c}.system.rewrite_position_delete_files(table => '{t}', "
    "options => map('rewrite-all', 'true'))",
}
UNSEEN_RIVALS: Final = {
    "insert, both partitions": "INSERT INTO {t} VALUES (39, 3, 0), (94, 9, 0)",
    "delete, rows of both": "DELETE FROM {t} WHERE id IN (36, 91)",
    "update, rows of both": "UPDATE {t} SET v = 2 WHERE id IN (31, 91)",
    "delete, all of p = 3": "DELETE FROM {t} WHERE p = 3",
    "insert overwrite, p = 3": "INSERT OVERWRITE {t} PARTITION (p = 3) SELECT 39, 0",
    "rollback": "CALL {c}.system.rollback_to_snapshot('{t}', {before})",
    "rewrite_position_delete_files": UNSEEN["rewrite_position_delete_files"],
}
# Beside these the table has position deletes to begin with: of a row of A, and of one of E.
DELETES_KEPT: Final = {
    "delete, the same file with deletes": RIVALS["delete, the same file"],
    "delete, a row of p = 9 with deletes": RIVALS["delete, a row of p = 9"],
    "delete, another file without": RIVALS["delete, another file"],
}
DELETES_REWRITTEN: Final = "rewrite_position_delete_files"
REPLACING_DELETES: Final = ("delete, p = 3 and id = 30", "update, p = 3 and id = 30", "merge, t.p = 3")
BESIDE_REWRITTEN: Final = (*REPLACING_DELETES, "merge", "rewrite_data_files, p = 3")
BESIDE_REWRITING: Final = (
    *DELETES_KEPT,
    "insert, p = 3",
    "update, another file",
    "merge, the same file",
    "rewrite_data_files, p = 3",
)
SEED, THROWS = 9191, 24
UNSEEN_SEED, UNSEEN_THROWS = 221118, 60
LATER_SEED, LATER_THROWS = 181126, 52  # of all statements beside all rivals
STATEMENTS: Final = {**VICTIMS, **OTHERS, **THROWN, **UNSEEN}
ALL_RIVALS: Final = {**RIVALS, **THROWN_RIVALS, **UNSEEN_RIVALS, **DELETES_KEPT}
BACKING, SERVED = "c", "served"  # where tables are made and rivals commit; what victims ask


class Doorway:
    """A REST catalog in front of the tables; what is put into ``holds`` for a table happens before its next swap."""

    def __init__(self, spark: Any, objects: ObjectServer) -> None:
        self.holds: dict[str, Callable[[], None]] = {}
        backing = spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergCatalog(spark._jsparkSession, BACKING)
        self.server = RestCatalogServer(SparkJvm(spark), backing, objects)
        self.server.before = self._interrupt

    def open_session(self, spark: Any) -> Any:
        """A session that has the served catalog."""
        session = spark.newSession()
        served = {"type": "rest", "uri": self.server.uri, "rest-metrics-reporting-enabled": "false"}
        for key, value in catalog_settings(SERVED, {**served, "cache-enabled": "false"}).items():
            session.conf.set(key, value)
        return session

    def _interrupt(self, entry: LoggedRequest) -> None:
        if entry.method == "POST" and (held := self.holds.pop(entry.key.rsplit("/", 1)[-1], None)):
            held()


class Ground:
    """One table of one mode, isolation level and format version; put back after every cell."""

    def __init__(
        self, spark: Any, doorway: Doorway, folder: Path, mode: str, isolation: str, version: int, *, has_deletes: bool
    ) -> None:
        self._spark = spark
        self._doorway = doorway
        self._name = f"{mode[:4]}_{isolation}_{version}{'_deletes' * has_deletes}"
        self._signal = Signal(folder / self._name)
        self.table = f"{BACKING}.db.{self._name}"
        modes = ", ".join(f"'write.{each}.mode' = '{mode}'" for each in ROW_LEVEL)
        levels = ", ".join(f"'write.{each}.isolation-level' = '{isolation}'" for each in ROW_LEVEL)
        spark.sql(
            f"CREATE TABLE {self.table} (id int, p int, v int) USING iceberg PARTITIONED BY (p) "
            f"TBLPROPERTIES ('format-version' = '{version}', 'commit.retry.min-wait-ms' = '1', {modes}, {levels})"
        )
        rows = ", ".join(f"({id}, {id // 30 * 3}, 0)" for id in (30, 31, 32, 33, 90, 91, 92, 93))
        spark.sql(f"INSERT INTO {self.table} VALUES {rows}")
        spark.sql(f"INSERT INTO {self.table} VALUES (35, 3, 0), (36, 3, 0), (37, 3, 0), (38, 3, 0)")
        if has_deletes:
            self._delete_by_position(mode)
        self._start = self._newest()

    def _delete_by_position(self, mode: str) -> None:
        """A row of A, and one of E."""
        change = f"ALTER TABLE {self.table} SET TBLPROPERTIES ('write.delete.mode' = '%s')"
        self._spark.sql(change % "merge-on-read")
        for id in (33, 93):
            self._spark.sql(f"DELETE FROM {self.table} WHERE id = {id}")
        self._spark.sql(change % mode)

    def play(self, victim: str, rival: str) -> dict[str, str]:
        """How the victim ends, the rival having committed between its scan and its commit."""
        session = self._doorway.open_session(self._spark)
        session.udf.register("wait_for_rival", self._signal.function(), "int")
        self._signal.reset()
        statement = STATEMENTS[victim].format(c=SERVED, t=f"{SERVED}.db.{self._name}", wait="wait_for_rival")
        end: dict[str, str] = {}
        moved: list[int] = []  # where the rival leads

        def let_rival_commit() -> None:
            if self._let_rival_commit(rival) and self._newest() != self._start:  # else it found nothing to do
                moved.append(self._newest())

        def run() -> None:
            try:
                if "dynamic" in victim:
                    session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
                session.sql(statement).collect()
                end["outcome"] = "committed"
            except Exception as error:
                end.update(ending(error))

        thread = threading.Thread(target=run)
        if "wait_for_rival" in statement:
            thread.start()
            self._signal.wait(thread)
            let_rival_commit()
            self._signal.go.touch()
        else:
            self._doorway.holds[self._name] = let_rival_commit
            thread.start()
        thread.join()
        self._doorway.holds.pop(self._name, None)
        parent = self._parent_of_newest() if moved and end["outcome"] == "committed" else None
        self._spark.sql(f"CALL {BACKING}.system.set_current_snapshot('{self.table}', {self._start})")
        return end if moved and parent in (None, *moved) else {}  # else the victim was faster

    def _let_rival_commit(self, rival: str) -> bool:
        """Whether it did."""
        statement = ALL_RIVALS[rival].format(c=BACKING, t=self.table, before=self._parent_of_newest())
        try:
            self._spark.newSession().sql(statement).collect()
        except Exception as error:
            print(f"{self.table}: {rival}: {ending(error)}", file=sys.stderr)
            return False
        return True

    def _newest(self) -> int:
        return int(self._table().currentSnapshot().snapshotId())

    def _parent_of_newest(self) -> int:
        return int(self._table().currentSnapshot().parentId())

    def _table(self) -> Any:
        return self._spark._jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(
            self._spark._jsparkSession, self.table
        )


def record(given: argparse.Namespace) -> None:
    """Play the cells, several tables at a time, and keep what was done so far."""
    out: Path = given.out or DATA / f"spark_sql_{release_of(given.jar)}.json"
    entries: dict[str, dict[str, str]] = read_entries(out) if given.missing else {}
    end_s = time.monotonic() + 60.0 * given.minutes
    grounds = itertools.product(FORMATS, MODES, ISOLATIONS, (False, True))
    wanted = [key for key in _all_keys() if key not in entries and re.search(given.only, key)]
    folder = Path(tempfile.mkdtemp(prefix="endive-spark-"))
    database = {"type": "jdbc", "uri": DATABASE, "jdbc.user": "endive", "jdbc.password": "endive"}
    places = {**database, "warehouse": f"file://{folder}/warehouse", "cache-enabled": "false"}
    quiet = f"-Dderby.stream.error.file={folder / 'derby.log'}"
    spark = start_spark([given.jar], 4 * given.threads, catalog_settings(BACKING, places), quiet)
    head = {"spark": spark.version, "iceberg": release_of(given.jar), "date": today()}
    lock = threading.Lock()

    def keep(key: str, end: dict[str, str]) -> None:
        with lock:
            entries[key] = end
            write_entries(out, head, dict(sorted(entries.items())))

    def work() -> None:
        while True:
            with lock:
                ground = next(grounds, None)
            if ground is None:
                return
            _play_ground(spark, doorway, folder, ground, wanted, keep, end_s)

    with ObjectServer() as objects:
        doorway = Doorway(spark, objects)
        with doorway.server:
            run_together([work] * given.threads)
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(entries)} cells of {len(_all_keys())}")


def _all_keys() -> list[str]:
    return [*(_key(*cell) for cell in _chosen_cells()), *thrown_keys()]


def _chosen_cells() -> list[tuple[int, str, str, str, str]]:
    """Cells that somebody chose."""
    level = ISOLATIONS[0]
    each_beside_each = itertools.product(FORMATS, MODES, ISOLATIONS, VICTIMS, RIVALS)
    return [
        *(cell for cell in each_beside_each if cell[2] == level or not cell[3].startswith("rewrite")),
        *itertools.product((2,), MODES, (level,), OTHERS, OTHER_RIVALS),
        *itertools.product((2,), MODES[1:], ISOLATIONS, REPLACING_DELETES, DELETES_KEPT),
        *itertools.product((2,), MODES[1:], ISOLATIONS, BESIDE_REWRITTEN, (DELETES_REWRITTEN,)),
        *itertools.product((2,), MODES[1:], (level,), (DELETES_REWRITTEN,), BESIDE_REWRITING),
    ]


def thrown_keys() -> list[str]:
    """Cells that nobody chose."""
    cells = list(itertools.product(FORMATS, MODES, ISOLATIONS, THROWN, (*RIVALS, *THROWN_RIVALS)))
    rivals = (*RIVALS, *THROWN_RIVALS, *UNSEEN_RIVALS)
    unseen = list(itertools.product(FORMATS, MODES, ISOLATIONS, UNSEEN, rivals))
    unseen += itertools.product(FORMATS, MODES, ISOLATIONS, (*VICTIMS, *OTHERS, *THROWN), UNSEEN_RIVALS)
    later = list(itertools.product(FORMATS, MODES, ISOLATIONS, STATEMENTS, ALL_RIVALS))
    return [
        *(_key(*cell) for cell in random.Random(SEED).sample(cells, THROWS)),
        *(_key(*cell) for cell in random.Random(UNSEEN_SEED).sample(unseen, UNSEEN_THROWS)),
        *(_key(*cell) for cell in random.Random(LATER_SEED).sample(later, LATER_THROWS)),
    ]


def _key(version: int, mode: str, isolation: str, victim: str, rival: str) -> str:
    return f"v{version} / {mode} / {isolation} / {victim} / {rival}"


def _play_ground(
    spark: Any,
    doorway: Doorway,
    folder: Path,
    ground: Any,
    wanted: list[str],
    keep: Callable[[str, dict[str, str]], None],
    end_s: float,
) -> None:
    version, mode, isolation, has_deletes = ground
    cells = [
        (victim, rival)
        for victim in STATEMENTS
        for rival in ALL_RIVALS
        if (DELETES_REWRITTEN in (victim, rival) or rival in DELETES_KEPT) == has_deletes
        and _key(version, mode, isolation, victim, rival) in wanted
    ]
    if not cells or time.monotonic() > end_s:
        return
    table = Ground(spark, doorway, folder, mode, isolation, version, has_deletes=has_deletes)
    for victim, rival in cells:
        if time.monotonic() > end_s:
            return
        if end := table.play(victim, rival):
            keep(_key(version, mode, isolation, victim, rival), end)


def main() -> int:
    """Record what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True, help="iceberg-spark-runtime-4.0_2.13-1.10.0.jar")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--missing", action="store_true", help="keep what is there, record the rest")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument("--only", default="", metavar="PATTERN", help="cells whose key has it")
    parser.add_argument("--threads", type=int, default=2, help="tables played at a time")
    record(parser.parse_args())
    return 0


if __name__ == "__main__":
    sys.exit(main())
