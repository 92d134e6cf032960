"""Row-level statements of Spark SQL beside each other, on a real Iceberg: which of them commit, and with which filter.

A *victim* is a MERGE, UPDATE, DELETE or ``rewrite_data_files`` that has read its snapshot and waits; a *rival* commits;
then the victim goes on. What it is told says which filter Spark handed over. Nothing of the package is imported: run it
with a Python that has ``pyspark==4.0.1``, which the package itself does not use:

    python -m venv spark4 && spark4/bin/pip install pyspark==4.0.1 'pandas<3' pyarrow
    spark4/bin/python -m verification.spark_rig.statements --jar iceberg-spark-runtime-4.0_2.13-1.10.0.jar --missing

The table has partitions 3 and 9. Partition 3 has the files A (ids 30 to 33) and B (35 to 38), partition 9 the file E
(90 to 93). Victims change row 30 of A, those named ``..._p`` every row of partition 3; a compaction rewrites A and B.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
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

from verification.spark_rig.session import (
    DATA,
    ROW_LEVEL,
    Signal,
    catalog_settings,
    ending,
    release_of,
    start_spark,
    write_recording,
)

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
    "rewrite_data_files, p = 3": "CALL c.system.rewrite_data_files(table => '{t}', where => 'p = 3', "
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
SEED, THROWS = 9191, 24
STATEMENTS: Final = {**VICTIMS, **OTHERS, **THROWN}
SLOW_ROWS: Final = 600_000  # more of them in the table whose compaction a rival has to overtake


class Ground:
    """One table of one mode, isolation level and format version; put back after every cell."""

    def __init__(self, spark: Any, folder: Path, mode: str, isolation: str, version: int, *, is_slow: bool) -> None:
        self._spark = spark
        self._data = folder / "warehouse/db" / f"{mode[:4]}_{isolation}_{version}{'_slow' * is_slow}" / "data"
        self._signal = Signal(folder / self._data.parent.name)
        self.table = f"c.db.{self._data.parent.name}"
        modes = ", ".join(f"'write.{each}.mode' = '{mode}'" for each in ROW_LEVEL)
        levels = ", ".join(f"'write.{each}.isolation-level' = '{isolation}'" for each in ROW_LEVEL)
        level = ", 'write.parquet.compression-level' = '19'" if is_slow else ""
        spark.sql(
            f"CREATE TABLE {self.table} (id int, p int, v int) USING iceberg PARTITIONED BY (p) "
            f"TBLPROPERTIES ('format-version' = '{version}', {modes}, {levels}{level})"
        )
        rows = ", ".join(f"({id}, {id // 30 * 3}, 0)" for id in (30, 31, 32, 33, 90, 91, 92, 93))
        spark.sql(f"INSERT INTO {self.table} VALUES {rows}")
        spark.sql(f"INSERT INTO {self.table} VALUES (35, 3, 0), (36, 3, 0), (37, 3, 0), (38, 3, 0)")
        if is_slow:
            more = f"SELECT cast(1000 + id AS int), 3, cast(rand() * 1e9 AS int) FROM range({SLOW_ROWS})"
            spark.sql(f"INSERT INTO {self.table} {more}")
        self._start = self._newest()

    def play(self, victim: str, rival: str) -> dict[str, str]:
        """How the victim ends, the rival having committed between its scan and its commit."""
        session = self._spark.newSession()
        session.udf.register("wait_for_rival", self._signal.function(), "int")
        self._signal.reset()
        end: dict[str, str] = {}

        def run() -> None:
            try:
                session.sql(STATEMENTS[victim].format(t=self.table, wait="wait_for_rival")).collect()
                end["outcome"] = "committed"
            except Exception as error:
                end.update(ending(error))

        thread = threading.Thread(target=run)
        before = self._data_files()
        thread.start()
        is_compaction = victim.startswith("rewrite")  # it calls no function; a new file says that it has planned
        self._signal.wait(thread, lambda: is_compaction and self._data_files() != before)
        is_overtaken = self._let_rival_commit(rival)
        moved = self._newest()
        self._signal.go.touch()
        thread.join()
        parent = self._parent_of_newest() if end["outcome"] == "committed" else moved
        self._spark.sql(f"CALL c.system.rollback_to_snapshot('{self.table}', {self._start})")
        return end if is_overtaken and parent == moved else {}  # else the victim was faster

    def _let_rival_commit(self, rival: str) -> bool:
        """Whether it did: beside a compaction that was faster it may fail."""
        try:
            self._spark.newSession().sql({**RIVALS, **THROWN_RIVALS}[rival].format(t=self.table)).collect()
        except Exception as error:
            print(f"{self.table}: {rival}: {ending(error)}", file=sys.stderr)
            return False
        return True

    def _data_files(self) -> set[Path]:
        return set(self._data.rglob("*.parquet"))

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
    entries: dict[str, dict[str, str]] = {}
    if given.missing and out.is_file():
        entries = json.loads(out.read_text(encoding="utf-8"))["entries"]
    end_s = time.monotonic() + 60.0 * given.minutes
    grounds = list(itertools.product(FORMATS, MODES, ISOLATIONS, (False, True)))
    wanted = [key for key in _all_keys() if key not in entries and re.search(given.only, key)]
    folder = Path(tempfile.mkdtemp(prefix="endive-spark-"))
    places = {"type": "hadoop", "warehouse": folder / "warehouse", "cache-enabled": "false"}
    spark = start_spark([given.jar], 4 * given.threads, catalog_settings("c", places))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    head = {"spark": spark.version, "iceberg": release_of(given.jar), "date": today}
    lock, turns = threading.Lock(), iter(grounds)

    def keep(key: str, end: dict[str, str]) -> None:
        with lock:
            entries[key] = end
            write_recording(out, head, entries)

    def work() -> None:
        while True:
            with lock:
                ground = next(turns, None)
            if ground is None:
                return
            _play_ground(spark, folder, ground, wanted, keep, end_s)

    threads = [threading.Thread(target=work) for _ in range(given.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(entries)} cells of {len(_all_keys())}")


def _all_keys() -> list[str]:
    return [
        _key(version, mode, isolation, victim, rival)
        for version, mode, isolation in itertools.product(FORMATS, MODES, ISOLATIONS)
        for victim in VICTIMS
        for rival in RIVALS
        if isolation == ISOLATIONS[0] or not victim.startswith("rewrite")
    ] + [
        *(_key(2, mode, ISOLATIONS[0], victim, rival) for mode in MODES for victim in OTHERS for rival in OTHER_RIVALS),
        *thrown_keys(),
    ]


def thrown_keys() -> list[str]:
    """Cells that nobody chose."""
    cells = list(itertools.product(FORMATS, MODES, ISOLATIONS, THROWN, (*RIVALS, *THROWN_RIVALS)))
    return [_key(*cell) for cell in random.Random(SEED).sample(cells, THROWS)]


def _key(version: int, mode: str, isolation: str, victim: str, rival: str) -> str:
    return f"v{version} / {mode} / {isolation} / {victim} / {rival}"


def _play_ground(
    spark: Any,
    folder: Path,
    ground: Any,
    wanted: list[str],
    keep: Callable[[str, dict[str, str]], None],
    end_s: float,
) -> None:
    version, mode, isolation, is_slow = ground
    victims = [each for each in STATEMENTS if each.startswith("rewrite") == is_slow]
    cells = [
        (victim, rival)
        for victim in victims
        for rival in (*RIVALS, *THROWN_RIVALS)
        if _key(version, mode, isolation, victim, rival) in wanted
    ]
    if not cells or time.monotonic() > end_s:
        return
    table = Ground(spark, folder, mode, isolation, version, is_slow=is_slow)
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
