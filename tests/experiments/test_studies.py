"""The studies load, have the size their pages state, say what they are for, and run."""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

import endive
from endive.config import load_simulation_config
from endive.config.study import SweepPoint, load_study
from endive.config.unsaid import reading_unsaid
from endive.pipeline.dataset.figure_columns import FIGURES

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
    "catalogs/catalogs.toml": (168, 3),
    "formats/appends.toml": (64, 3),
    "formats/compaction_beside_stream.toml": (80, 3),
    "formats/merge_beside_stream.toml": (192, 3),
    "demo.toml": (16, 4),
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
def expanded(name: str) -> tuple[SweepPoint, ...]:
    """The points of a study; expanding one checks every combination."""
    return load_study(EXPERIMENTS / name).expand()


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


@pytest.mark.parametrize("name", SIZES)
def test_a_study_expands_to_the_size_that_its_page_states(name):
    assert SIZES[name] == (len(expanded(name)), len(load_study(EXPERIMENTS / name).seeds))


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
    study = load_study(EXPERIMENTS / name)

    assert None not in (study.title, study.question, study.look_for)
    assert study.report.x in study.columns
    assert {"success_rate", "committed_per_s"} <= set(study.report.metrics) <= set(FIGURES)


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
