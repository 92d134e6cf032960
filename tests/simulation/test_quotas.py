"""A quota of calls per second against the formula of a queue with one server of constant time (M/D/1).

The formula is for calls that come at random. A client of a pointer catalog (Glue) asks twice in a row, and its second
call waits for its first: it waits longer than this says (11.5 ms where the formula has 8.3).
"""

from __future__ import annotations

import pytest

import endive


@pytest.mark.parametrize("load", [0.4, 0.8])
def test_a_quota_makes_calls_wait_as_a_queue_does(load):
    """Calls come at random; mean wait = load * time / (2 (1 - load)), as Pollaczek and Khinchine have it."""
    quota, tables = 40.0, 20_000
    time_ms = 1_000.0 / quota
    # On so many tables nobody meets; a fast append asks a REST catalog three times, far enough apart to come at random.
    config = {
        "simulation": {"duration_ms": 1_500_000.0, "warmup_ms": 60_000.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 300.0},
        "catalog": {
            "type": "service",
            "latency_ms": 4.0,
            "num_tables": tables,
            "service": {"flavour": "rest", "calls_per_s": quota},
        },
        "commit": {"release": "1.9"},
        "transaction": {"runtime": {"distribution": "exponential", "mean_ms": 20_000.0}, "retry": 100},
        "source": [{"name": "w", "arrivals": {"kind": "poisson", "per_s": 1.0}}],
    }
    alone = endive.simulate(config | {"source": [{"name": "w", "arrivals": {"kind": "poisson", "per_s": 0.01}}]})
    calls = _calls(alone)
    config["source"] = [{"name": "w", "arrivals": {"kind": "poisson", "per_s": load * quota / calls}}]
    busy = endive.simulate(config)

    waited = (_latency(busy) - _latency(alone)) / (calls - 1)  # the first call is before the commit
    expected = load * time_ms / (2.0 * (1.0 - load))
    assert expected == pytest.approx(waited, rel=0.25)


def _calls(run):
    rows = [row for row in run.transactions.to_pylist() if row["status"] == "committed"]
    return sum(row["requests_catalog_read"] + row["requests_catalog_cas"] for row in rows) / len(rows)


def _latency(run):
    rows = [row["commit_latency_ms"] for row in run.transactions.to_pylist() if row["status"] == "committed"]
    return sum(rows) / len(rows)
