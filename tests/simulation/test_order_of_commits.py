"""Who orders commits: a coordinator, a lock, a server that batches or rebases."""

from __future__ import annotations

from typing import Any

import pytest
from tests.simulation.service_runs import CALL_MS, fixed, jobs, rows_of

from endive.catalog.rules import LOCK_DYNAMODB, LOCK_HIVE, LockTerms
from endive.transaction.ordering import lock_wait_us

REST = {"flavour": "rest"}


def run(engine: str, count: int, service: Any = None, *others: Any, **keys: Any) -> list[dict[str, Any]]:
    """As many jobs as ``count``, which begin together, once, beside other sources."""
    return rows_of(engine, {**jobs(count, retry=0), **keys}, *others, service=service)


def total(rows: list[dict[str, Any]], column: str) -> Any:
    return sum(row[column] for row in rows)


def test_a_coordinator_commits_the_files_of_all_who_wait_at_once(engine):
    alone = run(engine, 1)[0]
    rows = run(engine, 5, commit_queue="c", gather_every_ms=1_000.0)
    leader, *others = rows

    assert ["committed"] * 5 == [row["status"] for row in rows]
    assert {1_000.0 + alone["commit_latency_ms"]} == {round(row["end_ms"], 3) for row in rows}
    assert [4, 0, 0, 0, 0] == [row["gathered"] for row in rows]
    assert [1, 0, 0, 0, 0] == [row["attempts"] for row in rows]
    assert alone["requests_catalog_cas"] == total(rows, "requests_catalog_cas")
    assert leader["end_ms"] - leader["commit_start_ms"] == pytest.approx(others[0]["phase_backoff_ms"])


def test_whoever_comes_while_the_coordinator_commits_goes_with_the_next_commit(engine):
    arrivals = {"kind": "periodic", "period_ms": 60.0}
    rows = run(engine, 1, arrivals=arrivals, commit_queue="c", gather_every_ms=10.0, stop_ms=500.0)
    ends = sorted({row["end_ms"] for row in rows})

    assert {"committed"} == {row["status"] for row in rows}
    assert len(ends) == sum(1 for row in rows if row["attempts"])
    assert len(rows) == len(ends) + total(rows, "gathered")
    assert len(ends) < len(rows)  # a commit takes longer than the next txn lets wait


def test_what_a_failed_coordinator_carried_has_failed_with_it(engine):
    rival = {"name": "rival", "arrivals": {"kind": "fixed", "ms": 30.0}, "retry": 0, "stop_ms": 20_000.0}
    together = {"kind": "jobs", "jobs": 4, "period_ms": 1_000.0, "phase": "together"}
    coordinated = {"arrivals": together, "commit_queue": "c", "gather_every_ms": 500.0, "stop_ms": 20_000.0}
    by_end: dict[float, set[tuple[str, str | None]]] = {}
    for row in run(engine, 4, None, rival, **coordinated):
        if row["source"] == "w" and row["end_ms"]:
            by_end.setdefault(row["end_ms"], set()).add((row["status"], row["reason"]))

    assert {1} == {len(fates) for fates in by_end.values()}
    assert {("aborted", "retries_exhausted")} in by_end.values()


def test_hives_lock_orders_swaps_and_refuses_a_stale_base_all_the_same(engine):
    free = run(engine, 3)
    locked = run(engine, 3, {"lock": {"kind": "hive"}})

    assert 1 == sum(row["status"] == "committed" for row in free)
    assert 1 == sum(row["status"] == "committed" for row in locked)
    assert 3 == total(locked, "requests_catalog_delete")
    first = min(locked, key=lambda row: row["end_ms"])
    assert 1 == first["requests_catalog_create"]  # it was free: one call for it, one to give it back
    alone = min(free, key=lambda row: row["end_ms"])
    assert first["commit_latency_ms"] - alone["commit_latency_ms"] == pytest.approx(2 * CALL_MS)


@pytest.mark.parametrize(("kind", "first"), [(LOCK_HIVE, [0, 50]), (LOCK_DYNAMODB, [50, 75])])
def test_a_client_of_hive_asks_again_at_once_when_its_first_call_has_queued_it(kind, first):
    """``MetastoreLock.acquireLock``: ``lock`` is called once, ``checkLock`` pauses between."""
    terms = LockTerms(kind=kind, wait_ms=50.0, multiplier=1.5, wait_max_ms=5_000.0, lease_us=0, timeout_us=10**9)

    pauses_ms = [lock_wait_us(terms, 7, 1, refusals) / 1000.0 for refusals in (1, 2, 30)]

    for least, pause_ms in zip([*first, 5_000], pauses_ms, strict=True):
        assert least <= pause_ms <= 1.1 * least


def test_a_lock_that_is_asked_for_too_long_fails_the_attempt_with_hive_and_the_txn_with_dynamodb(engine):
    slow = fixed(2_000.0)
    waits = {"wait_ms": 100.0, "timeout_ms": 300.0}
    hive = run(engine, 3, {"commit_latency": slow, "lock": {"kind": "hive", **waits}}, retry=9)
    leased = {"kind": "dynamodb", "lease_ms": 50.0, **waits}
    dynamodb = run(engine, 3, {"commit_latency": slow, "lock": leased}, retry=9)

    assert {"committed"} == {row["status"] for row in hive}
    assert max(row["attempts"] for row in hive) > 1
    assert {"timeout", None} == {row["reason"] for row in dynamodb}
    assert {1} == {row["attempts"] for row in dynamodb if row["reason"] == "timeout"}


def test_a_server_that_takes_commits_together_writes_once_and_refuses_no_append(engine):
    rows = run(engine, 5, {**REST, "batch_ms": 1_000.0})

    assert ["committed"] * 5 == [row["status"] for row in rows]
    assert 1 == total(rows, "requests_metadata_write")
    alone = run(engine, 1, REST)[0]["requests_manifest_list_write"]
    assert 5 * alone + 1 == total(rows, "requests_manifest_list_write")
    assert 1 == len({row["end_ms"] for row in rows})


def test_a_server_that_rebases_pays_for_the_list_it_rewrites(engine):
    cheap = run(engine, 4, {**REST, "server_retries": 9})
    true = run(engine, 4, {**REST, "server_retries": 9, "rebase": "list"})

    assert ["committed"] * 4 == [row["status"] for row in true]
    rebases = total(true, "requests_manifest_list_write") - total(cheap, "requests_manifest_list_write")
    assert rebases > 0
    assert rebases == total(true, "requests_manifest_list_read") - total(cheap, "requests_manifest_list_read")
    assert max(row["end_ms"] for row in true) > max(row["end_ms"] for row in cheap)


def beside_compaction(engine: str, compacting_ms: float, service: dict[str, Any], **rival: Any) -> dict[str, Any]:
    """The row of an append that tries once, beside a rival that begins with it and works for ``compacting_ms``."""
    once = {**jobs(1, retry=0), "name": "append", "touched_files": 0}
    beside = {"operation_types": {"rewrite_files": 1.0}, "touched_files": 5, **rival}
    beside = {**jobs(1, retry=0), "name": "rival", "runtime": fixed(compacting_ms), **beside}
    told = rows_of(engine, once, beside, service={**REST, **service}, table={"data_files": 10})
    rows = {row["source"]: row for row in told}
    return {"rival": rows["rival"]["status"], **{key: rows["append"][key] for key in ("status", "compactions_undone")}}


def test_a_compaction_gives_way_to_a_commit_that_was_built_before_it(engine):
    when = [float(ms) for ms in range(5, 200, 15)]
    refused = [beside_compaction(engine, ms, {}) for ms in when]
    undone = [beside_compaction(engine, ms, {"rolls_back_compactions": True}) for ms in when]

    assert {("committed", "committed"), ("committed", "aborted"), ("aborted", "committed")} == {
        (row["rival"], row["status"]) for row in refused
    }
    assert {"committed"} == {row["status"] for row in undone}
    assert [int(row["status"] == "aborted") for row in refused] == [row["compactions_undone"] for row in undone]
    assert [row["rival"] for row in refused] == [row["rival"] for row in undone]


def test_nothing_else_gives_way(engine):
    appends = {"operation_types": {"fast_append": 1.0}, "touched_files": 0}
    rows = [
        beside_compaction(engine, float(ms), {"rolls_back_compactions": True}, **appends) for ms in range(60, 140, 10)
    ]

    assert {"aborted", "committed"} == {row["status"] for row in rows}
    assert {0} == {row["compactions_undone"] for row in rows}
