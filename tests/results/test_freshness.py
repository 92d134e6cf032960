"""Freshness: the worked example of docs/model/freshness.md, closed forms, and a law: no batch goes missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.properties.following import follow

import endive
from endive.config import parse_config
from endive.config.slo import names_of, objective_of
from endive.errors import ConfigError, ObjectiveError

MINUTE_MS = 60_000.0


def config(source: dict[str, Any], **sections: Any) -> dict[str, Any]:
    arrivals = {"kind": "jobs", "jobs": 1, "period_ms": 10_000.0, "phase": "together"}
    return {
        "simulation": {"duration_ms": 10 * MINUTE_MS, "warmup_ms": MINUTE_MS, "cooldown_ms": 0.0},
        "storage": {"provider": "instant"},
        "catalog": {"type": "instant", "latency_ms": 0.001},
        "commit": {"after_success": "none"},
        "source": [{"name": "w", "arrivals": arrivals, "runtime": {"distribution": "fixed", "ms": 2_000.0}, **source}],
        **sections,
    }


def figures(document: dict[str, Any], engine: str = "compiled") -> dict[str, Any]:
    found: dict[str, Any] = endive.simulate(document, engine=engine).to_json_dict()["by_source"]["w"]
    return found


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_regular_job_shows_data_between_its_latency_and_a_period_more(engine):
    found = figures(config({"fresh_within_ms": "9s"}), engine)

    # Age runs evenly from 2 s, when a commit is there, to 12 s, when the next one is.
    expected = {"p50": 7_000.0, "p95": 11_500.0, "p99": 11_900.0, "mean": 7_000.0, "max": 12_000.0}
    assert expected == pytest.approx(found["freshness_ms"], rel=1e-3)
    assert 0.3 == pytest.approx(found["stale_share"], abs=1e-3)
    assert (54, 54, 0) == (found["data"]["batches"], found["data"]["visible"], found["data"]["lost"])


def test_failures_by_chance_make_gaps_of_a_geometric_law():
    failures = {"throttle_rate": 0.25, "throttle_tries": 1}
    long = {"duration_ms": 4_000 * 10_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0}
    found = figures(config({}, failures=failures, storage={"provider": "instant"}, simulation=long))
    q = 1.0 - found["success_rate"]

    # Commits are N periods apart, P(N > n) = q**n: ages exceed L + (m + f) T for q**m (1 - f (1 - q)) of the time.
    def age_ms(share: float) -> float:
        m = int(np.floor(np.log(1.0 - share) / np.log(q)))
        return 2_000.0 + 10_000.0 * (m + (1.0 - (1.0 - share) / q**m) / (1.0 - q))

    assert 0.1 < q < 0.9
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        assert age_ms(share) == pytest.approx(found["freshness_ms"][name], rel=0.05)
    assert 2_000.0 + 5_000.0 * (1.0 + q) / (1.0 - q) == pytest.approx(found["freshness_ms"]["mean"], rel=0.05)
    assert q == pytest.approx(found["lost_share"], abs=1e-9)


AFTERMATHS = {
    "lost": "lost",
    "carried": "carried",
    "carried again": {"kind": "carried", "unknown": "again"},
    "restart": {"kind": "restart", "delay_ms": 3_000.0, "unknown": "again"},
    "rerun": {"kind": "rerun", "times": 1, "pause_ms": 500.0},
}


@pytest.mark.parametrize("name", AFTERMATHS)
def test_every_batch_is_visible_lost_or_waiting_and_none_is_two_of_these(name):
    failures = {"throttle_rate": 0.1, "throttle_tries": 1, "lost_answer_rate": 0.3, "status_checks": 0}
    document = config({"after_failure": AFTERMATHS[name]}, failures=failures)
    document["simulation"] |= {"warmup_ms": 0.0, "duration_ms": 30 * MINUTE_MS}
    document["source"][0]["arrivals"] |= {"jobs": 4, "phase": "random"}
    run = endive.simulate(document, engine="compiled")
    data = run.to_json_dict()["by_source"]["w"]["data"]
    is_kept, is_again = name not in ("lost", "rerun"), name in ("carried again", "restart")
    seen, lost, twice = follow(run.transactions.to_pylist(), is_kept, is_again)

    assert {"visible": len(seen), "lost": len(lost), "twice": len(twice)} == {
        k: data[k] for k in ("visible", "lost", "twice")
    }
    assert data["batches"] == data["visible"] + data["lost"] + data["waiting"]
    assert not seen & lost
    assert ("lost" if name in ("lost", "rerun") else "visible") in {fate for fate in data if data[fate]}
    assert is_again == bool(twice)


REFUSED = {
    "w.p95_freshness <= 10min": ({"operation_types": {"rewrite_files": 1.0}}, "its txns add no data"),
    "p95_freshness <= 10min": ({"arrivals": {"kind": "poisson", "mean_ms": 9.0}}, "are not regular"),
    "fast_append.p95_freshness <= 1s": ({}, "data belong to a source, not to a kind"),
    "table.0.lost_share <= 1%": ({}, "data belong to a source, not to a table"),
}


@pytest.mark.parametrize("objective", REFUSED)
def test_freshness_of_what_brings_no_data_is_refused(objective):
    source, said = REFUSED[objective]
    with pytest.raises(ObjectiveError, match=said):
        objective_of(parse_config(config(source)), objective)


def test_a_bound_on_what_brings_no_data_is_refused():
    with pytest.raises(ConfigError, match="fresh_within_ms = '9s' speaks of data that this source does not have"):
        parse_config(config({"operation_types": {"rewrite_manifests": 1.0}, "fresh_within_ms": "9s"}))


def test_an_objective_on_freshness_is_judged():
    run = endive.simulate(config({}), seeds=2, slo="w.p95_freshness <= 12s and w.lost_share <= 0.5")

    assert "met" == run.to_json_dict()["objective"]["outcome"]


@pytest.mark.parametrize("kind", ["blind_append", "append_after_read", "merge", "optimize"])
def test_streams_of_delta_lake_have_freshness_too(kind):
    arrivals = {"kind": "jobs", "jobs": 2, "period_ms": 10_000.0}
    source = {"name": "w", "arrivals": arrivals, "operation_types": {kind: 1.0}}
    names = names_of(parse_config({"table": {"format": "delta"}, "source": [source]}))

    assert (() if kind == "optimize" else ("w",)) == names.streams
