"""The studies of the first documents ask what the documents ask."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from endive.config.study import load_study
from endive.config.unsaid import overlap_unsaid

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
RATE = "source.stream.arrivals.per_s"
ORIGINAL = sorted(path.name for path in (EXPERIMENTS / "original").glob("exp_*.toml"))


# The experiment plan's table, lines 27 to 41: tables, whether G = T, p, conflicting manifests, pauses, seeds.
GAPS_MS = {10, 20, 50, 100, 200, 500, 1000, 2000, 5000}
EXP_3 = ("exponential", 3, 1, 10)
MANIFESTS = (
    {("fixed", n) for n in (1, 5, 10)} | {("exponential", n, 1, 10) for n in (1, 3, 5, 10)} | {("uniform", 1, 10)}
)
PAUSES = {"none", "conservative", "moderate", "aggressive"}
PLAN: dict[str, tuple[set[int], bool, set[float], set[tuple[object, ...]], set[str], int]] = {
    "2_1": ({1}, False, {0.0}, {EXP_3}, {"none"}, 5),
    "2_2": ({1, 2, 5, 10, 20, 50}, True, {0.0}, {EXP_3}, {"none"}, 3),
    "3_1": ({1}, False, {0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0}, {EXP_3}, {"none"}, 3),
    "3_2": ({1}, False, {0.5}, MANIFESTS, {"none"}, 3),
    "3_3": ({1, 2, 5, 10, 20}, True, {0.0, 0.1, 0.3, 0.5}, {EXP_3}, {"none"}, 3),
    "4_1": ({1}, False, {0.0}, {EXP_3}, PAUSES, 5),
}


@pytest.mark.parametrize("name", PLAN)
def test_a_study_has_the_parameters_of_the_plans_table(name: str) -> None:
    tables, is_by_table, probabilities, manifests, pauses, seeds = PLAN[name]
    study = load_study(EXPERIMENTS / "original" / f"exp_{name}_merge.toml")
    points = [point.config for point in study.expand()]
    sources = [config.sources[0] for config in points]

    drawn = {tuple(config.transaction.conflicting_manifests.model_dump().values()) for config in points}
    assert (tables, seeds) == ({config.catalog.num_tables for config in points}, len(study.seeds))
    assert all(config.catalog.num_groups == (config.catalog.num_tables if is_by_table else 1) for config in points)
    assert probabilities == {source.real_conflict_probability for source in sources}
    assert manifests == drawn
    assert pauses == {source.retry_backoff.policy for source in sources}
    assert {float(gap) for gap in GAPS_MS} == {source.arrivals.mean_ms for source in sources}
    assert len(points) == len(GAPS_MS) * len(tables) * len(probabilities) * len(manifests) * len(pauses)


@pytest.mark.parametrize("name", ORIGINAL)
def test_the_original_studies_have_the_plans_latencies_and_runtimes(name: str) -> None:
    for config in (point.config for point in load_study(EXPERIMENTS / "original" / name).expand()):
        objects, runtime = config.storage.objects, config.sources[0].runtime
        times = {
            (latency.distribution, latency.mean_ms, latency.stddev_ms, latency.min_ms)
            for each in (objects.manifest_list, objects.manifest)
            for latency in (each.read, each.write)
        }
        assert {("truncated_normal", 50.0, 5.0, 1.0)} == times
        assert (1.0, 0.1) == (objects.catalog.cas.mean_ms, objects.catalog.cas.stddev_ms)
        assert (180_000.0, 1.5, 30_000.0) == (runtime.mean_ms, runtime.sigma, runtime.shift_ms)
        assert (3_600_000.0, 4) == (config.simulation.duration_ms, config.storage.max_parallel)
        assert (900_000.0, 900_000.0) == (config.simulation.warmup_ms, config.simulation.cooldown_ms)
        assert overlap_unsaid(config.to_dict()) is None


@pytest.mark.parametrize("name", [name for name in ORIGINAL if name.endswith("_merge.toml")])
def test_the_original_studies_are_judged_by_the_plans_rule(name: str) -> None:
    study = load_study(EXPERIMENTS / "original" / name)

    assert {"unsaturated"} == {point.config.slo.objective for point in study.expand()}


def test_the_mixed_study_has_the_reports_rates() -> None:
    assert {10, 50, 100, 500} <= {point.values[RATE] for point in _overwrites()}


def test_the_mixed_study_asks_about_the_budget() -> None:
    """Whoever retries for 30 minutes is there at every rate of the report."""
    patient = [point for point in _overwrites() if point.values["how"] == "S3, retries for 30 minutes"]

    assert {10, 50, 100, 500} <= {point.values[RATE] for point in patient}


def test_the_mixed_study_is_varied_by_the_reports_other_parameters() -> None:
    keys = ("source.overwrites.runtime.ms", "source.overwrites.arrivals.period_ms")
    jobs = {
        (point.config.sources[1].real_conflict_probability, *(point.values[key] for key in keys))
        for point in _overwrites("overwrites_varied")
        if point.values[RATE] == 100
    }

    assert {(p, 180_000, 300_000) for p in (0.0, 0.1, 0.5)} < jobs
    assert {(0.0, 60_000, 300_000), (0.0, 600_000, 300_000), (0.0, 180_000, 60_000), (0.0, 180_000, 900_000)} < jobs


@cache
def _overwrites(name: str = "overwrites") -> list:
    return list(load_study(EXPERIMENTS / "mixed" / f"{name}.toml").expand())
