"""The studies of the first documents ask what the documents ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from endive.config import load_simulation_config
from endive.config.study import load_study
from endive.config.unsaid import overlap_unsaid

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
ORIGINAL = sorted(path.name for path in (EXPERIMENTS / "original").glob("exp_*.toml"))


def test_the_original_studies_state_their_probability() -> None:
    config = load_simulation_config(EXPERIMENTS / "original" / "base.toml")

    assert [0.0] == [source.real_conflict_probability for source in config.sources]
    assert overlap_unsaid(config.to_dict()) is None


@pytest.mark.parametrize("name", [name for name in ORIGINAL if name.endswith("_merge.toml")])
def test_the_original_studies_are_judged_by_the_plans_rule(name: str) -> None:
    study = load_study(EXPERIMENTS / "original" / name)

    assert {"unsaturated"} == {point.config.slo.objective for point in study.expand()}


def test_the_mixed_study_has_the_reports_rates() -> None:
    rates = {point.values["source.stream.arrivals.per_s"] for point in _overwrites()}

    assert {10, 50, 100, 500} <= rates


def test_the_mixed_study_asks_about_the_budget() -> None:
    """Whoever retries for 30 minutes is there at every rate of the report."""
    budget = {
        point.values["source.stream.arrivals.per_s"]
        for point in _overwrites()
        if point.values["how"] == "S3, retries for 30 minutes"
    }

    assert {10, 50, 100, 500} <= budget


def test_the_mixed_study_is_varied_by_the_reports_other_parameters() -> None:
    jobs = {
        (
            point.config.sources[1].real_conflict_probability,
            point.values["source.overwrites.runtime.ms"],
            point.values["source.overwrites.arrivals.period_ms"],
        )
        for point in _overwrites("overwrites_varied")
        if point.values["source.stream.arrivals.per_s"] == 100
    }

    assert {(p, 180_000, 300_000) for p in (0.0, 0.1, 0.5)} < jobs
    assert {(0.0, 60_000, 300_000), (0.0, 600_000, 300_000), (0.0, 180_000, 60_000), (0.0, 180_000, 900_000)} < jobs


def _overwrites(name: str = "overwrites") -> list:
    return list(load_study(EXPERIMENTS / "mixed" / f"{name}.toml").expand())
