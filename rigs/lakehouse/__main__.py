"""Let the clients work for a while, and write down what a user has afterwards."""

from __future__ import annotations

import argparse
import glob
import gzip
import json
import os
import platform
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rigs.lakehouse.clients import ISOLATIONS, MERGE_MODES, MIXES, TABLE, TEXT_MAX, Log, make_table, work
from rigs.lakehouse.services import Lake, open_lake, start_spark
from verification.recordings import today

MODES: Final = tuple((mode, level) for mode in MERGE_MODES for level in ISOLATIONS)


def table_of(spark: Any) -> dict[str, str]:
    """The newest metadata, and where each snapshot added files."""
    jvm = spark.sparkContext._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, f"lake.{TABLE}")
    metadata = str(jvm.org.apache.iceberg.TableMetadataParser.toJson(table.operations().current()))
    places = spark.sql(
        "SELECT snapshot_id, data_file.partition.p AS p, count(DISTINCT data_file.file_path) AS files "
        f"FROM lake.{TABLE}.all_entries WHERE status < 2 GROUP BY 1, 2 ORDER BY 1, 2"
    ).collect()
    added = "".join(f"{row[0]},p={row[1]},{row[2]}\n" for row in places)
    return {"metadata": metadata, "added": f"snapshot_id,partition,files\n{added}"}


def reports_of(folder: Path, metadata: str) -> str:
    """Iceberg's commit reports of the snapshots of one table."""
    known = {str(each["snapshot-id"]) for each in json.loads(metadata)["snapshots"]}
    lines = (folder / "reports.log").read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if any(f"snapshotId={own}," in line for own in known))


def events_of(folder: Path) -> str:
    """What is read of Spark's event log."""
    words = ("SQLExecution", "ListenerJob", "ApplicationStart")
    events = []
    for file in sorted(glob.glob(f"{folder}/events/*/events_*")):
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        events += [json.loads(line) for line in lines if any(word in line[:200] for word in words)]
    return "".join(json.dumps(_slim(event)) + "\n" for event in _of_streams(events))


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
        found["errorMessage"] = found["errorMessage"][:TEXT_MAX]
    return found


def record(lake: Lake, given: argparse.Namespace, modes: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """A run for each mode, on a table of its own, in one session."""
    spark = start_spark(lake)
    found = []
    for mode, isolation in modes:
        log = Log()
        make_table(spark, mode, isolation)
        work(spark, lake, log, MIXES[given.mix], given.seconds)
        table = table_of(spark)
        found.append(
            {
                "spark": spark.version,
                "iceberg": "1.10.0",
                "date": today(),
                "machine": f"{os.cpu_count()} cores, {platform.system()}",
                "load_average": round(os.getloadavg()[1], 1),
                **{key: getattr(given, key) for key in ("seconds", "mix", "catalog", "store")},
                "mode": mode,
                "isolation": isolation,
                "log": log.text(),
                "expiries": sorted(log.expiries),
                **table,
                "reports": reports_of(lake.folder, table["metadata"]),
                "events": "",
            }
        )
        print(f"{mode}, {isolation}: {len(log.rows)} statements, {sum(row[5] == 'failed' for row in log.rows)} failed")
    spark.stop()
    if len(found) == 1:
        found[0]["events"] = events_of(lake.folder)
    return found


def main() -> None:
    """Record a run, or with the mix ``modes`` one for each way to merge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--mix", choices=tuple(MIXES), default="lakehouse")
    parser.add_argument("--catalog", choices=("jdbc", "rest"), default="jdbc")
    parser.add_argument("--store", choices=("disk", "s3", "moto"), default="disk")
    parser.add_argument("--mode", choices=MERGE_MODES, default=MERGE_MODES[0])
    parser.add_argument("--isolation", choices=ISOLATIONS, default=ISOLATIONS[0])
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # by way of what follows "finally"
    lake = Lake(Path(tempfile.mkdtemp(prefix="endive-lakehouse-")), given.jars)
    try:
        open_lake(lake, catalog=given.catalog, store=given.store)
        runs = record(lake, given, MODES if given.mix == "modes" else [(given.mode, given.isolation)])
    finally:
        lake.stop()
        shutil.rmtree(lake.folder, ignore_errors=True)
    text = (json.dumps(runs if len(runs) > 1 else runs[0], indent=1) + "\n").encode()
    given.out.write_bytes(gzip.compress(text, mtime=0) if given.out.suffix == ".gz" else text)


if __name__ == "__main__":
    main()
