"""What follows a failure, in time: a job that restarts, a statement that is run again, tables of one's own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.simulation import service_runs
from tests.simulation.service_runs import WORK_MS, fixed, rows_of

NO_RETRY = {"transaction": {"runtime": fixed(WORK_MS), "retry": 0}}


def run(engine: str, sources: list[dict[str, Any]], **sections: Any) -> list[dict[str, Any]]:
    return rows_of(engine, *sources, duration_ms=60_000.0, **{**NO_RETRY, **sections})


def jobs(count: int, **keys: Any) -> dict[str, Any]:
    return service_runs.jobs(count, 5_000.0, **keys)


def test_a_job_that_failed_submits_again_when_it_is_back(engine):
    rows = run(engine, [jobs(3, after_failure={"kind": "restart", "delay_ms": 700.0}, keeps_table=True)])
    turns = {(row["client"], row["source_index"]): row for row in rows}
    followed = [
        (row, turns[client, index + 1]) for (client, index), row in turns.items() if (client, index + 1) in turns
    ]

    gaps = {(row["status"], round(after["submit_ms"] - row["end_ms"], 3)) for row, after in followed}
    assert {700.0} == {gap for status, gap in gaps if status == "aborted"}
    assert 700.0 not in {gap for status, gap in gaps if status == "committed"}
    reads = {(row["status"], after["requests_catalog_read"] > row["requests_catalog_read"]) for row, after in followed}
    assert ("aborted", True) in reads  # what it kept of its table is gone: it loads anew


def test_a_statement_that_failed_is_run_again_after_the_pause(engine):
    rows = run(engine, [jobs(4, after_failure={"kind": "rerun", "times": 3, "pause_ms": 900.0})])

    # Four at once without retries: one commits, three wait; of those one commits, and so on.
    assert {"committed": 4} == _count(rows[:4], "status")
    assert [0, 1, 2, 3] == sorted(row["restarts"] for row in rows[:4])
    assert {900.0 * row["restarts"] for row in rows} == {row["phase_backoff_ms"] for row in rows}
    assert {1, 2, 3, 4} == {row["attempts"] for row in rows[:4]}


def test_a_statement_is_run_again_so_often_and_no_more(engine):
    rows = run(engine, [jobs(4, after_failure={"kind": "rerun", "times": 1, "pause_ms": 900.0})])

    assert {"committed": 2, "aborted": 2} == _count(rows[:4], "status")
    assert 1 == max(row["restarts"] for row in rows)


def test_a_rerun_after_a_failed_store_meets_another_fate(engine):
    failures = {"throttle_rate": 0.3, "throttle_tries": 1}
    lost = run(engine, [jobs(1)], failures=failures)
    again = run(engine, [jobs(1, after_failure={"kind": "rerun", "times": 50, "pause_ms": 1.0})], failures=failures)

    assert "storage_failed" in _count(lost, "reason")
    assert {"committed": 12} == _count(again, "status")


def test_a_statement_that_may_have_committed_is_not_run_again(engine):
    failures = {"lost_answer_rate": 1.0, "lost_answer_timeout_ms": 40.0, "status_checks": 0}
    rows = run(engine, [jobs(1, after_failure={"kind": "rerun", "times": 3, "pause_ms": 900.0})], failures=failures)

    assert {"commit_state_unknown": 12} == _count(rows, "reason")
    assert {0} == {row["restarts"] for row in rows}


def test_jobs_with_a_table_each_never_meet(engine):
    catalog = {"type": "service", "latency_ms": 4.0, "num_tables": 5}
    at_random = run(engine, [jobs(4)], catalog=catalog)
    one_each = run(engine, [jobs(4, tables={"one_each": True, "only": [4, 1, 3, 0]})], catalog=catalog)

    assert _count(at_random, "status")["aborted"] > 0
    assert {"committed": len(one_each)} == _count(one_each, "status")
    assert {0: [4], 1: [1], 2: [3], 3: [0]} == {row["client"]: row["tables_written"] for row in one_each}
    unnamed = run(engine, [jobs(4, tables={"one_each": True})], catalog=catalog)
    assert {0: [0], 1: [1], 2: [2], 3: [3]} == {row["client"]: row["tables_written"] for row in unnamed}


def test_a_source_keeps_to_the_tables_it_names(engine):
    catalog = {"type": "service", "latency_ms": 4.0, "table_names": ["orders", "items", "customers"]}
    named = {"name": "a", "arrivals": {"kind": "fixed", "ms": 500.0}, "tables": {"only": ["customers", 0]}}
    rows = run(engine, [named, jobs(1, tables={"only": "items"})], catalog=catalog)

    assert {("a", 0), ("a", 2), ("w", 1)} == {(row["source"], row["tables_written"][0]) for row in rows}


def _count(rows: list[dict[str, Any]], column: str) -> dict[Any, int]:
    values = [row[column] for row in rows]
    return {value: values.count(value) for value in set(values)}


def test_txns_of_one_process_work_side_by_side_and_commit_one_after_another(engine):
    free = run(engine, [jobs(4)])
    queued = run(engine, [jobs(4, commit_queue="process")])
    first = sorted(queued[:4], key=lambda row: row["end_ms"])

    assert {"committed": 1, "aborted": 3} == _count(free[:4], "status")
    assert {"committed": len(queued)} == _count(queued, "status")
    assert 1 == len({row["commit_start_ms"] for row in first})
    assert [0.0, *(row["end_ms"] - first[0]["commit_start_ms"] for row in first[:-1])] == pytest.approx(
        [row["phase_backoff_ms"] for row in first]
    )


def test_in_a_queue_whoever_was_done_first_commits_first(engine):
    runtime = {"distribution": "uniform", "low_ms": 100.0, "high_ms": 900.0}
    rows = run(engine, [jobs(8, commit_queue="process")], transaction={"runtime": runtime, "retry": 0})
    in_order = sorted(rows[:8], key=lambda row: row["commit_start_ms"])

    assert max(row["phase_backoff_ms"] for row in in_order) > 0.0  # some of them wait
    assert in_order == sorted(rows[:8], key=lambda row: row["end_ms"])


def test_sources_that_name_one_queue_share_it_and_a_failed_txn_passes_the_turn_on(engine):
    failures = {"throttle_rate": 0.2, "throttle_tries": 1}
    other = {**jobs(2, commit_queue="process"), "name": "other"}
    rows = run(engine, [jobs(2, commit_queue="process"), other], failures=failures)
    held = sorted((row["commit_start_ms"] + row["phase_backoff_ms"], row["end_ms"]) for row in rows if row["attempts"])

    assert {"storage_failed", None} == set(_count(rows, "reason"))
    assert all(end <= begin for (_, end), (begin, _) in pairwise(held))


def test_a_quota_is_one_worker_that_takes_its_time():
    service = {"type": "service", "latency_ms": 4.0}
    told = run("compiled", [jobs(9)], catalog={**service, "service": {"calls_per_s": 40.0}})
    one = {"workers": 1, "time": fixed(25.0)}
    assert told == run("compiled", [jobs(9)], catalog={**service, "service": one})
    assert told != run("compiled", [jobs(9)])
