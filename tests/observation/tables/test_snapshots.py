"""Who wrote a snapshot and what it did, from its summary alone."""

import pytest
from tests.observation.conftest import snapshot

from endive.observation.tables.snapshots import commit_of, join_overwrites


@pytest.mark.parametrize(
    ("summary", "engine", "writer"),
    [
        ({"spark.app.id": "app-7", "engine-name": "spark"}, "spark", "spark-app-7"),
        ({"spark.app.id": "app-7", "spark.sql.streaming.queryId": "q1"}, "spark-streaming", "spark-streaming-q1"),
        ({"flink.job-id": "f00", "flink.max-committed-checkpoint-id": "3"}, "flink", "flink-f00"),
        ({"trino_query_id": "20260301_1"}, "trino", "trino"),
        ({"kafka.connect.commit-id": "9"}, "kafka-connect", "kafka-connect"),
        ({"engine-name": "Impala"}, "impala", "impala"),
        ({}, "unknown", "unknown"),
    ],
)
def test_a_writer_is_known_by_what_its_engine_writes_down(summary, engine, writer):
    commit = commit_of(snapshot(1, 0, summary=summary))

    assert (engine, writer) == (commit.engine, commit.writer)


def test_pyiceberg_is_known_by_its_manifest_lists_and_appends_fast():
    commit = commit_of(snapshot(1, 0, **{"manifest-list": "/t/metadata/snap-1-0-ab.avro"}))

    assert ("pyiceberg", "fast_append", None) == (commit.engine, commit.kind, commit.attempts)


def test_a_key_of_the_users_own_names_the_writer():
    assert "orders-job" == commit_of(snapshot(1, 0, summary={"team.job": "orders-job"}), "team.job").writer


@pytest.mark.parametrize(
    ("operation", "summary", "kind", "overwrite"),
    [
        ("append", {}, "merge_append", ""),
        ("overwrite", {"added-delete-files": "2"}, "validated_overwrite", "row_delta"),
        ("overwrite", {"deleted-data-files": "2"}, "validated_overwrite", "overwrite_files"),
        ("overwrite", {"replace-partitions": "true"}, "validated_overwrite", "replace_partitions"),
        ("delete", {"added-delete-files": "1"}, "validated_overwrite", "row_delta"),
        ("replace", {}, "rewrite_files", ""),
    ],
)
def test_an_operation_is_told_by_what_it_added_and_removed(operation, summary, kind, overwrite):
    commit = commit_of(snapshot(1, 0, operation, summary=summary))

    assert (kind, overwrite) == (commit.kind, commit.overwrite)


def test_an_overwrite_of_pyiceberg_is_one_commit_though_it_makes_two_snapshots():
    def made(number, operation, time_ms, attempt=0, **summary):
        place = f"/m/snap-{number}-{attempt}-a.avro"
        more = {"manifest-list": place, "summary": {"app-id": "job", **summary}}
        return commit_of(snapshot(number, time_ms, operation, **more))

    delete = made(2, "delete", 1_000, **{"deleted-data-files": "3"})
    append = made(3, "append", 1_600, **{"added-data-files": "1"})

    (one,) = join_overwrites([delete, append])

    assert ("overwrite", "validated_overwrite", "overwrite_files") == (one.operation, one.kind, one.overwrite)
    assert (1_003, 1_001, 3, 1) == (one.snapshot_id, one.parent_id, one.removed_files, one.added_files)
    assert 2 == len(join_overwrites([delete, made(3, "append", 9_000)]))  # too late to be of one transaction
    assert 2 == len(join_overwrites([delete, made(4, "append", 1_600)]))  # not on top of it
    assert 2 == len(join_overwrites([made(2, "delete", 1_000, 1), made(3, "append", 1_600, 1)]))  # Java's
