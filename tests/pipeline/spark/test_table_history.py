"""A table's past through Spark: the rows of ``snapshots`` and ``manifests`` say what the metadata file says.

The tables are Spark's own, with the columns of Iceberg's metadata tables: what is tested is what is made of the rows.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from endive.errors import ObservationError
from endive.pipeline.spark.table_history import read_spark_table

pytestmark = pytest.mark.spark

SNAPSHOTS = (
    "committed_at timestamp, snapshot_id bigint, parent_id bigint, operation string, manifest_list string, "
    "summary map<string,string>"
)


def at(second: int) -> datetime:
    return datetime(2026, 3, 1, 12, 0, second, tzinfo=UTC)


@pytest.fixture
def events(spark):
    """A database named like a table, with its two metadata tables as views."""
    spark.sql("create database if not exists events")
    seen = [
        (5, "append", {"flink.job-id": "f00", "added-data-files": "2", "total-data-files": "9"}),
        (1, "append", {"flink.job-id": "f00"}),
        (9, "replace", {"spark.app.id": "a1"}),
    ]
    rows = [
        (at(second), 100 + second, 99 + second, operation, f"s3://b/snap-1-{attempt}-x.avro", summary)
        for attempt, (second, operation, summary) in enumerate(seen, start=1)
    ]
    spark.createDataFrame(rows, SNAPSHOTS).write.mode("overwrite").saveAsTable("events.snapshots")
    manifests = spark.createDataFrame([(1000,), (3000,)], "length bigint")
    manifests.write.mode("overwrite").saveAsTable("events.manifests")
    yield "events"
    spark.sql("drop database events cascade")


def test_rows_become_commits_in_the_order_of_their_times(spark, events):
    history = read_spark_table(events, spark=spark)

    assert [("append", "flink-f00", 2), ("append", "flink-f00", 1), ("replace", "spark-a1", 3)] == [
        (commit.operation, commit.writer, commit.attempts) for commit in history.commits
    ]
    assert (2, 2000.0, "s3") == (history.shape.manifests, history.shape.manifest_bytes, history.location)
    assert ("events: the history begins with snapshot 101; what came before it is expired.",) == history.notes


def test_a_table_that_spark_does_not_know_is_one_line(spark):
    with pytest.raises(ObservationError, match=r"^table 'none' cannot be read through Spark: "):
        read_spark_table("none", spark=spark)
