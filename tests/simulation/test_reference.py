"""The reference engine: whose turn it is, when the clock stops, and what is written down about whom."""

from __future__ import annotations

from typing import Any

import pytest

from endive import simulate
from endive.results.schema import PHASES, REQUESTS

BASE: dict[str, Any] = {
    "simulation": {"duration_ms": 1_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
    "storage": {"provider": "constant", "latency_ms": 10.0},
    "catalog": {"type": "instant", "latency_ms": 2.0},
    "commit": {"protocol": "spec"},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
}


def rows_of(*sources: dict[str, Any], **sections: Any) -> list[dict[str, Any]]:
    config = {**BASE, "source": list(sources), **sections}
    return simulate(config, engine="reference").transactions.to_pylist()


def once(name: str, at_ms: float = 0.0, **keys: Any) -> dict[str, Any]:
    return {"name": name, "arrivals": {"kind": "periodic", "period_ms": 1e6, "offset_ms": at_ms}, **keys}


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_two_swaps_at_one_instant_that_of_the_older_txn_wins(names):
    first, second = rows_of(*(once(name) for name in names))

    assert names == (first["source"], second["source"])
    assert (1, 2) == (first["attempts"], second["attempts"])


def test_submissions_at_one_instant_come_in_the_order_of_the_sources():
    rows = rows_of(
        {"name": "late", "arrivals": {"kind": "fixed", "ms": 50.0}},
        {"name": "early", "arrivals": {"kind": "fixed", "ms": 25.0}},
    )

    at_50 = [row["source"] for row in rows if row["submit_ms"] == 50.0]
    assert ["late", "early"] == at_50


@pytest.mark.parametrize(("sent_ms", "attempts"), [(101.999, 2), (102.0, 1), (102.001, 1)])
def test_a_read_that_reaches_the_server_with_an_older_txns_swap_is_answered_after_it(sent_ms, attempts):
    """The writer's swap is evaluated at 103 ms, a read one millisecond after it was sent."""
    _, reader = rows_of(once("writer"), once("reader", sent_ms))

    assert attempts == reader["attempts"]


def test_a_thousand_coinciding_events_have_one_order():
    """Everything on a grid of 1 ms: hundreds of ties, and still one result."""
    closed = {"name": "clients", "arrivals": {"kind": "closed", "clients": 20, "think_ms": 1.0}}
    quick = {"transaction": {"runtime": {"distribution": "fixed", "ms": 0.0}}}
    storage = {"storage": {"provider": "constant", "latency_ms": 2.0}}
    rows = rows_of(closed, **quick, **storage)

    ends = [row["end_ms"] for row in rows if row["end_ms"] is not None]
    assert len(ends) - len(set(ends)) > 100
    assert rows == rows_of(closed, **quick, **storage)


# A lone txn: read 2 ms, work 100 ms, swap 2 ms.
@pytest.mark.parametrize(
    ("duration_ms", "status", "stage"),
    [
        (1.0, "in_flight", "executing"),
        (102.0, "in_flight", "executing"),
        (102.001, "in_flight", "committing"),
        (104.0, "in_flight", "committing"),
        (104.001, "committed", None),
    ],
)
def test_what_happens_at_the_last_instant_does_not_happen(duration_ms, status, stage):
    simulation = {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0}
    (row,) = rows_of(once("txn"), simulation=simulation)

    assert (status, stage) == (row["status"], row["in_flight_stage"])


def test_a_txn_in_flight_says_who_it_is_and_nothing_of_what_it_did():
    simulation = {"duration_ms": 103.5, "warmup_ms": 0.0, "cooldown_ms": 0.0}
    (row,) = rows_of(once("txn"), simulation=simulation)

    assert ("txn", 0.0, 102.0, None) == (row["source"], row["submit_ms"], row["commit_start_ms"], row["end_ms"])
    assert (0, None, None) == (row["attempts"], row["reason"], row["hazard_window_ms"])
    assert 0 == sum(row[f"requests_{request}"] for request in REQUESTS)
    assert 0.0 == sum(row[f"phase_{phase}_ms"] for phase in PHASES)


def test_a_client_thinks_after_its_txn_has_ended_and_submits_again():
    rows = rows_of({"name": "client", "arrivals": {"kind": "closed", "clients": 1, "think_ms": 46.0}})

    assert [150.0 * turn for turn in range(7)] == [row["submit_ms"] for row in rows]
    assert {0} == {row["client"] for row in rows}


def test_a_client_submits_again_after_an_abort_too():
    rows = rows_of(
        {"name": "clients", "arrivals": {"kind": "closed", "clients": 2, "think_ms": 0.0}, "retry": 0},
        transaction={"runtime": {"distribution": "fixed", "ms": 100.0}},
    )

    by_client = {client: [row["status"] for row in rows if row["client"] == client] for client in (0, 1)}
    # Both swap at the same instants for ever; the older txn wins, and the winner's next one is the older again.
    assert {"committed", "in_flight"} == set(by_client[0])
    assert {"aborted", "in_flight"} == set(by_client[1])


def test_every_client_of_a_loop_has_luck_of_its_own():
    rows = rows_of(
        {"name": "clients", "arrivals": {"kind": "closed", "clients": 3, "think_ms": 10.0}},
        transaction={"runtime": {"distribution": "exponential", "mean_ms": 50.0}},
    )

    firsts = {row["client"]: row["phase_runtime_ms"] for row in rows if row["submit_ms"] == 0.0}
    assert 3 == len(set(firsts.values()))


@pytest.mark.parametrize(
    ("keys", "submitted"), [({}, range(100, 1_000, 100)), ({"start_ms": 200.0, "stop_ms": 500.0}, (300, 400))]
)
def test_a_source_submits_from_its_start_until_its_stop_and_not_at_the_last_instant(keys, submitted):
    rows = rows_of({"name": "txns", "arrivals": {"kind": "fixed", "ms": 100.0}, **keys})

    assert [*submitted] == [row["submit_ms"] for row in rows]
