"""Throttled requests: what a txn pays, when it fails, and what stays true. Closed forms, on both engines."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import Any

import pytest

import endive
from endive.catalog import Catalog, CommitResult
from endive.config import parse_config
from endive.errors import HistoryError
from endive.results import SimulationResult
from endive.simulation.build import build_catalog
from endive.storage.throttled import GivenUpError
from endive.vocabulary import REQUESTS

L_MS = 20.0  # of a request to storage
C_MS = 4.0  # of a request to the catalog
AT_ONCE = {"throttle_wait_ms": 0.0001, "throttle_wait_max_ms": 0.0001}  # waits that are rounded to nothing
INSTANT = {"type": "instant", "latency_ms": C_MS, "table_metadata_inlined": False}
SERVICE = {"type": "service", "latency_ms": C_MS}
CATALOGS = {
    "cas": {"type": "cas"},
    "cas with metadata": {"type": "cas", "table_metadata_inlined": False},
    "instant": INSTANT,
    "pointer": {**SERVICE, "service": {"workers": 1, "time": {"distribution": "fixed", "ms": 1.0}}},
    "rest": {**SERVICE, "service": {"flavour": "rest", "server_retries": 2}},
}


def config_of(
    *, clients: int = 1, catalog: dict[str, Any] | None = None, keeps: bool = False, **failures: Any
) -> dict[str, Any]:
    return {
        "simulation": {"duration_ms": 120_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": L_MS},
        "catalog": catalog or INSTANT,
        "table": {"metadata_bytes_per_snapshot": 0, "manifest_list_bytes_per_manifest": 0},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
        "source": [{"name": "w", "arrivals": {"kind": "closed", "clients": clients}, "keeps_table": keeps}],
        **({"failures": failures} if failures else {}),
    }


def run(engine: str, **keys: Any) -> SimulationResult:
    return endive.simulate(config_of(**keys), engine=engine)


def ended(result: SimulationResult) -> list[dict[str, Any]]:
    return [row for row in result.transactions.to_pylist() if row["status"] != "in_flight"]


def metadata_bytes_of_a_read() -> int:
    return parse_config(config_of()).table.metadata_base_bytes


def assert_engines_agree_and_books_add_up(**keys: Any) -> SimulationResult:
    reference, compiled = run("reference", clients=4, **keys), run("compiled", clients=4, **keys)
    history = compiled.history

    assert reference.fingerprint == compiled.fingerprint
    assert reference.history == history
    told = history.commits_reported + history.commits_unanswered + history.commits_untold
    assert history.commits_applied == told
    return compiled


def storage_requests(row: dict[str, Any]) -> int:
    return sum(row[f"requests_{request}"] for request in REQUESTS if not request.startswith("catalog_"))


def test_a_txn_whose_load_is_throttled_to_the_end_fails_before_it_begins_to_commit(engine):
    rows = ended(run(engine, throttle_rate=1.0, throttle_tries=3, **AT_ONCE))

    assert {("aborted", "storage_failed", 0, None, None)} == {
        (row["status"], row["reason"], row["attempts"], row["commit_start_ms"], row["commit_latency_ms"])
        for row in rows
    }
    assert {(3, 0)} == {(row["requests_metadata_read"], row["bytes_read"]) for row in rows}
    assert {C_MS + 3 * L_MS} == {row["total_latency_ms"] for row in rows}
    assert {C_MS + 3 * L_MS} == {row["phase_runtime_ms"] for row in rows}


def test_every_throttled_try_is_a_request_and_takes_as_long_as_one(engine):
    rate = 0.25
    plain = ended(run(engine))[0]
    rows = ended(run(engine, throttle_rate=rate, throttle_tries=50, **AT_ONCE))

    throttled = {row["txn_id"]: storage_requests(row) - storage_requests(plain) for row in rows}
    assert {"committed"} == {row["status"] for row in rows}
    assert [plain["total_latency_ms"] + throttled[row["txn_id"]] * L_MS for row in rows] == pytest.approx(
        [row["total_latency_ms"] for row in rows]
    )
    assert {plain["bytes_read"]} == {row["bytes_read"] for row in rows}
    of_the_server = {row["requests_catalog_read"] for row in rows}
    assert {plain["requests_catalog_read"]} == of_the_server  # which is not throttled
    tries = sum(storage_requests(row) for row in rows)
    spread = (rate * (1 - rate) / tries) ** 0.5
    assert abs(sum(throttled.values()) / tries - rate) < 4 * spread


def test_a_txn_fails_with_the_chance_that_one_of_its_requests_is_throttled_at_every_try(engine):
    rate, tries = 0.3, 2
    plain = ended(run(engine))[0]
    rows = ended(run(engine, throttle_rate=rate, throttle_tries=tries, **AT_ONCE))

    needed = storage_requests(plain) - 1  # what is read back after the swap no longer matters
    chance = 1.0 - (1.0 - rate**tries) ** needed
    failed = sum(row["reason"] == "storage_failed" for row in rows)
    assert {None, "storage_failed"} == {row["reason"] for row in rows}
    assert abs(failed / len(rows) - chance) < 4 * (chance * (1 - chance) / len(rows)) ** 0.5


def test_the_sdk_waits_a_uniform_share_of_a_time_that_doubles_up_to_the_longest(engine):
    rows = ended(run(engine, throttle_rate=1.0, throttle_tries=2, throttle_wait_ms=300.0))
    waits_ms = [row["total_latency_ms"] - C_MS - 2 * L_MS for row in rows]
    spread_ms = 300.0 / 12**0.5 / len(waits_ms) ** 0.5

    assert all(0.0 <= wait_ms <= 300.0 for wait_ms in waits_ms)
    assert abs(sum(waits_ms) / len(waits_ms) - 150.0) < 4 * spread_ms

    keys = {"throttle_wait_ms": 100.0, "throttle_wait_max_ms": 150.0}
    rows = ended(run(engine, throttle_rate=1.0, throttle_tries=4, **keys))
    waits_ms = [row["total_latency_ms"] - C_MS - 4 * L_MS for row in rows]
    assert all(wait_ms <= 100.0 + 150.0 + 150.0 for wait_ms in waits_ms)
    assert abs(sum(waits_ms) / len(waits_ms) - 200.0) < 4 * 70.0 / len(waits_ms) ** 0.5


def test_a_request_given_up_after_the_swap_leaves_the_txn_committed(engine):
    result = run(engine, throttle_rate=0.3, throttle_tries=1)
    committed = [row for row in ended(result) if row["status"] == "committed"]
    plain = ended(run(engine))[0]

    # The metadata is read back in one try, and that one is the last request: it ends the txn either way.
    assert {storage_requests(plain)} == {storage_requests(row) for row in committed}
    assert {plain["total_latency_ms"]} == {row["total_latency_ms"] for row in committed}
    fewer_bytes = plain["bytes_read"] - metadata_bytes_of_a_read()
    assert {plain["bytes_read"], fewer_bytes} == {row["bytes_read"] for row in committed}
    assert len(committed) == result.history.commits_reported


def test_a_rest_servers_own_writes_are_not_throttled(engine):
    rows = ended(run(engine, catalog={**SERVICE, "service": {"flavour": "rest"}}, throttle_rate=0.3, **AT_ONCE))

    written = {(row["attempts"], row["requests_metadata_write"]) for row in rows if row["status"] == "committed"}
    assert {(1, 1)} == written


def test_a_client_that_keeps_its_table_loads_it_anew_after_its_storage_failed(engine):
    rows = ended(run(engine, keeps=True, throttle_rate=0.2, throttle_tries=2, **AT_ONCE))

    reads = {
        (before["reason"], row["requests_catalog_read"])
        for before, row in pairwise(rows)
        if row["status"] == "committed"
    }
    assert {(None, 2), ("storage_failed", 3)} == reads  # load, refresh, read back


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("keeps", [False, True])
def test_on_every_catalog_both_engines_agree_and_the_books_add_up(catalog, keeps):
    failures = {"throttle_rate": 0.3, "throttle_tries": 2, "throttle_wait_ms": 30.0}
    lost = {"lost_answer_rate": 0.4, "lost_answer_timeout_ms": 200.0, "status_checks": 2, "status_check_wait_ms": 30.0}
    result = assert_engines_agree_and_books_add_up(catalog=CATALOGS[catalog], keeps=keeps, **failures, **lost)

    assert "storage_failed" in {row["reason"] for row in ended(result)}


@pytest.mark.parametrize("rate", ["throttle_rate", "lost_answer_rate"])
def test_a_rate_of_zero_changes_nothing(engine, rate):
    assert run(engine).fingerprint == run(engine, **{rate: 0.0}).fingerprint


def applied_and_given_up(catalog: Catalog) -> None:
    """The store installs a swap and answers 503 all the same; the SDK gives it up."""
    commit = catalog.commit

    def throttled(*request: Any, **keys: Any) -> Generator[int, None, CommitResult]:
        yield from commit(*request, **keys)
        raise GivenUpError

    catalog.commit = throttled  # type: ignore[method-assign]


def applied_and_tried_again(catalog: Catalog) -> None:
    """The store installs a swap and answers 503 all the same; the SDK sends it once more."""
    commit = catalog.commit

    def throttled(*request: Any, **keys: Any) -> Generator[int, None, CommitResult]:
        yield from commit(*request, **keys)
        return (yield from commit(*request, **keys))

    catalog.commit = throttled  # type: ignore[method-assign]


@pytest.mark.parametrize("plant", [applied_and_given_up, applied_and_tried_again])
def test_a_throttled_swap_that_was_installed_is_caught(plant):
    config = parse_config(config_of(catalog={"type": "cas"}, throttle_rate=0.1))

    def make(storage: Any, state: Any) -> Catalog:
        catalog = build_catalog(config, storage, state)
        plant(catalog)
        return catalog

    with pytest.raises(HistoryError, match="that it did not commit, and had been applied"):
        endive.Simulation(config, catalog=make).run(engine="reference")


def test_a_base_read_that_is_given_up_is_billed_as_a_catalog_read_by_both_engines():
    """The first documents' protocol repairs first and reads the version to swap on last."""
    failures = {"throttle_rate": 0.2, "throttle_tries": 2, "throttle_wait_ms": 5.0}
    config = config_of(clients=6, catalog={"type": "cas"}, **failures) | {"commit": {"protocol": "merge"}}
    reference, compiled = (endive.simulate(config, engine=engine).transactions for engine in ("reference", "compiled"))

    is_given_up = [
        row["reason"] == "storage_failed" and row["attempts"] == 2 and row["phase_catalog_read_ms"] > 0.0
        for row in reference.to_pylist()
    ]
    assert any(is_given_up)
    assert reference.equals(compiled)
