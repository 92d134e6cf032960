"""Rates over time: every txn in its bin, also where nothing happened."""

import math
import statistics

import pyarrow.parquet as pq
import pytest
from tests.pipeline.counted_txns import counted, run_table

from endive.objectives.intervals import score_ends
from endive.objectives.student import student_t
from endive.tables.rates_over_time import rates_over_time

pytestmark = pytest.mark.spark


def timeline(spark, *runs, bins=5):
    """The rates of runs of txns as (status, submitted, ended, commit latency), in ms, in all of them together.

    They are 10 s long, with a window from 2 to 8 s.
    """
    table = rates_over_time(counted(spark, *runs, bins=bins)[0], run_table(len(runs)), bins)
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
    parts = sorted((swept / "transactions" / "study=mixed").rglob("*.parquet"))
    txns = [row for part in parts for row in pq.ParquetFile(part).read(["status", "source"]).to_pylist()]
    rows = [row for row in analysis.tables["timeline"].to_pylist() if row["study"] == "mixed"]

    for scope, name in (("all", "all"), ("source", "overwrites")):
        commits = sum(row["status"] == "committed" and name in ("all", row["source"]) for row in txns)
        chosen = [row for row in rows if (row["scope"], row["name"]) == (scope, name)]
        counted = sum(row["committed_per_s"] * 5.0 * row["seeds"] for row in chosen)
        assert math.isclose(commits, counted, rel_tol=1e-12)
        assert {(point, bin_) for point in range(4) for bin_ in range(6)} == {
            (row["point"], row["bin"]) for row in chosen
        }


def test_the_commit_rate_has_an_interval_and_the_latency_is_that_of_the_bin(analysis):
    rows = [row for row in analysis.tables["timeline"].to_pylist() if row["study"] == "mixed" and row["scope"] == "all"]
    assert {3, 2} == {row["seeds"] for row in rows}  # one run failed
    assert all(
        row["committed_per_s_ci95_low"] <= row["committed_per_s"] <= row["committed_per_s_ci95_high"] for row in rows
    )
    assert [False, False, True, True, False, False] == [row["in_window"] for row in rows if row["point"] == 0]
