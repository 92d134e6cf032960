"""Which txns count: the first instant of the window does, the one after its last does not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from endive.pipeline.analysis.txn_counts import run_windows, with_window

pytestmark = pytest.mark.spark

TXNS = (
    "study string, run_id string, status string, submit_ms double, end_ms double, reason string, in_flight_stage string"
)
ROWS = [
    ("committed", 2_000.0, 2_000.001),  # submitted too early by a microsecond; committed in time
    ("committed", 2_000.001, 8_000.0),  # submitted in time; committed too late by a microsecond
    ("aborted", 7_999.999, 7_999.999),
    ("committed", 8_000.0, 8_000.0),
    ("in_flight", 5_000.0, None),
]
EXPECTED = [(False, True), (True, False), (True, False), (False, False), (True, False)]


@pytest.fixture
def txns(spark):
    return spark.createDataFrame([("s", "r", *row, None, None) for row in ROWS], TXNS)


def told(frame):
    rows = sorted(
        frame.toArrow().to_pylist(), key=lambda row: ROWS.index((row["status"], row["submit_ms"], row["end_ms"]))
    )
    return [(row["in_window"], row["is_commit_in_window"]) for row in rows]


def windows(spark, **run):
    usual = {"study": "s", "run_id": "r", "point": 0, "seed": 1, "status": "ok", "duration_ms": 10_000.0}
    row = {**usual, "window_start_ms": 2_000.001, "window_end_ms": 8_000.0, **run}
    return spark.createDataFrame(run_windows(pa.Table.from_pylist([row])))


def test_the_window_is_half_open_to_the_microsecond(spark, txns):
    assert EXPECTED == told(txns.transform(with_window, windows(spark)))


@pytest.mark.parametrize("run", [{"status": "failed"}, {"study": "other"}])
def test_txns_of_runs_that_failed_or_are_not_known_are_left_out(spark, txns, run):
    assert [] == told(txns.transform(with_window, windows(spark, **run)))
