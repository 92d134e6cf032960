"""Several real writers on one table for some minutes, and everything a user would have of them afterwards.

Writers append and pause, one merges what it read some seconds before, Iceberg's own metrics reporter listens, and
``endive measure`` asks the same store. What is made of it is in ``verification.suites.java.java_replay``.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from endive.observation.measurement.probe_plan import make_plan
from endive.observation.measurement.store_probe import open_store, probe
from endive.observation.measurement.store_profile import profile_document, profile_text
from rigs.java.gateway import Java
from rigs.java.load_stage import LoadStage, commits
from rigs.java.object_server import s3_properties
from rigs.java.operations import RIVAL_IDS, build
from verification.recordings import machine, run_together, today
from verification.suites.java.scenario import ROW_DELTA_SNAPSHOT, VICTIM_PARTITION

DELAYS_MS: Final = {"GET": 600.0, "HEAD": 300.0, "PUT": 900.0, "DELETE": 600.0, "POST": 600.0}  # POST: many deletes
APPENDS: Final = "appends"
MERGES: Final = "merges"
APPENDERS: Final = 3  # under one name, as the tasks of one job
PAUSE_S: Final = (12.0, 30.0)
MERGE_EVERY_S: Final = 45.0
MERGE_WORK_S: Final = 10.0
MERGING: Final = "commit.manifest-merge.enabled"  # a bin of 100 manifests would stop the merges half-way
REPORTER: Final = "org.apache.iceberg.metrics.InMemoryMetricsReporter"
FILES_PER_S: Final = 0.1
PROBE_AFTER_S: Final = 60.0  # the store is measured while the writers work, as a user would


def record(jars: Path | None, seconds: float) -> dict[str, Any]:
    """Run the writers, measure their store, and keep what they left."""
    with LoadStage(jars) as stage:
        identifier = stage.new_table()
        stage.quick.loadTable(identifier).updateProperties().set(MERGING, "false").commit()
        pointer_ms = round(stage.pointer_ms(), 3)
        reports: list[str] = []
        log: list[list[Any]] = []
        door = stage.objects.open_door("probe")
        door.delays_ms = DELAYS_MS
        profiles: list[str] = []

        def measure() -> None:
            time.sleep(min(PROBE_AFTER_S, seconds / 4.0))
            profiles.append(measured_profile(door.port))

        run_together([lambda: run_writers(stage, identifier, seconds, reports, log), measure])
        table = stage.quick.loadTable(identifier)
        location = str(table.operations().current().metadataFileLocation())
        return {
            "iceberg": stage.jvm.version,
            "date": today(),
            "machine": machine(),
            "load_average": round(os.getloadavg()[2], 1),  # of the last quarter of an hour
            "seconds": seconds,
            "delays_ms": DELAYS_MS,
            "merge_work_ms": 1000.0 * MERGE_WORK_S,
            "pointer_ms": pointer_ms,
            "profile": profiles[0],
            "metadata": stage.objects.objects[location.removeprefix("s3://")].decode(),
            "reports": reports,
            "logged": str(_last_report(stage.quick.loadTable(identifier)) or ""),
            "log": log,
        }


def run_writers(stage: LoadStage, identifier: Java, seconds: float, reports: list[str], log: list[list[Any]]) -> None:
    """All writers at once; a report and a line of the log for each commit, of failures a line only."""
    parser = stage.jvm.iceberg.metrics.CommitReportParser
    lock = threading.Lock()
    doors = [stage.objects.open_door(f"observed{index}") for index in range(APPENDERS + 1)]
    catalogs = []
    for door in doors:
        door.delays_ms = DELAYS_MS
        catalogs.append(stage.jvm.jdbc_catalog({**s3_properties(door), "metrics-reporter-impl": REPORTER}))
    for catalog in catalogs:
        catalog.loadTable(identifier)
    end_s = time.monotonic() + seconds

    def note(writer: str, table: Java, change: Java) -> None:
        change.set("app-id", writer)
        begin_ms, begin_s = 1000.0 * time.time(), time.perf_counter()
        is_committed = commits(change)
        took_ms = 1000.0 * (time.perf_counter() - begin_s)
        with lock:
            log.append([writer, round(begin_ms), round(took_ms, 1), int(is_committed)])
            if is_committed:
                reports.append(str(parser.toJson(_last_report(table))))

    def append(index: int) -> Callable[[], None]:
        chance = random.Random(index)
        made = [stage.files.data(VICTIM_PARTITION, RIVAL_IDS) for _ in range(max(4, round(seconds * FILES_PER_S)))]

        def write() -> None:
            for data_file in made:
                time.sleep(chance.uniform(*PAUSE_S))
                if time.monotonic() >= end_s:
                    return
                table = catalogs[index].loadTable(identifier)
                note(APPENDS, table, table.newFastAppend().appendFile(data_file))

        return write

    def merge() -> None:
        turn = 0
        begin_s = time.monotonic()
        while True:
            turn += 1
            time.sleep(max(0.0, begin_s + turn * MERGE_EVERY_S - time.monotonic()))
            if time.monotonic() >= end_s:
                return
            table = catalogs[-1].loadTable(identifier)
            planned = stage.quick.loadTable(identifier)
            change = build(stage.jvm, stage.files, table, planned, ROW_DELTA_SNAPSHOT)
            time.sleep(MERGE_WORK_S)
            note(MERGES, table, change)

    run_together([*(append(index) for index in range(APPENDERS)), merge])


def _last_report(table: Java) -> Java:
    """The report that ``InMemoryMetricsReporter`` received last; it has no way to ask for a commit's."""
    reporter = table.reporter()
    if "InMemory" not in str(reporter.getClass().getName()):
        return None
    field = reporter.getClass().getDeclaredField("metricsReport")
    field.setAccessible(True)
    return field.get(reporter)


def measured_profile(port: int) -> str:
    """``endive measure store`` on the same store, without swaps: the catalog keeps its pointer elsewhere."""
    options = {
        "endpoint": f"http://127.0.0.1:{port}",
        "access_key_id": "local",
        "secret_access_key": "local",
        "region": "us-east-1",
    }
    plan = make_plan("s3", requests_max=400, usd_max=1.0, with_swaps=False)
    measured = probe(
        open_store("s3://warehouse/probe", options), plan, seconds_max=600.0, progress=lambda done, total: None
    )
    date = today()
    document = profile_document(measured, name="observed", title="A local store with delays", date=date, provider="s3")
    return profile_text(document, [])
