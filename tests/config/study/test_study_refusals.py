"""What is wrong with a study is told once, with the values that cause it; and what it is asked goes with it."""

import tomllib
from pathlib import Path

import pytest

from endive.config.study import load_study
from endive.config.study.study_text import study_text
from endive.errors import ConfigError

GRIDS = tomllib.loads((Path(__file__).parent / "refused_grids.toml").read_text(encoding="utf-8"))


def problems(load, *arguments, **options) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(*arguments, **options).expand()
    return list(caught.value.problems)


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
    ],
)
def test_problems_of_many_combinations_are_told_once_with_the_values_that_cause_them(study, text, told):
    assert [True] * len(told) == [line.startswith(one) for line, one in zip(problems(study, text), told, strict=True)]


def test_a_problem_of_one_combination_is_told_with_all_its_values(study):
    both = "transaction.retry == -2 and catalog.num_tables == 0"
    axes = "[axes]\ntransaction.retry = [1, -2]\ncatalog.num_tables = [1, 0]\n"
    found = problems(study, f"{axes}[[drop]]\nwhen = '{both}'\n")

    assert [line.partition(": ")[0] for line in found] == [
        "transaction.retry = 1, catalog.num_tables = 0",
        "transaction.retry = -2, catalog.num_tables = 1",
    ]


@pytest.mark.parametrize(("text", "told"), GRIDS.items())
def test_a_grid_is_refused_in_one_line(study, text, told):
    problem, *seeds = told

    assert [problem] == problems(study, text, seeds=seeds[0] if seeds else None)


def test_seeds_beyond_the_largest_are_refused(study):
    largest = 2**63 - 1
    base = f"[base.simulation]\nseed = {largest}\nduration_ms = 1000\n"

    assert problems(study, "seeds = 2\n[axes]\ntransaction.retry = [1]\n", base=base) == [
        f"2 seeds from {largest} on go beyond {largest}, the largest seed. Start lower."
    ]


@pytest.mark.parametrize(
    ("axis", "told"),
    [
        ("'transaction.retry' = { a = 1 }", "axes: transaction.retry = {a = 1} must be a list"),
        ("'transaction.retry' = { log = [5e-324, 1, 3] }", "needs two different ends above 0, at least 1e-12"),
        ("'transaction.retry' = { range = [0, 1, 5e-324] }", "needs a step of at least 1e-12"),
    ],
)
def test_an_axis_that_says_no_values_is_told_so(study, axis, told):
    found = problems(study, f"[axes]\n{axis}\n")

    assert any(told in problem for problem in found), found


def test_a_date_is_told_as_the_value_it_was_written_as(study):
    found = problems(study, "[axes]\n'transaction.retry' = [2026-01-01]\n")

    assert "transaction.retry = 2026-01-01 must be a whole number from 0 to 10000000." in found[0]


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
def test_a_question_about_nothing_is_refused_with_the_nearest_names(study, given, meant, told):
    with pytest.raises(ConfigError) as caught:
        study(ASKED.replace(given, meant, 1)).expand()

    assert told in str(caught.value)
