"""Txns counted: where they happen, and what became of them."""

import pytest
from tests.pipeline.counted_txns import counted

from endive.tables.run_counts import OUTCOME_SUMS, TIMELINE_SUMS

pytestmark = pytest.mark.spark

TXNS = [
    ("committed", 0.0, 2_000.0, 500.0),
    ("committed", 1_999.999, 9_999.0, 700.0),
    ("aborted", 2_000.0, 4_500.0, 900.0),
    ("in_flight", 3_000.0, 10_000.0, None),
    ("committed", 9_000.0, 10_000.0, 100.0),
]


def in_order(table):
    return sorted(table.to_pylist(), key=str)


def by_bin(timeline, scope="all"):
    rows = {row["bin"]: row for row in timeline.to_pylist() if row["scope"] == scope}
    return {name: [rows[place][name] if place in rows else None for place in range(5)] for name in TIMELINE_SUMS}


def test_submissions_count_when_submitted_and_ends_when_ended(spark):
    """The latency is that of the txns submitted in a bin; the last instant of a run belongs to its last bin."""
    tables = counted(spark, TXNS)
    timeline, _ = tables

    assert {
        "submitted": [2, 2, 0, None, 1],
        "committed": [0, 1, 0, None, 2],
        "aborted": [0, 0, 1, None, 0],
        "latency_us": [1_200_000, 0, 0, None, 100_000],
        "latency_txns": [2, 0, 0, None, 1],
        "committed_squared": [0, 1, 0, None, 4],
    } == by_bin(timeline)
    assert by_bin(timeline) == by_bin(timeline, "operation") == by_bin(timeline, "source")
    unheard_of = counted(spark, TXNS, TXNS, known=1)  # the analysis has not heard of the second run
    assert [in_order(table) for table in tables] == [in_order(table) for table in unheard_of]


def test_commits_are_squared_run_by_run(spark):
    commit = ("committed", 0.0, 2_000.0, 1.0)
    timeline, _ = counted(spark, [commit] * 3, [commit] * 4)

    assert [7, 9 + 16] == [by_bin(timeline)[name][1] for name in ("committed", "committed_squared")]
    assert {3} == set(timeline["point"].to_pylist())


def test_only_txns_of_the_window_that_ended_have_an_outcome(spark):
    """Submitted from 2 to 8 s, the first instant included, the last not."""
    txns = [
        ("committed", 1_999.999, 3_000.0, 1.0),
        ("committed", 2_000.0, 3_000.0, 2.0),
        ("aborted", 7_999.999, 9_000.0, None),
        ("committed", 8_000.0, 9_000.0, 4.0),
        ("in_flight", 5_000.0, None, None),
    ]

    rows = counted(spark, txns)[1].to_pylist()

    assert {(1, 1, 2_000), (0, 1, 0)} == {(row["is_committed"], row["txns"], row["commit_us"]) for row in rows}


def test_outcomes_are_summed_by_bins_of_attempts_and_of_n_behind(spark):
    """4 and 5 attempts share a bin; n_behind counts only where history was read."""

    def txn(attempts, behind, lists, history_ms):
        ended = {"status": "committed", "submit_ms": 3_000.0, "end_ms": 4_000.0, "commit_latency_ms": 10.0}
        read = {"n_behind_first": behind, "history_lists": lists, "phase_history_ms": history_ms}
        return {**ended, **read, "attempts": attempts}

    txns = [txn(4, 9, 3, 1.5), txn(5, 11, 4, 2.5), txn(5, 12, 1, 1.0), txn(4, 9, 0, 0.0), txn(1, None, 2, 3.0)]
    rows = counted(spark, txns)[1].to_pylist()

    found = {(row["attempts_low"], row["n_behind_low"]): tuple(row[name] for name in OUTCOME_SUMS) for row in rows}
    assert {
        (4, 8): (2, 9, 20, 7, 4_000, 20_000),
        (4, 12): (1, 5, 12, 1, 1_000, 10_000),
        (4, -1): (1, 4, 9, 0, 0, 10_000),
        (1, -1): (1, 1, 0, 2, 3_000, 10_000),
    } == found


def test_a_file_without_txns_has_no_counts(spark):
    assert [0, 0] == [table.num_rows for table in counted(spark, [])]
