"""What is wrong with a study is told once, with the values that cause it; and what it is asked goes with it."""

from __future__ import annotations

import pytest

from endive.config.study import load_study
from endive.config.study.study import COMBINATIONS_MAX
from endive.config.study.study_text import study_text
from endive.errors import ConfigError


def problems(load, *arguments, **options) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(*arguments, **options).expand()
    return list(caught.value.problems)


def test_problems_of_many_combinations_are_told_once_with_the_values_that_cause_them(study):
    text = """
[axes]
catalog.type = ["cas", "append"]
storage.provider = ["s3", "s3x"]
transaction.retry = [1, 2, -3]
"""
    found = problems(study, text)
    assert len(found) == 2
    assert found[0].startswith("transaction.retry = -3 (4 of 12 combinations): transaction.retry = -3 must be")
    assert found[1].startswith("catalog.type = 'append', storage.provider = 's3' (3 of 12 combinations): catalog.type")


def test_a_problem_of_every_combination_says_so(study):
    found = problems(study, "[axes]\ntransaction.retry = [1, 2]\n[set]\n'catalog.num_tables' = -1\n")

    assert len(found) == 1
    assert found[0].startswith("in every combination: catalog.num_tables = -1 must be")


def test_a_problem_of_one_combination_is_told_with_all_its_values(study):
    both = "transaction.retry == -2 and catalog.num_tables == 0"
    axes = "[axes]\ntransaction.retry = [1, -2]\ncatalog.num_tables = [1, 0]\n"
    found = problems(study, f"{axes}[[drop]]\nwhen = '{both}'\n")

    assert [line.partition(": ")[0] for line in found] == [
        "transaction.retry = 1, catalog.num_tables = 0",
        "transaction.retry = -2, catalog.num_tables = 1",
    ]


def test_two_names_for_one_simulation_are_a_problem(study):
    text = "[axes]\nload = [1, 2]\ntransaction.retry = [3]\n[derived]\n'catalog.num_tables' = '1 + 0 * load'\n"

    assert problems(study, text) == [
        "load = 1, transaction.retry = 3, catalog.num_tables = 1 and load = 2, transaction.retry = 3, "
        "catalog.num_tables = 1 are the same simulation. Drop one of them, or remove the axis that changes nothing."
    ]


def test_conditions_that_drop_everything_leave_an_empty_grid(study):
    found = problems(study, "[axes]\ntransaction.retry = [1]\n[[drop]]\nwhen = 'transaction.retry > 0'\n")

    assert found == ["The grid is empty: the [[drop]] conditions leave no combination."]


def test_a_condition_must_be_true_or_false(study):
    found = problems(study, "[axes]\ntransaction.retry = [1]\n[[drop]]\nwhen = 'transaction.retry'\n")

    assert found == ["transaction.retry = 1: drop: when = 'transaction.retry' is 1, not true or false."]


def test_a_grid_beyond_reason_is_refused_without_being_expanded(study):
    text = "[axes]\n" + "\n".join(
        f"'{key}' = {{ range = [1, 1000, 1] }}"
        for key in ("transaction.retry", "catalog.num_tables", "table.manifest_bytes")
    )

    assert problems(study, text) == [
        f"The grid has 1,000,000,000 combinations; the limit is {COMBINATIONS_MAX:,}. "
        "Give axes fewer values, or link axes that move together."
    ]


def test_more_seeds_than_anybody_means_are_refused_before_they_are_counted(study):
    found = problems(study, "[axes]\ntransaction.retry = [1]\n", seeds=200_000_000)

    assert found == ["--seeds 200000000 must be a count from 1 to 100,000."]


def test_points_times_seeds_are_refused_before_they_are_expanded(study):
    found = problems(study, "[axes]\ntransaction.retry = { range = [1, 100, 1] }\n", seeds=100_000)

    assert found == [
        "100 points times 100,000 seeds are 10,000,000 runs; the limit is 1,000,000. "
        "Give fewer seeds, or axes with fewer values."
    ]


def test_seeds_beyond_the_largest_are_refused(study):
    largest = 2**63 - 1
    text = f"seeds = 2\n[axes]\ntransaction.retry = [1]\n[base.simulation]\nseed = {largest}\nduration_ms = 1000\n"

    assert problems(study, text, base="") == [
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
    other = study(ASKED).with_objective("success_rate >= 90 %")

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
