"""What differs between catalog services, each by a run in which it makes a difference that can be told by hand.

A quota against a queue with one server of constant time: its closed form where calls come at random (M/D/1), and a few
lines of plain Python where a client calls several times in a row, as a pointer catalog's (Glue) does. Its next call
goes behind those that came while it waited, so it waits longer than the closed form says.
"""

from __future__ import annotations

import heapq
import random
from functools import cache
from typing import Any

import pytest
from tests.simulation.service_runs import CALL_MS, STORE_MS, jobs, rows_of

import endive

QUOTA_PER_S = 40.0
SERVED_MS = 1_000.0 / QUOTA_PER_S
MIB_MS = 100.0
SNAPSHOTS = 1_000
LISTED = {"distribution": "exponential", "mean_ms": 5_000.0}


def run(engine: str, count: int, service: dict[str, Any], **sections: Any) -> list[dict[str, Any]]:
    """Rows of as many jobs as ``count``, which begin together, once, on a table of a thousand snapshots."""
    return rows_of(engine, jobs(count), service=service, table={"initial_snapshots": SNAPSHOTS}, **sections)


def kib_of(snapshots: int) -> int:
    return -(-(5_000 + 730 * snapshots) // 1_024)


def test_answers_carry_the_whole_list_of_snapshots_to_load_refresh_commit_and_read_back(engine):
    (free,) = run(engine, 1, {"flavour": "rest"})
    (charged,) = run(engine, 1, {"flavour": "rest", "answer_ms_per_mib": MIB_MS})
    before, after = kib_of(SNAPSHOTS), kib_of(SNAPSHOTS + 1)

    assert (0, 2 * before + 2 * after) == (free["answers_kib"], charged["answers_kib"])
    late_ms = (before + 2 * after) * MIB_MS / 1_024.0
    assert late_ms == pytest.approx(charged["commit_latency_ms"] - free["commit_latency_ms"], abs=0.01)
    assert before * MIB_MS / 1_024.0 == pytest.approx(charged["phase_runtime_ms"] - free["phase_runtime_ms"], abs=0.01)


def test_a_load_of_refs_only_is_short_and_the_answers_after_it_are_not(engine):
    (full,) = run(engine, 1, {"flavour": "rest", "answer_ms_per_mib": MIB_MS})
    (refs,) = run(engine, 1, {"flavour": "rest", "answer_ms_per_mib": MIB_MS, "load_answer": "refs"})

    assert kib_of(SNAPSHOTS) - kib_of(1) == full["answers_kib"] - refs["answers_kib"]
    assert full["commit_latency_ms"] == refs["commit_latency_ms"]


def test_every_lost_attempt_is_answered_with_the_list_once_more(engine):
    rows = run(engine, 2, {"flavour": "rest", "answer_ms_per_mib": MIB_MS})
    first, second = sorted(rows, key=lambda row: row["attempts"])

    assert [1, 2] == [first["attempts"], second["attempts"]]
    more = kib_of(SNAPSHOTS + 1) + 2 * (kib_of(SNAPSHOTS + 2) - kib_of(SNAPSHOTS + 1))
    assert more == second["answers_kib"] - first["answers_kib"]


def test_a_refusal_that_is_final_ends_the_txn_at_its_first_attempt(engine):
    retried = run(engine, 3, {"flavour": "rest"})
    final = run(engine, 3, {"flavour": "rest", "refusal": "final"})

    assert ["committed"] * 3 == [row["status"] for row in retried]
    assert ["aborted", "aborted", "committed"] == sorted(row["status"] for row in final)
    assert {1} == {row["attempts"] for row in final}


def test_a_server_that_reads_metadata_json_does_so_to_load_refresh_commit_and_read_back(engine):
    reads = {
        choice: run(engine, 1, {"flavour": "rest", "reads_metadata": choice})[0]
        for choice in ("never", "load", "load_and_commit")
    }

    assert [0, 3, 4] == [row["requests_metadata_read"] for row in reads.values()]
    slower_ms = reads["load_and_commit"]["commit_latency_ms"] - reads["never"]["commit_latency_ms"]
    assert 3 * STORE_MS == pytest.approx(slower_ms)


def test_with_an_idempotency_key_no_lost_answer_leaves_a_commit_unknown(engine):
    lost = {"lost_answer_rate": 0.4, "lost_answer_timeout_ms": 40.0, "lost_check_rate": 0.4}
    unknown = run(engine, 40, {"flavour": "rest"}, failures={**lost, "status_checks": 1})
    known = run(engine, 40, {"flavour": "rest", "idempotency_keys": True}, failures=lost)

    assert "commit_state_unknown" in {row["reason"] for row in unknown}
    assert "commit_state_unknown" not in {row["reason"] for row in known}


@cache
def simulate_calls(flavour: str, per_s: float, **service: Any) -> Any:
    """Txns that meet nobody, on so many tables. Writing a list takes so long, and so differently long, that calls on
    both sides of it are strangers; after a constant time they would come as evenly as they were served, and wait less.
    """
    catalog = {"type": "service", "latency_ms": CALL_MS, "num_tables": 20_000}
    config = {
        "simulation": {"duration_ms": 6_000_000.0, "warmup_ms": 60_000.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 300.0, "objects": {"manifest_list": {"write": LISTED}}},
        "catalog": {**catalog, "service": {"flavour": flavour, **service}},
        "commit": {"release": "1.9"},
        "transaction": {"runtime": {"distribution": "exponential", "mean_ms": 20_000.0}, "retry": 100},
        "source": [{"name": "w", "arrivals": {"kind": "poisson", "per_s": per_s}}],
    }
    return endive.simulate(config).to_json_dict()


def waited_ms(flavour: str, load: float) -> tuple[float, int, float]:
    """What a txn waits for the quota after its work, by the model; its calls, and txns a second."""
    alone = simulate_calls(flavour, 0.5)
    calls = round(sum(alone["requests"]["counts"]["catalog"].values()) / alone["summary"]["txns"]["committed"])
    per_s = load * QUOTA_PER_S / calls
    busy = simulate_calls(flavour, per_s, calls_per_s=QUOTA_PER_S)
    ours, theirs = busy["summary"]["phases_ms"], alone["summary"]["phases_ms"]
    late_ms = sum(ours[phase] - theirs[phase] for phase in ("catalog_read", "commit"))
    return late_ms - (calls - 1) * SERVED_MS, calls, per_s  # the first call is before the work


@pytest.mark.lengthy
@pytest.mark.parametrize("load", [0.4, 0.8])
def test_calls_that_come_at_random_wait_as_pollaczek_and_khinchine_have_it(load):
    waited, calls, _ = waited_ms("rest", load)

    assert load * SERVED_MS / (2.0 * (1.0 - load)) == pytest.approx(waited / (calls - 1), rel=0.08)


@pytest.mark.lengthy
@pytest.mark.parametrize("load", [0.4, 0.8])
def test_calls_in_a_row_wait_as_they_do_in_a_queue_of_a_few_lines(load):
    waited, calls, per_s = waited_ms("pointer", load)
    by_hand = queue_of_clients(per_s)

    assert 5 == calls  # a load, a refresh; then look, swap and read back in a row
    assert by_hand == pytest.approx(waited, rel=0.08)
    assert waited > 1.2 * (calls - 1) * load * SERVED_MS / (2.0 * (1.0 - load))


def queue_of_clients(per_s: float, clients: int = 60_000) -> float:
    """Mean wait of a client's calls after its first: strangers, then three in a row, at one server of constant time."""
    draw = random.Random(7)
    begin_ms, free_ms, waited = 0.0, 0.0, 0.0
    due: list[tuple[float, int, int]] = []
    for client in range(clients):
        begin_ms += draw.expovariate(per_s) * 1_000.0
        heapq.heappush(due, (begin_ms, client, 0))
    means_ms = (20_000.0, 5_000.0)  # of the pauses before the second and third call
    while due:
        at_ms, client, call = heapq.heappop(due)
        start_ms = max(at_ms, free_ms)
        free_ms = start_ms + SERVED_MS
        waited += start_ms - at_ms if call else 0.0
        if call < 4:
            pause_ms = draw.expovariate(1.0) * means_ms[call] if call < 2 else CALL_MS
            heapq.heappush(due, (free_ms + pause_ms, client, call + 1))
    return waited / clients
