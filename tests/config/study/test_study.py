"""A study: what it expands to."""

from __future__ import annotations

from pathlib import Path

import pytest

from endive.config import parse_config
from endive.config.study import load_study, run_identity
from endive.config.study.study import COMBINATIONS_MAX
from endive.config.study.study_text import study_text
from endive.errors import ConfigError

BASE = """
[base.simulation]
duration_ms = 60_000
seed = 7
"""


@pytest.fixture
def study(tmp_path: Path):
    """``study(text, "key=value", seeds=3)``: a study file of that text on a small base, read."""

    def load(text: str, *overrides: str, seeds: int | None = None, base: str = BASE):
        path = tmp_path / "my-study.toml"
        path.write_text(text + base)
        return load_study(path, overrides, seeds)

    return load


def combinations(study) -> list[tuple]:
    return [tuple(point.values.values()) for point in study.expand()]


# ---- the grid ------------------------------------------------------------------------------------------


def test_axes_are_crossed_and_the_last_varies_fastest(study):
    found = study("[axes]\ntransaction.retry = [1, 2]\ncatalog.num_tables = [1, 5, 10]\n")

    assert combinations(found) == [(1, 1), (1, 5), (1, 10), (2, 1), (2, 5), (2, 10)]
    assert [point.index for point in found.expand()] == [0, 1, 2, 3, 4, 5]


def test_a_points_configuration_is_the_base_with_its_values(study):
    point = study("[axes]\ntransaction.retry = [1, 2]\n").expand()[1]

    alone = parse_config({"simulation": {"duration_ms": 60_000, "seed": 7}, "transaction": {"retry": 2}})
    assert point.config == alone
    assert point.config_hash == alone.config_hash()


def test_a_linked_name_says_what_the_values_of_a_key_are(study):
    found = study("[[linked]]\nhow = ['few', 'many']\ntransaction.retry = [1, 9]\n").expand()

    assert [{"how": "few", "transaction.retry": 1}, {"how": "many", "transaction.retry": 9}] == [
        dict(point.values) for point in found
    ]
    assert [1, 9] == [point.config.sources[0].retry for point in found]


def test_linked_axes_move_together(study):
    text = """
[axes]
transaction.retry = [1, 2]
[[linked]]
catalog.num_tables = [1, 5]
catalog.object_base_bytes = [100, 500]
"""
    assert combinations(study(text)) == [(1, 1, 100), (1, 5, 500), (2, 1, 100), (2, 5, 500)]


def test_points_come_beside_the_grid(study):
    text = """
[axes]
transaction.retry = [1, 2]
[[point]]
transaction.retry = 9
catalog.num_tables = 3
"""
    found = study(text)
    assert combinations(found) == [(1,), (2,), (9, 3)]
    assert found.columns == ("transaction.retry", "catalog.num_tables")


def test_points_alone_are_a_grid(study):
    text = (
        '[[point]]\ntransaction.retry = 1\n[[point]]\n"transaction.runtime" = { mean = 5000, sigma = 1.0, min = 0 }\n'
    )
    found = study(text).expand()

    assert found[1].values == {"transaction.runtime": {"mean": 5000, "sigma": 1.0, "min": 0}}


def test_a_point_that_repeats_one_of_the_grid_is_the_same_point(study):
    assert combinations(study("[axes]\ntransaction.retry = [1, 2]\n[[point]]\ntransaction.retry = 2\n")) == [(1,), (2,)]


def test_derived_values_follow_the_axes_and_each_other(study):
    text = """
[axes]
per_s = [1, 4]
[derived]
"transaction.inter_arrival.scale" = "1000 / per_s"
"transaction.retry" = "int(transaction.inter_arrival.scale / 100)"
"""
    found = study(text).expand()
    assert [dict(point.values) for point in found] == [
        {"per_s": 1, "transaction.inter_arrival.scale": 1000.0, "transaction.retry": 10},
        {"per_s": 4, "transaction.inter_arrival.scale": 250.0, "transaction.retry": 2},
    ]
    assert [point.config.sources[0].arrivals.mean_ms for point in found] == [1000.0, 250.0]


def test_a_point_may_give_what_is_derived_elsewhere(study):
    text = """
[axes]
catalog.num_tables = [2]
[derived]
"transaction.retry" = "catalog.num_tables * 2"
[[point]]
catalog.num_tables = 3
transaction.retry = 1
"""
    assert combinations(study(text)) == [(2, 4), (3, 1)]


def test_conditions_drop_combinations(study):
    text = """
[axes]
transaction.retry = [1, 2, 3]
catalog.num_tables = [1, 2]
[[drop]]
when = "transaction.retry == 3 and catalog.num_tables > 1"
because = "slow"
[[drop]]
when = "transaction.retry < 2"
"""
    assert combinations(study(text)) == [(2, 1), (2, 2), (3, 1)]


def test_a_condition_on_an_axis_a_point_leaves_to_the_base_sees_nothing(study):
    text = """
[axes]
catalog.num_tables = [2]
[[point]]
transaction.retry = 5
[[drop]]
when = "catalog.num_tables == 2"
"""
    assert combinations(study(text)) == [(5,)]


# ---- seeds and identity --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "count", "expected"),
    [
        ("", None, (7,)),
        ("seeds = 3", None, (7, 8, 9)),
        ("seeds = [5, 1]", None, (5, 1)),
        ("seeds = 3", 2, (7, 8)),
        ("seeds = [5, 1]", 2, (5, 6)),
        ("[study]\nseeds = 2", None, (7, 8)),
    ],
)
def test_seeds_are_a_list_or_begin_with_the_bases_own(study, line, count, expected):
    assert expected == study(f"{line}\n[axes]\ntransaction.retry = [1]\n", seeds=count).seeds


def test_a_run_is_named_by_configuration_seed_and_model_version():
    names = {run_identity(config, seed, model) for config in ("a", "b") for seed in (1, 2) for model in (1, 2)}

    assert len(names) == 8
    assert run_identity("a", 1, 1) == "544362cf709b8ce7"


# ---- base, [set] and --set -----------------------------------------------------------------------------


def test_the_base_may_be_a_file_beside_the_study(tmp_path):
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "base.toml").write_text("[transaction]\nretry = 9\n[storage]\nprovider = 'mine.toml'\n")
    (tmp_path / "s.toml").write_text("base = 'configs/base.toml'\n[axes]\ncatalog.num_tables = [1]\n")

    base = load_study(tmp_path / "s.toml").base
    assert base["transaction"] == {"retry": 9}
    assert base["storage"] == {"provider": str(tmp_path / "configs" / "mine.toml")}


def test_set_changes_the_base_and_the_command_line_changes_it_again(study):
    text = "[axes]\ncatalog.num_tables = [1]\n[set]\ntransaction.retry = 3\ncatalog.object_base_bytes = 9\n"

    base = study(text, "transaction.retry=5").base
    assert (base["transaction"], base["catalog"]) == ({"retry": 5}, {"object_base_bytes": 9})


@pytest.mark.parametrize(
    ("override", "expected"), [("transaction.retry=[5, 6]", [(5,), (6,)]), ("transaction.retry=5", [(5,)])]
)
def test_the_command_line_replaces_the_values_of_an_axis(study, override, expected):
    assert expected == combinations(study("[axes]\ntransaction.retry = [1, 2]\n", override))


def test_a_trace_is_found_from_wherever_the_study_is_read(tmp_path):
    (tmp_path / "log.csv").write_text("submit_ms\n0\n")
    (tmp_path / "s.toml").write_text(
        "[axes]\ntransaction.retry = [1, 2]\n"
        "[[base.source]]\nname = 'replay'\narrivals = { kind = 'trace', path = 'log.csv' }\n"
    )

    points = load_study(tmp_path / "s.toml").expand()
    assert points[0].config.sources[0].arrivals.path == str(tmp_path / "log.csv")


# ---- the study as text ---------------------------------------------------------------------------------


def test_a_study_written_down_reads_back_as_an_equal_study(study, tmp_path):
    text = """
seeds = [3, 4]
[study]
name = "full"
title = "All of it"
question = "Does \\"everything\\" come back?"
look_for = "equality"
report = { x = "transaction.inter_arrival.scale", series = "load", metrics = ["success_rate"] }
[axes]
transaction.inter_arrival.scale = { log = [10, 1000, 4] }
load = [1, 2]
[[linked]]
catalog.num_tables = [1, 5]
"source.\\"the writers\\".retry" = [1, 2]
[[point]]
catalog.num_tables = 3
load = 9
[derived]
"table.manifest_bytes" = "load * 1000"
[[drop]]
when = "load > 100"
because = "never"
"""
    source = '[[base.source]]\nname = "the writers"\narrivals = { kind = "poisson", mean_ms = 500 }\n'
    found = study(text, base=BASE + source)
    copy = tmp_path / "copy.toml"
    copy.write_text(study_text(found))
    assert load_study(copy) == found


# ---- problems ------------------------------------------------------------------------------------------


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
