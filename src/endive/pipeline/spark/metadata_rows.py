"""What Iceberg's metadata tables say of a table, as one JSON document.

Run as a script by the user's own Spark (``spark-submit metadata_rows.py TABLE FILE``), whose release may be another
than ours: it imports pyspark and nothing of this package.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def describe(spark: Any, table: str) -> dict[str, Any]:
    """Snapshots, manifests, and where the catalog tells them properties and the number of partitions."""
    from pyspark.sql import functions as sf

    rows = (
        spark.table(f"{table}.snapshots")
        .select(
            sf.unix_millis("committed_at").alias("timestamp-ms"),
            sf.col("snapshot_id").alias("snapshot-id"),
            sf.col("parent_id").alias("parent-snapshot-id"),
            sf.coalesce("manifest_list", sf.lit("")).alias("manifest-list"),
            "operation",
            "summary",
        )
        .orderBy("timestamp-ms")
        .collect()
    )
    sizes = spark.table(f"{table}.manifests").agg(sf.count("*"), sf.avg("length")).first()
    return {
        "snapshots": [row.asDict(recursive=True) for row in rows],
        "manifests": sizes[0],
        "manifest_bytes": sizes[1],
        "properties": _ask_spark(lambda: dict(spark.sql(f"SHOW TBLPROPERTIES {table}").collect())),
        "partitions": _ask_spark(lambda: _count_partitions(spark.table(f"{table}.partitions"))),
    }


def _count_partitions(partitions: Any) -> int | None:
    return int(partitions.count()) if "partition" in partitions.columns else None


def _ask_spark(ask: Callable[[], Any]) -> Any:
    """An answer, or None where the catalog has none."""
    try:
        return ask()
    except Exception:
        return None


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    document = describe(SparkSession.builder.appName("endive observe").getOrCreate(), sys.argv[1])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(document, file)
