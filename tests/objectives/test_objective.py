"""The language of objectives: what a text means, and where it stops making sense."""

import pytest

from endive.errors import ObjectiveError
from endive.objectives import DEFAULT_OBJECTIVE, NAMED_OBJECTIVES, Names, parse_objective

NAMES = Names(
    sources=("merge", "appends", "my jobs"),
    kinds=("fast_append", "validated_overwrite"),
    tables=2,
    kinds_unused=("rewrite_files",),
)


def meaning(text):
    return str(parse_objective(text, NAMES).tree)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("success_rate >= 99 %", "success_rate >= 99 %"),
        ("success_rate >= 0.99", "success_rate >= 99 %"),
        ("99.9% <= merge.success_rate", "99.9 % <= merge.success_rate"),
        ("merge.commit_latency_ms.p99 ≤ 5000ms", "merge.p99_commit <= 5 s"),
        ("appends.commit_latency_p99_ms<1h30min", "appends.p99_commit < 90 min"),
        ("kind.fast_append.retries_mean < 0.5", "fast_append.retries_mean < 0.5"),
        ("validated_overwrite.p50_total < 2min", "validated_overwrite.p50_total < 2 min"),
        ("table.1.success_rate > 50 percent", "table.1.success_rate > 50 %"),
        ('"my jobs".committed_per_s >= 10', "my jobs.committed_per_s >= 10"),
        ("all.success_rate >= 1", "success_rate >= 100 %"),
        ("p95_commit <= 2 * p50_commit", "p95_commit <= 2 * p50_commit"),
        ("counters.false_conflicts <= 3", "false_conflicts <= 3"),
        ("timeout <= 0 AND phases_ms.backoff <= 1s", "timeout <= 0 and phases_ms.backoff <= 1 s"),
    ],
)
def test_a_comparison_is_read_as_people_write_it(text, tree):
    assert tree == meaning(text)


def test_and_binds_closer_than_or_and_brackets_closest():
    text = "success_rate >= 1 or retries_mean < 1 and timeout < 1"
    grouped = "(success_rate >= 1 or retries_mean < 1) and timeout < 1"

    assert "success_rate >= 100 % or (retries_mean < 1 and timeout < 1)" == meaning(text)
    assert "(success_rate >= 100 % or retries_mean < 1) and timeout < 1" == meaning(grouped)


def test_every_asks_the_same_of_each_source_kind_or_table():
    assert (
        "merge.success_rate >= 99 % and appends.success_rate >= 99 % and my jobs.success_rate >= 99 %"
        == meaning(DEFAULT_OBJECTIVE)
        == meaning(None)
    )
    assert "table.0.success_rate > 0 % and table.1.success_rate > 0 %" == meaning("every table.success_rate > 0")
    assert (
        "fast_append.p95_commit <= 2 * fast_append.p50_commit and "
        "validated_overwrite.p95_commit <= 2 * validated_overwrite.p50_commit"
    ) == meaning("every kind.p95_commit <= 2 * every kind.p50_commit")


def test_the_older_rule_is_an_objective_by_name():
    assert {"unsaturated"} == set(NAMED_OBJECTIVES)
    assert "success_rate >= 95 % and p95_commit <= 2 * p50_commit" == meaning("unsaturated")


def test_an_objective_knows_the_figures_it_speaks_of_each_once():
    objective = parse_objective("merge.p95_commit <= 2 * merge.p50_commit and merge.p95_commit < 1s", NAMES)

    assert ["merge.p95_commit", "merge.p50_commit"] == [str(subject) for subject in objective.subjects]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("mrege.success_rate >= 1", "at character 1: nothing is named 'mrege'. Did you mean 'merge'?"),
        ("merge.sucess_rate >= 1", "'sucess_rate' is no field of a result. Did you mean 'success_rate'?"),
        ("p95 < 1s", "'p95' is no field of a result. Did you mean 'p95_commit' or 'p95_total' or"),
        ("source.merg.success_rate > 0", "no source is named 'merg'. Did you mean 'merge'?"),
        ("table.2.success_rate > 0", "there is no table 2. Tables are numbered from 0 to 1."),
        ("rewrite_files.success_rate > 0", "no source does a 'rewrite_files'. Kinds here are: fast_append,"),
        ("merge > 0", "'merge' at character 1: a field is missing"),
        ("every thing.success_rate > 0", "'every' is followed by source, kind or table"),
        ("success_rate >= 99", "'99' at character 17 is more than all: success_rate is a share. Write 99 %."),
        ("p99_commit <= 5", "'5' at character 15 needs a unit: p99_commit is a duration. Write 5ms or 5s."),
        ("success_rate >= 5s", "'5 s' at character 17 is a duration, but success_rate is a share."),
        ("success_rate >= p99_commit", "compares a share with a duration."),
        ("1 < 2", "compares two numbers; name a figure."),
        ("success_rate", "At character 13 the objective ends; expected one of <=, >=, <, >."),
        ("success_rate >=", "At character 16 the objective ends; expected a figure"),
        ("(success_rate > 0", "At character 18 the objective ends; expected ')'."),
        ("success_rate > 0 success_rate", "At character 18 found 'success_rate'; expected 'and', 'or' or the end."),
        (
            "p99_commit <= 2s * p50_commit",
            "found '*'; expected a comparison: only a plain number can multiply a figure.",
        ),
        ("success_rate = 1", "'=' at character 14 is not part of an objective."),
        ("\x1b[2J", r"'\x1b' at character 1 is not part of an objective."),
        ("\udcff", r"'\udcff' at character 1 is not part of an objective."),  # a byte that is no text
        ("", "The objective is empty."),
        ("(" * 60 + "success_rate > 0" + ")" * 60, "Brackets are nested more than 50 deep."),
    ],
)
def test_what_makes_no_sense_is_refused_with_place_and_remedy(text, problem):
    with pytest.raises(ObjectiveError) as refused:
        parse_objective(text, NAMES)

    assert problem in str(refused.value)
