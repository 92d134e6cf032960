"""Studies that cannot be used: every problem in one go, with the values that cause it, each saying what to do."""

import tomllib
from pathlib import Path

import pytest

from endive.config.study import load_study
from endive.config.study.study_text import study_text

AXIS = "[axes]\ntransaction.retry = [1, 2]\n"
FILES, OVERRIDES, GRIDS = (
    tomllib.loads((Path(__file__).parent / f"refused_{what}.toml").read_text(encoding="utf-8"))
    for what in ("files", "overrides", "grids")
)


@pytest.mark.parametrize(("text", "problem"), FILES.items())
def test_a_problem_is_one_line_that_says_what_and_where(problems, text, problem):
    assert [problem] == problems(text.replace("AXIS\n", AXIS), base="")


def test_all_problems_of_a_file_are_told_at_once(problems):
    lines = problems("sedes = 3\n[axes]\ncatalog.num_table = [1]\nload = [1, 2]\n[study]\nname = 'a b'\n")

    assert ["sedes", "axes:", "axes:", "study.name"] == [line.split(" ")[0] for line in lines]


@pytest.mark.parametrize(("override", "problem"), OVERRIDES.items())
def test_the_command_line_cannot_set_what_the_study_decides(problems, override, problem):
    text = AXIS + (
        "[[linked]]\ncatalog.num_tables = [1, 2]\ncatalog.object_base_bytes = [1, 2]\n"
        "[derived]\n'table.manifest_bytes' = 'transaction.retry * 100'\n"
    )

    assert [problem] == problems(text, override)


def test_a_base_that_is_not_there_is_told_with_its_path(problems, tmp_path):
    told = f"'{tmp_path / 'no.toml'}' does not exist. Give the path of a TOML file."

    assert [told] == problems("base = 'no.toml'\n" + AXIS, base="")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[axes]\ncatalog.type = ["cas", "append"]\nstorage.provider = ["s3", "s3x"]\n'
            "transaction.retry = [1, 2, -3]\n",
            [
                "transaction.retry = -3 (4 of 12 combinations): transaction.retry = -3 must be",
                "catalog.type = 'append', storage.provider = 's3' (3 of 12 combinations): catalog.type",
            ],
        ),
        (
            "[axes]\ntransaction.retry = [1, 2]\n[set]\n'catalog.num_tables' = -1\n",
            ["in every combination: catalog.num_tables = -1 must be"],
        ),
        (
            "[axes]\ntransaction.retry = [1, -2]\ncatalog.num_tables = [1, 0]\n"
            "[[drop]]\nwhen = 'transaction.retry == -2 and catalog.num_tables == 0'\n",
            [
                "transaction.retry = 1, catalog.num_tables = 0: ",
                "transaction.retry = -2, catalog.num_tables = 1: ",
            ],
        ),
        ("[axes]\n'transaction.retry' = { a = 1 }\n", ["axes: transaction.retry = {a = 1} must be a list"]),
        (
            "[axes]\n'transaction.retry' = [2026-01-01]\n",
            ["transaction.retry = 2026-01-01: transaction.retry = 2026-01-01 must be a whole number"],
        ),
    ],
)
def test_problems_are_told_once_with_the_values_that_cause_them(problems, text, told):
    assert [True] * len(told) == [line.startswith(one) for line, one in zip(problems(text), told, strict=True)]


@pytest.mark.parametrize(("text", "told"), GRIDS.items())
def test_a_grid_is_refused_in_one_line(problems, text, told):
    problem, *seeds = told

    assert [problem] == problems(text, seeds=seeds[0] if seeds else None)


def test_seeds_beyond_the_largest_are_refused(problems):
    largest = 2**63 - 1
    base = f"[base.simulation]\nseed = {largest}\nduration_ms = 1000\n"

    assert problems("seeds = 2\n[axes]\ntransaction.retry = [1]\n", base=base) == [
        f"2 seeds from {largest} on go beyond {largest}, the largest seed. Start lower."
    ]


def test_a_title_cannot_speak_to_the_terminal(study):
    text = '[study]\ntitle = "Wipe \\u001b[2J"\nquestion = "or \\u001b]0;x?"\n[axes]\ntransaction.retry = [1]\n'

    found = study(text)

    assert ("Wipe \ufffd[2J", "or \ufffd]0;x?") == (found.title, found.question)


# ---- the question ----------------------------------------------------------------------------------------

ASKED = """
[study]
subject = "writers"

[slo]
objective = "writers.success_rate >= 99 %"

[axes]
"source.writers.arrivals.mean_ms" = [500, 1000]

[[base.source]]
name = "writers"
arrivals = { kind = "poisson", mean_ms = 500 }
"""


def test_a_study_s_objective_and_subject_go_with_it(study, tmp_path):
    asked = study(ASKED)
    copy = tmp_path / "copy.toml"
    copy.write_text(study_text(asked))

    assert ("writers", {"objective": "writers.success_rate >= 99 %"}) == (asked.subject, asked.base["slo"])
    assert ("writers", asked.base["slo"]) == (load_study(copy).subject, load_study(copy).base["slo"])
    assert "writers.success_rate >= 99 %" == asked.expand()[0].config.slo.objective


def test_the_command_line_s_objective_stands_in_for_the_study_s(study):
    other = study(ASKED, slo="success_rate >= 90 %")

    assert "success_rate >= 90 %" == other.expand()[0].config.slo.objective
    assert [point.config_hash for point in study(ASKED).expand()] == [point.config_hash for point in other.expand()]


@pytest.mark.parametrize(
    ("given", "meant", "told"),
    [
        (
            '"writers"',
            '"wirters"',
            "study.subject = 'wirters' is no source and no kind of the study. Did you mean 'writers'?",
        ),
        ('"writers.s', '"wirters.s', "nothing is named 'wirters'. Did you mean 'writers'?"),
        ('"writers.success_rate', '"writers.sucess_rate', "Did you mean 'success_rate'?"),
        (
            '"writers.s',
            '"table.0.s',
            "'table.0.success_rate' is a figure of one table, and a study keeps none of those.",
        ),
    ],
)
def test_a_question_about_nothing_is_refused_with_the_nearest_names(problems, given, meant, told):
    assert told in problems(ASKED.replace(given, meant, 1))[0]
