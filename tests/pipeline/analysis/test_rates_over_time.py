"""Rates over time: every txn in its bin, also where nothing happened."""

import math
import statistics

import pyarrow as pa
import pytest
from tests.pipeline.contents import txns

from endive.objectives.intervals import score_ends
from endive.objectives.student import student_t
from endive.pipeline.analysis.count_frames import sum_timeline
from endive.tables.rates_over_time import rates_over_time

pytestmark = pytest.mark.spark


def run_table(count):
    """So many runs of 10 s, with a window from 2 to 8 s."""
    return pa.table(
        {
            "study": ["s"] * count,
            "point": pa.array([3] * count, pa.int32()),
            "seed": list(range(count)),
            "run_id": [f"r{run}" for run in range(count)],
            "status": ["ok"] * count,
            "duration_ms": [10_000.0] * count,
            "window_start_ms": [2_000.0] * count,
            "window_end_ms": [8_000.0] * count,
        }
    )


def counted(spark, runs, bins):
    """The counts over time of runs of transactions, summed by Spark."""
    rows = []
    for seed, run in enumerate(runs):
        for status, submit_ms, end_ms, latency_ms in run:
            nothing = dict.fromkeys(("submitted", "committed", "aborted", "latency_us", "latency_txns"), 0)
            about = {"study": "s", "point": 3, "seed": seed, "kind": "fast_append", "source": "a", **nothing}
            is_commit = int(status == "committed")
            latency = {"latency_us": int((latency_ms or 0) * 1000) * is_commit, "latency_txns": is_commit}
            rows.append({**about, "bin": int(submit_ms * bins // 10_000), "submitted": 1, **latency})
            rows.append({**about, "bin": int(end_ms * bins // 10_000), status: 1})
    summed = sum_timeline(spark.createDataFrame(pa.Table.from_pylist(rows))).toArrow()
    return summed.set_column(1, "point", summed["point"].cast(pa.int32()))


def timeline(spark, *runs, bins=5):
    """The rates of runs of txns as (status, submitted, ended, commit latency), in ms, in all of them together.

    They are 10 s long, with a window from 2 to 8 s.
    """
    table = rates_over_time(counted(spark, runs, bins), run_table(len(runs)), bins)
    return sorted((row for row in table.to_pylist() if row["scope"] == "all"), key=lambda row: row["bin"])


def test_a_bin_has_edges_and_the_rates_of_what_was_counted_in_it(spark):
    rows = timeline(spark, [("committed", 0.0, 2_000.0, 500.0), ("aborted", 2_000.0, 4_500.0, 900.0)])

    assert [0.5, 0.5, 0.0, 0.0, 0.0] == [row["submitted_per_s"] for row in rows]
    assert [0.0, 0.5, 0.0, 0.0, 0.0] == [row["committed_per_s"] for row in rows]
    assert [0.0, 0.0, 0.5, 0.0, 0.0] == [row["aborted_per_s"] for row in rows]
    assert [500.0, None, None, None, None] == [row["commit_latency_mean_ms"] for row in rows]
    assert [(0.0, 2000.0), (2000.0, 4000.0), (4000.0, 6000.0), (6000.0, 8000.0), (8000.0, 10_000.0)] == [
        (row["start_ms"], row["end_ms"]) for row in rows
    ]
    assert [False, True, True, True, False] == [row["in_window"] for row in rows]
    of_one_seed = [rows[1][f"committed_per_s{end}"] for end in ("", "_stddev", "_ci95_low", "_ci95_high")]
    assert [0.5, None, None, None] == of_one_seed


def test_a_bin_that_only_touches_the_window_is_not_in_it(spark):
    rows = timeline(spark, [("committed", 0.0, 1.0, 1.0)], bins=3)
    assert [False, True, False] == [row["in_window"] for row in rows]


def test_the_spread_of_the_commit_rate_counts_seeds_in_which_nothing_happened(spark):
    def commits(count):
        return [("committed", 100.0, 2_100.0, 1.0)] * count + [("aborted", 9_000.0, 9_500.0, None)]

    rows = timeline(spark, commits(4), commits(0), commits(5))

    row = rows[1]
    per_s = [2.0, 0.0, 2.5]  # in a bin of 2 s
    reach = student_t(2) * statistics.stdev(per_s) / math.sqrt(3)
    low, high = score_ends(1.5, reach)
    assert (3, 1.5) == (row["seeds"], row["committed_per_s"])
    assert math.isclose(low, row["committed_per_s_ci95_low"], rel_tol=1e-12)
    assert math.isclose(statistics.stdev(per_s), row["committed_per_s_stddev"], rel_tol=1e-14)
    assert math.isclose(high, row["committed_per_s_ci95_high"], rel_tol=1e-12)
    assert (None, 0.0) == (row["commit_latency_mean_ms"], row["aborted_per_s"])
    assert (1.0, 0.5) == (rows[0]["commit_latency_mean_ms"], rows[4]["aborted_per_s"])


def test_the_commits_of_all_bins_are_the_commits_of_the_runs(analysis, swept):
    found = txns(swept, "mixed", ["status", "source"])
    rows = [row for row in analysis.tables["timeline"].to_pylist() if row["study"] == "mixed"]

    for scope, name in (("all", "all"), ("source", "overwrites")):
        commits = sum(row["status"] == "committed" and name in ("all", row["source"]) for row in found)
        chosen = [row for row in rows if (row["scope"], row["name"]) == (scope, name)]
        counted = sum(row["committed_per_s"] * 0.5 * row["seeds"] for row in chosen)
        assert math.isclose(commits, counted, rel_tol=1e-12)
        assert {(point, bin_) for point in range(4) for bin_ in range(60)} == {
            (row["point"], row["bin"]) for row in chosen
        }


def test_the_commit_rate_has_an_interval_and_the_latency_is_that_of_the_bin(analysis):
    rows = [row for row in analysis.tables["timeline"].to_pylist() if row["study"] == "mixed" and row["scope"] == "all"]
    assert {3, 2} == {row["seeds"] for row in rows}  # one run failed
    assert all(
        row["committed_per_s_ci95_low"] <= row["committed_per_s"] <= row["committed_per_s_ci95_high"] for row in rows
    )
    inside = [row["bin"] for row in rows if row["point"] == 0 and row["in_window"]]
    assert list(range(15, 45)) == inside
