"""Drift: the halves of the window, all seeds together."""

from __future__ import annotations

import pyarrow as pa

from endive.pipeline.analysis.breakdown import drift

RUNS = pa.schema(
    [
        ("study", pa.string()),
        ("point", pa.int32()),
        ("status", pa.string()),
        *((f"txns_committed_{half}_half", pa.int64()) for half in ("first", "second")),
        *((f"commit_latency_{half}_half_mean_ms", pa.float64()) for half in ("first", "second")),
    ]
)


def drift_of(*runs, failed=()):
    rows = [("s", 3, "ok", *run) for run in runs] + [("s", 3, "failed", *run) for run in failed]
    (row,) = drift(pa.Table.from_pylist([dict(zip(RUNS.names, row, strict=True)) for row in rows], RUNS)).to_pylist()
    return row["commit_latency_drift"], row["commits_half_min"]


def test_drift_is_the_second_half_against_the_first_weighted_by_commits():
    # 1 x 10 ms and 3 x 20 ms: 70 / 4; 2 x 30 ms and 2 x 40 ms: 140 / 4
    assert (1.0, 4) == drift_of((1, 2, 10.0, 30.0), (3, 2, 20.0, 40.0))


def test_a_half_without_a_commit_has_no_drift():
    assert (None, 0) == drift_of((0, 5, None, 30.0))


def test_runs_that_failed_do_not_count():
    assert (-0.5, 2) == drift_of((2, 2, 10.0, 5.0), failed=[(None, None, None, None)])


def test_studies_with_and_without_txns_have_the_same_drift(analysis):
    rows = [row for row in analysis.tables["configurations"].to_pylist() if row["scope"] == "all"]
    drifts = {
        study: [row["commit_latency_drift"] for row in rows if row["study"] == study] for study in ("bare", "sampled")
    }
    assert drifts["bare"] == drifts["sampled"]
    assert all(value is not None for value in drifts["bare"])
