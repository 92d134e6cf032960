"""Lost answers: what a txn pays and learns, what is applied, and what is never told. Closed forms, on both engines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.simulation.test_throttling import (
    C_MS,
    CATALOGS,
    L_MS,
    assert_engines_agree_and_books_add_up,
    config_of,
    ended,
)

import endive
from endive.results import SimulationResult

TIMEOUT_MS = 500.0


def run(engine: str, clients: int = 1, **failures: Any) -> SimulationResult:
    lost = {"lost_answer_timeout_ms": TIMEOUT_MS, **failures} if failures else {}
    return endive.simulate(config_of(clients=clients, **lost), engine=engine)


def values(rows: list[dict[str, Any]], column: str) -> set[Any]:
    return {row[column] for row in rows}


def test_every_lost_answer_costs_the_timeout_and_one_check_and_every_txn_commits_once(engine):
    plain, lossy = run(engine), run(engine, lost_answer_rate=1.0)
    before, after = ended(plain), ended(lossy)

    assert {"committed"} == values(after, "status")
    assert {1} == values(after, "attempts")
    # The client waits for its timeout instead of the answer, then reads the catalog and the metadata.
    added_ms = TIMEOUT_MS - C_MS + C_MS + L_MS
    assert {row["commit_latency_ms"] + added_ms for row in before} == values(after, "commit_latency_ms")
    assert {TIMEOUT_MS} == values(after, "phase_commit_ms")
    assert {row["requests_catalog_read"] + 1 for row in before} == values(after, "requests_catalog_read")
    assert {row["requests_metadata_read"] + 1 for row in before} == values(after, "requests_metadata_read")
    assert len(after) == lossy.history.commits_reported
    assert lossy.history.commits_applied == lossy.history.commits_reported + lossy.history.commits_unanswered


def test_a_txn_none_of_whose_checks_is_answered_ends_unknown_though_it_was_applied(engine):
    result = run(engine, lost_answer_rate=1.0, lost_check_rate=1.0, status_check_wait_ms=1_000.0)
    rows = ended(result)

    assert {("aborted", "commit_state_unknown")} == {(row["status"], row["reason"]) for row in rows}
    # Four checks, each a catalog read and a timeout; between them 1, 2 and 4 s plus up to a tenth.
    assert {4 + 2} == values(rows, "requests_catalog_read")  # and those of load and refresh
    assert {C_MS + 4 * TIMEOUT_MS} == values(rows, "phase_catalog_read_ms")
    assert all(7_000.0 <= row["phase_backoff_ms"] < 7_700.0 for row in rows)
    assert {0} == values(rows, "requests_manifest_list_delete")
    assert len(rows) == result.history.commits_untold
    assert 0 == result.history.commits_reported
    assert len(rows) == result.to_json_dict()["commits_untold"]
    assert f"{len(rows):,} txns of the run ended as commit_state_unknown" in " ".join(result.warnings)


def test_without_checks_a_lost_answer_ends_the_txn_at_its_timeout(engine):
    plain, lossy = run(engine), run(engine, lost_answer_rate=1.0, status_checks=0)
    rows = ended(lossy)

    assert {("aborted", "commit_state_unknown", 1)} == {(row["status"], row["reason"], row["attempts"]) for row in rows}
    # Nothing is read back either: the reload of a committed txn is a catalog and a metadata read.
    reload_ms = C_MS + L_MS
    expected = {row["commit_latency_ms"] - C_MS - reload_ms + TIMEOUT_MS for row in ended(plain)}
    assert expected == values(rows, "commit_latency_ms")


def test_the_mean_wait_added_by_lost_answers_is_the_rate_times_what_one_costs(engine):
    """Each commit request is lost with probability p; each costs timeout and check, as above."""
    rate = 0.25
    rows = ended(run(engine, lost_answer_rate=rate))
    before_ms = ended(run(engine))[0]["commit_latency_ms"]

    lost = sum(row["phase_commit_ms"] == TIMEOUT_MS for row in rows)
    mean_ms = sum(row["commit_latency_ms"] for row in rows) / len(rows)
    assert mean_ms == pytest.approx(before_ms + lost / len(rows) * (TIMEOUT_MS + L_MS))
    spread = (rate * (1 - rate) / len(rows)) ** 0.5
    assert abs(lost / len(rows) - rate) < 4 * spread


def test_a_refusal_whose_answer_was_lost_is_found_out_and_retried(engine):
    result = run(engine, clients=4, lost_answer_rate=1.0)
    retried = [row for row in ended(result) if row["attempts"] > 1]

    assert retried
    assert {TIMEOUT_MS * row["attempts"] for row in retried} == values(retried, "phase_commit_ms")
    assert {"committed", "retries_exhausted"} >= {row["reason"] or row["status"] for row in retried}
    assert 0 == result.history.commits_untold


def test_a_refusal_that_a_check_does_not_find_may_stay_unknown(engine):
    result = run(engine, clients=4, lost_answer_rate=1.0, absent_commit="unknown")
    rows = ended(result)

    assert {1} == values(rows, "attempts")
    assert {"committed", "commit_state_unknown"} == {row["reason"] or row["status"] for row in rows}
    assert 0 == result.history.commits_untold  # what was applied is found


@pytest.mark.parametrize("catalog", ["cas", "instant", "pointer", "rest"])
@pytest.mark.parametrize("keeps", [False, True])
def test_a_check_whose_answer_is_lost_too_leaves_commits_untold_and_both_engines_agree(catalog, keeps):
    lost = {"lost_answer_rate": 0.4, "lost_check_rate": 0.6, "lost_answer_timeout_ms": TIMEOUT_MS}
    result = assert_engines_agree_and_books_add_up(catalog=CATALOGS[catalog], keeps=keeps, **lost)

    assert 0 < result.history.commits_untold
