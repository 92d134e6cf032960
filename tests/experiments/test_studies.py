"""The studies load, have the size their pages state, say what they are for, and run."""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

import endive
from endive.config import load_simulation_config
from endive.config.study import Study, SweepPoint, load_study
from endive.config.unsaid import overlap_unsaid, reading_unsaid
from endive.tables.figure_columns import FIGURES

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
QUESTIONS = (
    "field-cases/expired_history.toml",
    "field-cases/partial_progress.toml",
    "field-cases/slow_compaction.toml",
    "field-cases/stale_retries.toml",
    "field-cases/streaming_merge.toml",
    "questions/nightly_merge.toml",
    "questions/which_format.toml",
    "questions/partial_progress.toml",
    "questions/rest_catalog.toml",
)
NO_STUDIES = (
    "quickstart.toml",
    "original/base.toml",
    "mixed/base.toml",
    "growth/s3_sized.toml",
    "examples/compactions-give-way.toml",
    "examples/late-data.toml",
    "examples/v4-what-if.toml",
    "examples/who-orders-commits.toml",
    *QUESTIONS,
)  # a configuration, a base, a profile

# Combinations and seeds of every study, as docs/studies/README.md states them.
SIZES = {
    "original/exp_2_1_iceberg.toml": (9, 5),
    "original/exp_2_1_merge.toml": (9, 5),
    "original/exp_2_2_iceberg.toml": (54, 3),
    "original/exp_2_2_merge.toml": (54, 3),
    "original/exp_3_1_iceberg.toml": (63, 3),
    "original/exp_3_1_merge.toml": (63, 3),
    "original/exp_3_2_iceberg.toml": (72, 3),
    "original/exp_3_2_merge.toml": (72, 3),
    "original/exp_3_3_iceberg.toml": (180, 3),
    "original/exp_3_3_merge.toml": (180, 3),
    "original/exp_4_1_iceberg.toml": (45, 5),
    "original/exp_4_1_merge.toml": (36, 5),
    "original/exp_5.toml": (96, 3),
    "catalogs/catalogs.toml": (168, 3),
    "formats/appends.toml": (64, 3),
    "formats/compaction_beside_stream.toml": (80, 3),
    "formats/merge_beside_stream.toml": (192, 3),
    "demo.toml": (16, 16),
    "examples/retry_policies.toml": (13, 3),
    "growth/merging.toml": (35, 5),
    "growth/snapshots.toml": (21, 3),
    "mixed/compaction.toml": (38, 5),
    "mixed/compaction_beside_deletes.toml": (24, 5),
    "mixed/overwrites.toml": (62, 5),
    "mixed/overwrites_varied.toml": (69, 5),
    "partitions/overlap.toml": (31, 3),
    "partitions/partitions.toml": (44, 3),
    "providers/one_object.toml": (45, 3),
    "providers/service.toml": (90, 3),
    "retries/policies.toml": (126, 5),
    "writers/twenty_writers.toml": (40, 5),
    "writers/who_orders_commits.toml": (45, 3),
}
SMALL = {"duration_ms": 40_000, "warmup_ms": 0, "cooldown_ms": 0}


@cache
def study(name: str) -> Study:
    return load_study(EXPERIMENTS / name)


@cache
def expanded(name: str) -> tuple[SweepPoint, ...]:
    """The points of a study; expanding one checks every combination."""
    return study(name).expand()


@pytest.mark.lengthy
@pytest.mark.parametrize("name", [*SIZES, "questions/nightly_merge.toml", "field-cases/streaming_merge.toml"])
def test_every_overwrite_says_what_it_read(name):
    is_study = name in SIZES
    config = expanded(name)[0].config if is_study else load_simulation_config(str(EXPERIMENTS / name))

    assert reading_unsaid(config.to_dict()) is None


def opening(name: str) -> list[str]:
    """The comment a study file opens with, line by line."""
    lines = (EXPERIMENTS / name).read_text().split("\n")
    return list(takewhile(lambda line: line.startswith("#"), lines))


def study_files() -> list[str]:
    """Every study, by its path in experiments/."""
    found = (path.relative_to(EXPERIMENTS).as_posix() for path in EXPERIMENTS.rglob("*.toml"))
    return sorted(name for name in found if name not in NO_STUDIES)


def test_every_study_has_its_size_written_down():
    assert sorted(SIZES) == study_files()


@pytest.mark.lengthy
@pytest.mark.parametrize("name", SIZES)
def test_a_study_expands_to_the_size_that_its_page_states(name):
    assert SIZES[name] == (len(expanded(name)), len(study(name).seeds))


@pytest.mark.parametrize("name", SIZES)
def test_a_study_opens_with_its_question_how_to_run_it_and_what_to_look_for(name):
    comment = opening(name)

    assert "?" in comment[0]
    assert 1 == len([line for line in comment if line.startswith("# What to look for: ")])
    assert any(f"endive sweep experiments/{name} " in line or line.endswith("make demo") for line in comment)


@pytest.mark.parametrize("name", [name for name in SIZES if "/" in name and not name.startswith("examples/")])
def test_a_study_names_the_page_of_its_result(name):
    pages = [line.split()[2].rstrip(",") for line in opening(name) if line.startswith("# Result: ")]

    assert [True] == [(EXPERIMENTS.parent / page).is_file() for page in pages]


@pytest.mark.parametrize("name", SIZES)
def test_a_study_says_what_its_report_draws(name):
    report = study(name).report

    assert None not in (study(name).title, study(name).question, study(name).look_for)
    assert report.x in study(name).columns
    assert {"success_rate", "committed_per_s"} <= set(report.metrics) <= set(FIGURES)


@pytest.mark.lengthy
@pytest.mark.parametrize("name", SIZES)
def test_the_ends_of_a_studys_grid_run_in_small(name):
    for point in (expanded(name)[0], expanded(name)[-1]):
        config = point.config.to_dict()
        result = endive.simulate({**config, "simulation": {**config["simulation"], **SMALL}})

        counts = result.summary()["txns"]
        ended = counts["committed"] + sum(counts["aborted"].values()) + sum(counts["in_flight"].values())
        assert counts["submitted"] == ended == result.transactions.num_rows
        assert {source.name for source in point.config.sources} == set(result.transactions["source"].to_pylist())


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_a_configuration_that_opens_with_the_command_to_ask_it(name):
    config = load_simulation_config(EXPERIMENTS / name)

    assert config.sources
    assert any(f"experiments/{name}" in line for line in opening(name))


# ---- the first documents' own studies ask what the documents ask ---------------------------------------------------

RATE = "source.stream.arrivals.per_s"
ORIGINAL = [
    name for name in SIZES if name.startswith("original/") and name != "original/exp_5.toml"
]  # which came later
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


@pytest.mark.lengthy
@pytest.mark.parametrize("name", PLAN)
def test_a_study_has_the_parameters_of_the_plans_table(name):
    tables, is_by_table, probabilities, manifests, pauses, seeds = PLAN[name]
    file = f"original/exp_{name}_merge.toml"
    points = [point.config for point in expanded(file)]
    sources = [config.sources[0] for config in points]

    drawn = {tuple(config.transaction.conflicting_manifests.model_dump().values()) for config in points}
    assert (tables, seeds) == ({config.catalog.num_tables for config in points}, len(study(file).seeds))
    assert all(config.catalog.num_groups == (config.catalog.num_tables if is_by_table else 1) for config in points)
    assert probabilities == {source.real_conflict_probability for source in sources}
    assert manifests == drawn
    assert pauses == {source.retry_backoff.policy for source in sources}
    assert {float(gap) for gap in GAPS_MS} == {source.arrivals.mean_ms for source in sources}
    assert len(points) == len(GAPS_MS) * len(tables) * len(probabilities) * len(manifests) * len(pauses)


@pytest.mark.lengthy
@pytest.mark.parametrize("name", ORIGINAL)
def test_the_original_studies_have_the_plans_latencies_and_runtimes(name):
    for config in (point.config for point in expanded(name)):
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


@pytest.mark.lengthy
@pytest.mark.parametrize("name", [name for name in ORIGINAL if name.endswith("_merge.toml")])
def test_the_original_studies_are_judged_by_the_plans_rule(name):
    assert {"unsaturated"} == {point.config.slo.objective for point in expanded(name)}


@pytest.mark.lengthy
def test_the_mixed_study_has_the_reports_rates_for_who_retries_for_30_minutes_too():
    points = expanded("mixed/overwrites.toml")
    patient = [point for point in points if point.values["how"] == "S3, retries for 30 minutes"]

    assert {10, 50, 100, 500} <= {point.values[RATE] for point in patient}


@pytest.mark.lengthy
def test_the_mixed_study_is_varied_by_the_reports_other_parameters():
    keys = ("source.overwrites.runtime.ms", "source.overwrites.arrivals.period_ms")
    jobs = {
        (point.config.sources[1].real_conflict_probability, *(point.values[key] for key in keys))
        for point in expanded("mixed/overwrites_varied.toml")
        if point.values[RATE] == 100
    }

    assert {(p, 180_000, 300_000) for p in (0.0, 0.1, 0.5)} < jobs
    assert {(0.0, 60_000, 300_000), (0.0, 600_000, 300_000), (0.0, 180_000, 60_000), (0.0, 180_000, 900_000)} < jobs
