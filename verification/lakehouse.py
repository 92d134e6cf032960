"""A small lakehouse on one machine, and a log of all its clients tried: what ``endive verify replay`` is held to.

Spark with Iceberg's runtime on a ``JdbcCatalog`` in Postgres, tables in a folder: streaming queries, two PyIceberg
appenders, a batch INSERT, a MERGE and ``rewrite_data_files``, each in a loop of its own. Every statement is logged by
its client: when it began, how long it took, whether it committed, and the exception. What is left behind is what a user
has: the table's metadata, the log, and Spark's event log.

Nothing of the package is imported: run it with a Python that has ``pyspark==4.0.1``:

    python -m venv spark4 && spark4/bin/pip install pyspark==4.0.1 'pandas<3' pyarrow 'pyiceberg[sql-postgres]'
    spark4/bin/python verification/lakehouse.py --jars FOLDER --seconds 300 --out lakehouse.json

FOLDER holds iceberg-spark-runtime-4.0_2.13-1.10.0.jar and the JDBC driver of Postgres; ``postgres`` and ``initdb`` are
found on the path or in /usr/lib/postgresql.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import glob
import io
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

JARS: Final = ("iceberg-spark-runtime-4.0_2.13-*.jar", "postgresql-*.jar")
PARTITIONS: Final = 8
STREAM_EVERY_S: Final = (6.0, 10.0)
APPEND_PAUSE_S: Final = (3.0, 4.0)
INSERT_EVERY_S: Final = 15.0
MERGE_EVERY_S: Final = 25.0
COMPACT_EVERY_S: Final = 45.0
ROWS_AT_FIRST: Final = 200_000
TABLE: Final = "db.events"
COLUMNS: Final = ("timestamp", "operation", "table", "duration", "outcome", "exception", "writer")
_TEXT_MAX: Final = 300


class Log:
    """What clients write down, one row for each statement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.rows: list[tuple[Any, ...]] = []

    def call(self, writer: str, operation: str, statement: Callable[[], Any]) -> None:
        """Run a statement, and log how it ended."""
        begin, clock = datetime.datetime.now(datetime.UTC), time.monotonic()
        outcome, told = "committed", ""
        try:
            statement()
        except Exception as error:
            outcome, told = "failed", _told(error)
        took_ms = round(1000.0 * (time.monotonic() - clock), 1)
        when = begin.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self._lock:
            self.rows.append((when, operation, TABLE, took_ms, outcome, told, writer))

    def text(self) -> str:
        """As CSV, by time."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(sorted(self.rows))
        return out.getvalue()


def _told(error: Exception) -> str:
    """The first line of Java's own that names an exception, Iceberg's if there is one; else Python's."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    named = [line for line in lines if "Exception: " in line]
    ours = [line for line in named if "iceberg" in line]
    return (ours or named or [f"{type(error).__name__}: {(lines or [''])[0]}"])[0][:_TEXT_MAX]


class Postgres:
    """A server of its own, on a free port, below a folder that is removed afterwards."""

    def __init__(self, folder: Path) -> None:
        places = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))]
        binaries = next((Path(place).resolve().parent for place in places if place), None)
        if binaries is None:
            raise SystemExit("no Postgres: initdb is neither on the path nor in /usr/lib/postgresql.")
        self.port = _free_port()
        data = folder / "postgres"
        data.mkdir()
        as_user = []
        if os.geteuid() == 0:  # Postgres refuses to run as root
            shutil.chown(data, "postgres", "postgres")
            os.chmod(folder, 0o755)
            as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data_folder = str(data / "db")
        _quiet([*as_user, str(binaries / "initdb"), "-D", data_folder, "-U", "lake", "-A", "trust"]).check_returncode()
        options = ["-D", data_folder, "-p", str(self.port), "-k", str(data), "-c", "listen_addresses=127.0.0.1"]
        self._server = subprocess.Popen(
            [*as_user, str(binaries / "postgres"), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        end = time.monotonic() + 60
        while _quiet([str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            if time.monotonic() > end or self._server.poll() is not None:
                raise SystemExit("Postgres did not start.")
            time.sleep(0.3)
        self.jdbc = f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"
        self.uri = f"postgresql+psycopg2://lake@127.0.0.1:{self.port}/postgres"

    def stop(self) -> None:
        """End the server that was started here; clients that are still there are cut off."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait(60)


def _quiet(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", check=False)


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


def start_spark(jars: Path, folder: Path, postgres: Postgres) -> Any:
    """A session whose catalog ``lake`` is a JdbcCatalog."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    (folder / "events").mkdir()
    settings = {
        "spark.jars": ",".join(str(each) for name in JARS for each in sorted(jars.glob(name))[-1:]),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "spark.sql.catalog.lake.uri": postgres.jdbc,
        "spark.sql.catalog.lake.jdbc.user": "lake",
        "spark.sql.catalog.lake.warehouse": f"file://{folder / 'warehouse'}",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder / 'events'}",
        "spark.driver.memory": "2g",
        "spark.scheduler.mode": "FAIR",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    builder = SparkSession.builder.master("local[8]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def make_table(spark: Any, mode: str, isolation: str) -> None:
    """Partitioned, with rows in every partition."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.db")
    spark.sql(
        f"CREATE TABLE lake.{TABLE} (id bigint, p int, v string) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ("
        f"'format-version' = '2', 'write.merge.mode' = '{mode}', 'write.merge.isolation-level' = '{isolation}', "
        "'write.distribution-mode' = 'none')"
    )
    spark.sql(
        f"INSERT INTO lake.{TABLE} SELECT /*+ REPARTITION(1) */ id, cast(id % {PARTITIONS} AS int), 'first' "
        f"FROM range({ROWS_AT_FIRST})"
    )


def start_stream(spark: Any, number: int, folder: Path, log: Log) -> Any:
    """A streaming query that appends a few rows of two partitions; its batches are logged by Spark itself."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    rows = rows.selectExpr("value AS id", f"cast({number} AS int) AS p", "'stream' AS v").coalesce(1)
    return (
        rows.writeStream.format("iceberg")
        .outputMode("append")
        .queryName(f"stream{number}")
        .option("checkpointLocation", str(folder / f"checkpoint{number}"))
        .trigger(processingTime=f"{STREAM_EVERY_S[number % len(STREAM_EVERY_S)]} seconds")
        .toTable(f"lake.{TABLE}")
    )


def appender(number: int, uri: str, folder: Path, log: Log, until: float) -> None:
    """A PyIceberg client that appends and pauses."""
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("lake", uri=uri, warehouse=f"file://{folder / 'warehouse'}", init_catalog_tables="false")
    rows = pa.table({"id": pa.array([1], pa.int64()), "p": pa.array([4 + number], pa.int32()), "v": ["python"]})
    while time.monotonic() < until:
        log.call(f"pyiceberg{number}", "append", lambda: catalog.load_table(TABLE).append(rows))
        time.sleep(APPEND_PAUSE_S[number])


def every(period_s: float, until: float, act: Callable[[int], None], first_s: float = 0.0) -> None:
    """By a clock; a turn that is late begins at once, and ticks it missed are missed."""
    start, turn = time.monotonic() + first_s, 0
    while True:
        due = start + turn * period_s
        if due >= until:
            return
        time.sleep(max(0.0, due - time.monotonic()))
        act(turn)
        turn = max(turn + 1, int((time.monotonic() - start) / period_s))


def merge(spark: Any, turn: int) -> None:
    """Updates rows of one partition, and says so."""
    part = turn % PARTITIONS
    spark.newSession().sql(
        f"MERGE INTO lake.{TABLE} t USING (SELECT id * {PARTITIONS} + {part} AS id FROM range(50)) s "
        f"ON t.id = s.id AND t.p = {part} WHEN MATCHED THEN UPDATE SET v = 'merged {turn}'"
    ).collect()


def compact(spark: Any, turn: int) -> None:
    """Rewrites the small files of the whole table."""
    spark.newSession().sql(
        f"CALL lake.system.rewrite_data_files(table => '{TABLE}', options => map('min-input-files', '2'))"
    ).collect()


def insert(spark: Any, turn: int) -> None:
    """A few rows into one partition."""
    part = turn % PARTITIONS
    spark.newSession().sql(f"INSERT INTO lake.{TABLE} SELECT id, {part}, 'batch' FROM range(0, 20, 1, 1)").collect()


def run(spark: Any, postgres: Postgres, folder: Path, log: Log, seconds: float) -> None:
    """Everybody at once."""
    streams = [start_stream(spark, number, folder, log) for number in range(2)]
    until = time.monotonic() + seconds
    loops: list[Callable[[], None]] = [
        lambda: every(MERGE_EVERY_S, until, lambda n: log.call("merge", "overwrite", lambda: merge(spark, n)), 10.0),
        lambda: every(
            COMPACT_EVERY_S, until, lambda n: log.call("compact", "replace", lambda: compact(spark, n)), 20.0
        ),
        lambda: every(INSERT_EVERY_S, until, lambda n: log.call("insert", "append", lambda: insert(spark, n)), 5.0),
        *(lambda n=n: appender(n, postgres.uri, folder, log, until) for n in range(2)),
    ]
    threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 240.0)
    for stream in streams:
        stream.stop()


def kept(folder: Path, spark: Any) -> tuple[str, str]:
    """The newest metadata, and Spark's event log without what nobody reads of it."""
    location = spark.sql(f"SELECT file FROM lake.{TABLE}.metadata_log_entries ORDER BY timestamp DESC LIMIT 1").first()[
        0
    ]
    metadata = Path(location.removeprefix("file:")).read_text(encoding="utf-8")
    spark.stop()
    words = ("SQLExecution", "ListenerJob", "ApplicationStart")
    events = []
    for file in sorted(glob.glob(f"{folder}/events/*/events_*")):
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        events += [json.loads(line) for line in lines if any(word in line[:200] for word in words)]
    return metadata, "".join(json.dumps(_slim(event)) + "\n" for event in _of_streams(events))


def _of_streams(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of micro-batches: every other statement is in the log of its client."""
    batches = {str(each["executionId"]) for each in events if "runId = " in each.get("description", "")}
    jobs = {
        each["Job ID"]
        for each in events
        if "Properties" in each and each["Properties"].get("spark.sql.execution.id") in batches
    }
    return [
        each
        for each in events
        if "App ID" in each or str(each.get("executionId")) in batches or each.get("Job ID") in jobs
    ]


def _slim(event: dict[str, Any]) -> dict[str, Any]:
    """An event with the parts that are read, in the form it has."""
    wanted = (
        "Event",
        "executionId",
        "rootExecutionId",
        "time",
        "errorMessage",
        "description",
        "physicalPlanDescription",
    )
    found = {key: value for key, value in event.items() if key in (*wanted, "App ID", "Job ID", "Completion Time")}
    if "sparkPlanInfo" in event:
        found["sparkPlanInfo"] = {"nodeName": event["sparkPlanInfo"]["nodeName"]}
    if isinstance(event.get("Properties"), dict):
        owner = event["Properties"].get("spark.sql.execution.id")
        found["Properties"] = {} if owner is None else {"spark.sql.execution.id": owner}
    if "physicalPlanDescription" in found:
        plan = found["physicalPlanDescription"]
        scans = [line for line in plan.splitlines() if "filters=" in line or "Write(table=" in line]
        found["physicalPlanDescription"] = "\n".join([*plan.splitlines()[:2], *scans])
    if "errorMessage" in found:
        found["errorMessage"] = found["errorMessage"][:_TEXT_MAX]
    return found


def main() -> None:
    """Record a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--mode", choices=("copy-on-write", "merge-on-read"), default="copy-on-write")
    parser.add_argument("--isolation", choices=("serializable", "snapshot"), default="serializable")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="endive-lakehouse-"))
    postgres = Postgres(folder)
    try:
        spark = start_spark(given.jars, folder, postgres)
        version = spark.version
        make_table(spark, given.mode, given.isolation)
        log = Log()
        run(spark, postgres, folder, log, given.seconds)
        metadata, events = kept(folder, spark)
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    document = {
        "spark": version,
        "iceberg": "1.10.0",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.system()}",
        "load_average": round(os.getloadavg()[0], 1),
        "seconds": given.seconds,
        "mode": given.mode,
        "isolation": given.isolation,
        "metadata": metadata,
        "log": log.text(),
        "events": events,
    }
    given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    ended = [row[4] for row in log.rows]
    print(f"{len(ended)} statements, {ended.count('failed')} failed; written to {given.out}")


if __name__ == "__main__":
    main()
