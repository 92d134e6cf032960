"""From a metadata file of many snapshots to an observed folder: seconds and memory.

The history is made up: two streams, merges, compactions.

    python -m benchmarks.observe [SNAPSHOTS]
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from endive.observation.folder import write_folder
from endive.observation.observe import observe
from endive.observation.tables.metadata import history_of
from endive.report.observed import observed_page

SNAPSHOTS: Final = 100_000
START_MS: Final = 1_772_366_400_000


def made_up(count: int) -> bytes:
    """The metadata of a table with that many snapshots, as large as Iceberg's."""
    chance = random.Random(1)
    snapshots: list[dict[str, Any]] = []
    time_ms = START_MS
    for number in range(1, count + 1):
        time_ms += round(chance.expovariate(1 / 5000.0))
        operation = "replace" if number % 200 == 0 else "overwrite" if number % 20 == 0 else "append"
        writer = {"flink.job-id": "f00d"} if operation == "append" and number % 2 else {"spark.app.id": "app-1"}
        summary = {
            "operation": operation,
            **writer,
            "engine-name": "spark",
            "engine-version": "4.0.0",
            "added-data-files": "3",
            "added-records": "12000",
            "added-files-size": "34567890",
            "changed-partition-count": "2",
            "total-records": str(12_000 * number),
            "total-files-size": str(34_567_890 * number),
            "total-data-files": str(3 * number),
            "total-delete-files": "0",
            "total-position-deletes": "0",
            "total-equality-deletes": "0",
            "iceberg-version": "Apache Iceberg 1.9.2 (commit 071d5606bc6199a0be9b3f274ec7fbf111d88821)",
        }
        snapshots.append(
            {
                "snapshot-id": 10**15 + number,
                "parent-snapshot-id": 10**15 + number - 1 if number > 1 else None,
                "sequence-number": number,
                "timestamp-ms": time_ms,
                "manifest-list": f"s3://bucket/t/metadata/snap-{10**15 + number}-{1 + (number % 9 == 0)}-abcdef.avro",
                "summary": summary,
                "schema-id": 0,
            }
        )
    head = {"format-version": 2, "location": "s3://bucket/t", "current-snapshot-id": 10**15 + count}
    return json.dumps({**head, "snapshots": snapshots}).encode()


def main() -> int:
    """Make it, observe it, and say what that took."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SNAPSHOTS
    content = made_up(count)
    print(f"metadata of {count:,} snapshots: {len(content) / 1e6:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        begin_s, begin_cpu_s = time.perf_counter(), time.process_time()
        history = history_of(content, "t")
        read_cpu_s = time.process_time() - begin_cpu_s
        write_folder(Path(folder) / "seen", [observe(history, observed_page)])
        cpu_s = time.process_time() - begin_cpu_s
        wall_s = time.perf_counter() - begin_s
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"read {read_cpu_s:.1f} s, in all {cpu_s:.1f} s of CPU ({wall_s:.1f} s by the clock); at most {peak_mb:.0f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
