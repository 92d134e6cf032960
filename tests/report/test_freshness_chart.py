"""The picture of how late data are: the same ages as the figures, and a line where the bound is."""

from __future__ import annotations

import pytest

import endive
from endive.report.charts.run_specs import CURVE_POINTS, freshness_spec
from endive.report.run_page import ages_by_source

CONFIG = {
    "simulation": {"duration_ms": 120_000.0, "warmup_ms": 10_000.0, "cooldown_ms": 5_000.0},
    "storage": {"provider": "s3"},
    "catalog": {"type": "service", "latency_ms": 4.0},
    "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}, "retry": 1},
    "source": [
        {
            "name": "stream",
            "arrivals": {"kind": "jobs", "jobs": 4, "period_ms": 3_000.0},
            "after_failure": "carried",
            "fresh_within_ms": 5_000.0,
        },
        {"name": "other", "arrivals": {"kind": "poisson", "per_s": 1.0}, "operation_types": {"rewrite_files": 1.0}},
    ],
}


def test_the_picture_shows_the_ages_that_the_figures_tell():
    run = endive.simulate(CONFIG, engine="reference")
    ages = ages_by_source(endive.config.parse_config(CONFIG), run.transactions)
    told = run.to_json_dict()["by_source"]["stream"]["freshness_ms"]
    spec = freshness_spec(ages)

    assert ["stream"] == list(ages)
    shown = {round(value["share"], 6): value["s"] for value in spec["data"]["values"]}
    assert CURVE_POINTS + 1 == len(shown)
    assert told["p50"] / 1000.0 == pytest.approx(shown[0.5])
    assert told["p95"] / 1000.0 == pytest.approx(shown[0.95])
    assert told["max"] / 1000.0 == pytest.approx(shown[1.0])
    assert [{"s": 5.0}] == spec["layer"][1]["data"]["values"]
