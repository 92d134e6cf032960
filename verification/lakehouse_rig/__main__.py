"""Let the clients work for a while, and write down what a user has afterwards."""

from __future__ import annotations

import argparse
import datetime
import glob
import gzip
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

from verification.lakehouse_rig.clients import MIXES, TABLE, TEXT_MAX, Log, make_table, work
from verification.lakehouse_rig.services import Lake, open_lake, start_spark


def kept(folder: Path, spark: Any) -> dict[str, str]:
    """The newest metadata, where each snapshot added files, commit reports, and what is read of Spark's event log."""
    jvm = spark.sparkContext._jvm
    table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, f"lake.{TABLE}")
    metadata = str(jvm.org.apache.iceberg.TableMetadataParser.toJson(table.operations().current()))
    places = spark.sql(
        "SELECT snapshot_id, data_file.partition.p AS p, count(DISTINCT data_file.file_path) AS files "
        f"FROM lake.{TABLE}.all_entries WHERE status < 2 GROUP BY 1, 2 ORDER BY 1, 2"
    ).collect()
    spark.stop()
    words = ("SQLExecution", "ListenerJob", "ApplicationStart")
    events = []
    for file in sorted(glob.glob(f"{folder}/events/*/events_*")):
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        events += [json.loads(line) for line in lines if any(word in line[:200] for word in words)]
    reports = [line for line in (folder / "reports.log").read_text(encoding="utf-8").splitlines() if "Commit" in line]
    return {
        "metadata": metadata,
        "added": "snapshot_id,partition,files\n" + "".join(f"{row[0]},p={row[1]},{row[2]}\n" for row in places),
        "reports": "".join(line + "\n" for line in reports),
        "events": "".join(json.dumps(_slim(event)) + "\n" for event in _of_streams(events)),
    }


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


def main() -> None:
    """Record a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--mix", choices=tuple(MIXES), default="lakehouse")
    parser.add_argument("--catalog", choices=("jdbc", "rest"), default="jdbc")
    parser.add_argument("--store", choices=("disk", "s3"), default="disk")
    parser.add_argument("--mode", choices=("copy-on-write", "merge-on-read"), default="copy-on-write")
    parser.add_argument("--isolation", choices=("serializable", "snapshot"), default="serializable")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    lake = Lake(Path(tempfile.mkdtemp(prefix="endive-lakehouse-")), given.jars)
    log = Log()
    try:
        open_lake(lake, catalog=given.catalog, store=given.store)
        spark = start_spark(lake)
        version = spark.version
        make_table(spark, given.mode, given.isolation)
        work(spark, lake, log, MIXES[given.mix], given.seconds)
        load_average = round(os.getloadavg()[1], 1)
        left = kept(lake.folder, spark)
    finally:
        lake.stop()
        shutil.rmtree(lake.folder, ignore_errors=True)
    document = {
        "spark": version,
        "iceberg": "1.10.0",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.system()}",
        "load_average": load_average,
        **{key: getattr(given, key) for key in ("seconds", "mix", "catalog", "store", "mode", "isolation")},
        "log": log.text(),
        **left,
    }
    text = (json.dumps(document, indent=1) + "\n").encode()
    given.out.write_bytes(gzip.compress(text, mtime=0) if given.out.suffix == ".gz" else text)
    ended = [row[5] for row in log.rows]
    print(f"{len(ended)} statements, {ended.count('failed')} failed; written to {given.out}")


if __name__ == "__main__":
    main()
