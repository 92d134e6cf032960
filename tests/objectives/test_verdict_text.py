"""Verdicts in words: what was found, on how many txns, and how many would tell."""

import pytest

from endive.answers.intervals import wilson
from endive.objectives import Estimate, Names, judge, parse_objective
from endive.objectives.verdict_text import NORMAL_95, judged_text, txns_to_tell

NAMES = Names(sources=("a",), kinds=("fast_append",))


def judged(text, share, txns):
    low, high = wilson(share, txns, NORMAL_95)
    (part,) = judge(parse_objective(text, NAMES), lambda _: Estimate(share, low, high, txns)).parts
    return part


def test_too_few_txns_are_told_with_how_many_would_do():
    said = judged_text(judged("a.success_rate >= 99 %", 1.0, 3))

    assert "a.success_rate >= 99 %: cannot tell; it is 100.0 % [43.8, 100.0] of 3 txns; about 390 would tell" == said


@pytest.mark.parametrize(("share", "limit"), [(1.0, 99), (0.97, 95), (0.93, 95), (0.5, 60)])
def test_so_many_tell_and_a_tenth_fewer_do_not(share, limit):
    objective = f"a.success_rate >= {limit} %"
    needed = txns_to_tell(judged(objective, share, 5))

    assert judged(objective, share, needed).outcome != "cannot tell"
    assert judged(objective, share, int(0.9 * needed)).outcome == "cannot tell"


def test_what_is_told_already_or_lies_on_its_limit_needs_no_number():
    assert None is txns_to_tell(judged("a.success_rate >= 50 %", 1.0, 500))
    assert None is txns_to_tell(judged("a.success_rate >= 50 %", 0.5, 500))
    assert None is txns_to_tell(judged("a.success_rate >= 50 %", 0.5001, 10))
