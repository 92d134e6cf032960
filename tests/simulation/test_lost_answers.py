"""Lost answers: what a txn pays and learns, what is applied, and what is never told. Closed forms, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

import endive
from endive.results import SimulationResult

ENGINES = ["reference", "compiled"]
L_MS = 20.0  # of a request to storage
C_MS = 4.0  # of a request to the catalog
TIMEOUT_MS = 500.0


def run(
    engine: str, *, clients: int = 1, catalog: dict[str, Any] | None = None, keeps: bool = False, **failures: Any
) -> SimulationResult:
    config = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": L_MS},
        "catalog": catalog or {"type": "instant", "latency_ms": C_MS, "table_metadata_inlined": False},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
        "source": [{"name": "w", "arrivals": {"kind": "closed", "clients": clients}, "keeps_table": keeps}],
    }
    if failures:
        config["failures"] = {"lost_answer_timeout_ms": TIMEOUT_MS, **failures}
    return endive.simulate(config, engine=engine)


def ended(result: SimulationResult) -> list[dict[str, Any]]:
    return [row for row in result.transactions.to_pylist() if row["status"] != "in_flight"]


def values(rows: list[dict[str, Any]], column: str) -> set[Any]:
    return {row[column] for row in rows}


@pytest.mark.parametrize("engine", ENGINES)
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


@pytest.mark.parametrize("engine", ENGINES)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_without_checks_a_lost_answer_ends_the_txn_at_its_timeout(engine):
    plain, lossy = run(engine), run(engine, lost_answer_rate=1.0, status_checks=0)
    rows = ended(lossy)

    assert {("aborted", "commit_state_unknown", 1)} == {(row["status"], row["reason"], row["attempts"]) for row in rows}
    # Nothing is read back either: the reload of a committed txn is a catalog and a metadata read.
    reload_ms = C_MS + L_MS
    expected = {row["commit_latency_ms"] - C_MS - reload_ms + TIMEOUT_MS for row in ended(plain)}
    assert expected == values(rows, "commit_latency_ms")


@pytest.mark.parametrize("engine", ENGINES)
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


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refusal_whose_answer_was_lost_is_found_out_and_retried(engine):
    result = run(engine, clients=4, lost_answer_rate=1.0)
    retried = [row for row in ended(result) if row["attempts"] > 1]

    assert retried
    assert {TIMEOUT_MS * row["attempts"] for row in retried} == values(retried, "phase_commit_ms")
    assert {"committed", "retries_exhausted"} >= {row["reason"] or row["status"] for row in retried}
    assert 0 == result.history.commits_untold


@pytest.mark.parametrize("engine", ENGINES)
def test_a_refusal_that_a_check_does_not_find_may_stay_unknown(engine):
    result = run(engine, clients=4, lost_answer_rate=1.0, absent_commit="unknown")
    rows = ended(result)

    assert {1} == values(rows, "attempts")
    assert {"committed", "commit_state_unknown"} == {row["reason"] or row["status"] for row in rows}
    assert 0 == result.history.commits_untold  # what was applied is found


@pytest.mark.parametrize(
    "catalog",
    [
        {"type": "cas"},
        {"type": "instant", "latency_ms": C_MS},
        {
            "type": "service",
            "latency_ms": C_MS,
            "service": {"workers": 1, "time": {"distribution": "fixed", "ms": 1.0}},
        },
        {"type": "service", "latency_ms": C_MS, "service": {"flavour": "rest", "server_retries": 2}},
    ],
    ids=["cas", "instant", "pointer", "rest"],
)
@pytest.mark.parametrize("keeps", [False, True])
def test_on_every_catalog_both_engines_agree_and_the_books_add_up(catalog, keeps):
    def found(engine: str) -> SimulationResult:
        return run(engine, clients=4, catalog=catalog, keeps=keeps, lost_answer_rate=0.4, lost_check_rate=0.6)

    reference, compiled = found("reference"), found("compiled")
    history = compiled.history

    assert reference.fingerprint == compiled.fingerprint
    assert reference.history == history
    assert 0 < history.commits_untold
    told = history.commits_reported + history.commits_unanswered + history.commits_untold
    assert history.commits_applied == told


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rate_of_zero_changes_nothing(engine):
    assert run(engine).fingerprint == run(engine, lost_answer_rate=0.0).fingerprint
