"""The verdict: what intervals decide, and how comparisons join."""

import pytest

from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, Names, judge, parse_objective

NAMES = Names(sources=("a", "b"), kinds=("fast_append",))
SURE = {"a": Estimate(0.99, 0.98, 1.0), "b": Estimate(0.5, 0.4, 0.6)}
DOUBT = Estimate(0.95, 0.90, 0.97)


def verdict(text, **estimates):
    objective = parse_objective(text, NAMES)
    return judge(objective, lambda subject: {**SURE, **estimates}[subject.name])


@pytest.mark.parametrize(
    ("text", "outcome", "holds"),
    [
        ("a.success_rate >= 98 %", MET, True),
        ("a.success_rate > 98 %", CANNOT_TELL, True),
        ("a.success_rate >= 99 %", CANNOT_TELL, True),
        ("b.success_rate >= 60 %", CANNOT_TELL, False),
        ("b.success_rate > 60 %", NOT_MET, False),
        ("b.success_rate <= 60 %", MET, True),
        ("b.success_rate < 40 %", NOT_MET, False),
        ("98 % <= a.success_rate", MET, True),
        ("b.success_rate <= 1 * a.success_rate", MET, True),
        ("a.success_rate <= 1 * b.success_rate", NOT_MET, False),
        ("a.success_rate <= 2 * b.success_rate", CANNOT_TELL, True),
        ("a.success_rate >= 2 * b.success_rate", CANNOT_TELL, False),
        ("a.success_rate >= 1.5 * b.success_rate", MET, True),
    ],
)
def test_a_comparison_is_met_only_if_it_holds_in_the_whole_interval(text, outcome, holds):
    found = verdict(text)

    assert (outcome, holds) == (found.outcome, found.holds)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("a.success_rate >= 98 % and b.success_rate >= 40 %", MET),
        ("a.success_rate >= 98 % and b.success_rate >= 50 %", CANNOT_TELL),
        ("b.success_rate >= 50 % and b.success_rate >= 70 %", NOT_MET),
        ("b.success_rate >= 50 % or a.success_rate >= 98 %", MET),
        ("b.success_rate >= 50 % or b.success_rate >= 70 %", CANNOT_TELL),
        ("b.success_rate >= 80 % or b.success_rate >= 70 %", NOT_MET),
    ],
)
def test_doubt_stays_doubt_unless_the_other_side_decides(text, outcome):
    assert outcome == verdict(text).outcome


def test_a_figure_that_was_not_measured_cannot_be_judged():
    found = verdict("a.success_rate >= 1 %", a=Estimate(None))

    assert (CANNOT_TELL, None) == (found.outcome, found.holds)


def test_the_decisive_comparisons_are_those_that_fail():
    found = verdict("a.success_rate >= 98 % and b.success_rate >= 90 % and a.success_rate >= 99 %")

    assert ["b.success_rate >= 90 %"] == [str(part.comparison) for part in found.decisive]
