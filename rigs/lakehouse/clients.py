"""Those who write to the table, each in a loop of its own, and the log of what they tried."""

from __future__ import annotations

import csv
import datetime
import io
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from rigs.lakehouse.services import Lake

PARTITIONS: Final = 8
ROWS_AT_FIRST: Final = 200_000
TABLE: Final = "db.events"
MERGE_MODES: Final = ("copy-on-write", "merge-on-read")
ISOLATIONS: Final = ("serializable", "snapshot")
COLUMNS: Final = ("timestamp", "operation", "table", "duration", "attempts", "outcome", "exception", "writer")
EXPIRE: Final = "expire"
RETRYING: Final = "Commit failed due to a concurrent update"  # what PyIceberg logs of an attempt that lost
TEXT_MAX: Final = 300
KEPT_S: Final = 240  # how old a snapshot gets that ``expire`` leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Who writes how often, in seconds; None: not at all."""

    streams_every_s: tuple[float, ...] = ()
    appends_pause_s: tuple[float, ...] = ()
    insert_every_s: float | None = None
    merge_every_s: float | None = None
    compact_every_s: float | None = None
    compaction: str = "'min-input-files', '2'"
    expire_every_s: float | None = None


MIXES: Final = {
    "lakehouse": Mix(
        streams_every_s=(6.0, 10.0, 15.0),
        appends_pause_s=(3.0, 4.0),
        insert_every_s=20.0,
        merge_every_s=60.0,
        compact_every_s=75.0,
        expire_every_s=120.0,
    ),
    "modes": Mix(merge_every_s=4.0, compact_every_s=6.0, compaction="'rewrite-all', 'true'"),
}


class Log(logging.Handler):
    """What clients write down, one row for each statement; attempts only of PyIceberg, which logs those it lost."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._lost = threading.local()
        self.rows: list[tuple[Any, ...]] = []
        self.expiries: list[tuple[str, float, str]] = []  # began, took ms, exception: no operation of a trace
        logging.getLogger("pyiceberg").addHandler(self)
        logging.getLogger("pyiceberg").propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        """A line of PyIceberg's, in the thread of the client that commits."""
        if RETRYING in record.getMessage():
            self._lost.count = getattr(self._lost, "count", 0) + 1

    def call(self, writer: str, operation: str, statement: Callable[[], Any]) -> None:
        """Run a statement, and log how it ended."""
        self._lost.count = 0
        begin, clock = datetime.datetime.now(datetime.UTC), time.monotonic()
        outcome, told = "committed", ""
        try:
            statement()
        except Exception as error:
            outcome, told = "failed", _told(error)
        took_ms = round(1000.0 * (time.monotonic() - clock), 1)
        when = begin.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        attempts = self._lost.count + 1 if writer.startswith("pyiceberg") else ""
        with self._lock:
            if operation == EXPIRE:
                self.expiries.append((when, took_ms, told))
            else:
                self.rows.append((when, operation, TABLE, took_ms, attempts, outcome, told, writer))

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
    return (ours or named or [f"{type(error).__name__}: {(lines or [''])[0]}"])[0][:TEXT_MAX]


def make_table(spark: Any, mode: str, isolation: str) -> None:
    """Partitioned, with rows in every partition; one that is there goes."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.db")
    spark.sql(f"DROP TABLE IF EXISTS lake.{TABLE}")
    spark.sql(
        f"CREATE TABLE lake.{TABLE} (id bigint, p int, v string) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ("
        f"'format-version' = '2', 'write.merge.mode' = '{mode}', 'write.merge.isolation-level' = '{isolation}', "
        "'write.distribution-mode' = 'none')"
    )
    spark.sql(
        f"INSERT INTO lake.{TABLE} SELECT /*+ REPARTITION(1) */ id, cast(id % {PARTITIONS} AS int), 'first' "
        f"FROM range({ROWS_AT_FIRST})"
    )


def work(spark: Any, lake: Lake, log: Log, mix: Mix, seconds: float) -> None:
    """Everybody at once, for so long."""
    streams = [_start_stream(spark, number, every_s, lake) for number, every_s in enumerate(mix.streams_every_s)]
    until = time.monotonic() + seconds
    loops: list[Callable[[], None]] = []
    for number, pause_s in enumerate(mix.appends_pause_s):
        loops.append(partial(_append, number, pause_s, lake, log, until))
    periodic: tuple[tuple[str, str, float | None, float, Callable[[Any, int], None]], ...] = (
        ("merge", "overwrite", mix.merge_every_s, 10.0, merge),
        ("compact", "replace", mix.compact_every_s, 20.0, partial(compact, mix.compaction)),
        ("insert", "append", mix.insert_every_s, 5.0, insert),
        ("expire", EXPIRE, mix.expire_every_s, 90.0, expire),
    )
    for name, operation, every_s, first_s, act in periodic:
        if every_s is not None:
            own = partial(act, spark.newSession())  # one for each client: a session has connections of its own
            loops.append(partial(_every, every_s, until, partial(_call, log, name, operation, own), first_s))
    threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 240.0)
    for stream in streams:
        stream.stop()


def _call(log: Log, name: str, operation: str, act: Callable[[int], None], turn: int) -> None:
    log.call(name, operation, partial(act, turn))


def _start_stream(spark: Any, number: int, every_s: float, lake: Lake) -> Any:
    """A streaming query that appends a few rows of one partition; its batches are logged by Spark itself."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    rows = rows.selectExpr("value AS id", f"cast({number} AS int) AS p", "'stream' AS v").coalesce(1)
    return (
        rows.writeStream.format("iceberg")
        .outputMode("append")
        .queryName(f"stream{number}")
        .option("checkpointLocation", str(lake.folder / f"checkpoint{number}"))
        .trigger(processingTime=f"{every_s} seconds")
        .toTable(f"lake.{TABLE}")
    )


def _append(number: int, pause_s: float, lake: Lake, log: Log, until: float) -> None:
    """A PyIceberg client that appends and pauses."""
    import pyarrow as pa
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("lake", **lake.python)
    rows = pa.table({"id": pa.array([1], pa.int64()), "p": pa.array([4 + number], pa.int32()), "v": ["python"]})
    while time.monotonic() < until:
        log.call(f"pyiceberg{number}", "append", lambda: catalog.load_table(TABLE).append(rows))
        time.sleep(pause_s)


def _every(period_s: float, until: float, act: Callable[[int], None], first_s: float) -> None:
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
    spark.sql(
        f"MERGE INTO lake.{TABLE} t USING (SELECT id * {PARTITIONS} + {part} AS id FROM range(50)) s "
        f"ON t.id = s.id AND t.p = {part} WHEN MATCHED THEN UPDATE SET v = 'merged {turn}'"
    ).collect()


def compact(options: str, spark: Any, turn: int) -> None:
    """Rewrites files of the whole table."""
    spark.sql(f"CALL lake.system.rewrite_data_files(table => '{TABLE}', options => map({options}))").collect()


def insert(spark: Any, turn: int) -> None:
    """A few rows into one partition."""
    part = turn % PARTITIONS
    spark.sql(f"INSERT INTO lake.{TABLE} SELECT id, {part}, 'batch' FROM range(0, 20, 1, 1)").collect()


def expire(spark: Any, turn: int) -> None:
    """Drops snapshots of some minutes ago, and their files."""
    old = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=KEPT_S)
    spark.sql(
        f"CALL lake.system.expire_snapshots(table => '{TABLE}', retain_last => 20, "
        f"older_than => TIMESTAMP '{old:%Y-%m-%d %H:%M:%S}+00:00')"
    ).collect()
