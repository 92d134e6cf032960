"""This file reads a table's past through Spark: the metadata tables ``snapshots`` and ``manifests`` of its catalog.

What is made of the rows is in ``endive.observation``.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from endive.errors import ObservationError
from endive.observation.observed_history import TableHistory, TableShape, in_order, is_cut
from endive.observation.secrets import redacted
from endive.observation.snapshots import commit_of
from endive.pipeline.spark.session import make_session

SNAPSHOTS: Final = "snapshots"
MANIFESTS: Final = "manifests"


def read_spark_table(table: str, *, writer_key: str | None = None, spark: SparkSession | None = None) -> TableHistory:
    """The history of a table by the name Spark knows it by; the session is the user's own, or one of his settings."""
    session = make_session("endive observe") if spark is None else spark
    try:
        rows = (
            session.table(f"{table}.{SNAPSHOTS}")
            .select(
                sf.unix_millis("committed_at").alias("timestamp_ms"),
                "snapshot_id",
                "parent_id",
                "operation",
                "manifest_list",
                "summary",
            )
            .orderBy("timestamp_ms")
            .toLocalIterator()
        )
        commits = in_order(commit_of(_as_json(row), writer_key) for row in rows)
        sizes = session.table(f"{table}.{MANIFESTS}").agg(sf.count("*"), sf.avg("length")).first()
    except PySparkException as error:
        text = redacted(str(error).splitlines()[0])
        raise ObservationError(f"table '{table}' cannot be read through Spark: {text}.") from None
    assert sizes is not None, "an aggregate has one row"
    if not commits:
        raise ObservationError(f"table '{table}' has no snapshots.")
    newest = commits[-1]
    note = f"{table}: the history begins with snapshot {commits[0].snapshot_id}; what came before it is expired."
    return TableHistory(
        name=table,
        commits=commits,
        shape=TableShape(
            snapshots=len(commits),
            manifests=int(sizes[0]),
            manifest_bytes=None if sizes[1] is None else float(sizes[1]),
            data_files=newest.total_files,
        ),
        location=newest.manifest_list.partition("://")[0] if "://" in newest.manifest_list else "",
        notes=(note,) if is_cut(commits) else (),
    )


def _as_json(row: Any) -> dict[str, Any]:
    """A row of ``snapshots`` as the metadata file would say it."""
    return {
        "timestamp-ms": row["timestamp_ms"],
        "snapshot-id": row["snapshot_id"],
        "parent-snapshot-id": row["parent_id"],
        "manifest-list": row["manifest_list"] or "",
        "operation": row["operation"],
        "summary": row["summary"],
    }
