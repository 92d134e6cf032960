"""Drift: the halves of the window, all seeds together."""

from __future__ import annotations

import pytest

from endive.pipeline.analysis.drift import drift

pytestmark = pytest.mark.spark

RUNS = (
    "study string, point int, status string, txns_committed_first_half bigint, txns_committed_second_half bigint, "
    "commit_latency_first_half_mean_ms double, commit_latency_second_half_mean_ms double"
)


def drift_of(spark, *runs):
    frame = spark.createDataFrame([("s", 3, "ok", *run) for run in runs], RUNS)
    (row,) = drift(frame).toArrow().to_pylist()
    return row["commit_latency_drift"], row["commits_half_min"]


def test_drift_is_the_second_half_against_the_first_weighted_by_commits(spark):
    # 1 x 10 ms and 3 x 20 ms: 70 / 4; 2 x 30 ms and 2 x 40 ms: 140 / 4
    assert (1.0, 4) == drift_of(spark, (1, 2, 10.0, 30.0), (3, 2, 20.0, 40.0))


def test_a_half_without_a_commit_has_no_drift(spark):
    assert (None, 0) == drift_of(spark, (0, 5, None, 30.0))


def test_runs_that_failed_do_not_count(spark):
    failed = spark.createDataFrame([("s", 3, "failed", None, None, None, None)], RUNS)
    ended = spark.createDataFrame([("s", 3, "ok", 2, 2, 10.0, 5.0)], RUNS)
    (row,) = drift(failed.unionByName(ended)).toArrow().to_pylist()
    assert (-0.5, 2) == (row["commit_latency_drift"], row["commits_half_min"])


def test_studies_with_and_without_txns_have_the_same_drift(analysis):
    rows = [row for row in analysis.tables["configurations"].to_pylist() if row["scope"] == "all"]
    drifts = {
        study: [row["commit_latency_drift"] for row in rows if row["study"] == study] for study in ("bare", "sampled")
    }
    assert drifts["bare"] == drifts["sampled"]
    assert all(value is not None for value in drifts["bare"])
