"""Verdicts in words: what was found, on how many txns, and how many would tell."""

import math

import pytest

from endive.answers.compare import signed_estimate
from endive.objectives import Estimate, Names, field_at, judge, parse_objective
from endive.objectives.certainty import more_txns
from endive.objectives.intervals import wilson
from endive.objectives.student import normal_z
from endive.objectives.verdict_text import describe_verdict, estimate_text, figure_text

NAMES = Names(sources=("a",), kinds=("fast_append",))


COMMITTED_PER_S = field_at("committed_per_s")
assert COMMITTED_PER_S is not None


def part_of(text, found):
    (part,) = judge(parse_objective(text, NAMES), lambda _: found).parts
    return part


def judged(text, share, txns):
    low, high = wilson(share, txns, normal_z())
    return part_of(text, Estimate(share, low, high, txns))


def test_too_few_txns_are_told_with_how_many_would_do():
    said = describe_verdict(judged("a.success_rate >= 99 %", 1.0, 3))

    assert (
        "a.success_rate >= 99 %: inconclusive (needs about 380 more transactions); it is 100 % [43.9, 100] of 3 txns"
        == said
    )


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        (
            "a.success_rate >= 99 %",
            Estimate(0.5, txns=800, runs=1),
            "(one run has no interval); it is 50.0 % of 800 txns",
        ),
        ("a.success_rate >= 99 %", Estimate(None, txns=0), "(no transaction ended in the window)"),
        ("a.p95_commit <= 5 s", Estimate(None, txns=0), "(no transaction committed in the window)"),
    ],
)
def test_one_run_and_a_part_without_a_txn_cannot_tell(text, found, said):
    assert f"{text}: inconclusive {said}" == describe_verdict(part_of(text, found))


def test_txns_that_tell_less_than_one_each_are_needed_in_larger_number():
    part = part_of("a.success_rate >= 99 %", Estimate(1.0, 0.98, 1.0, 1_000, 16, 4.0))

    assert 530 == more_txns(part)  # 4 * 1.96^2 * 0.99 / 0.01 - 1000 = 521


@pytest.mark.parametrize(("end", "more"), [(6_000.0, 300), (math.inf, 100)])
def test_a_latency_is_told_by_as_many_more_as_bring_its_interval_to_the_limit(end, more):
    part = part_of("a.p50_commit <= 5s", Estimate(4_000.0, 3_000.0, end, 100, 16))

    assert more == more_txns(part)  # the reach is to fall to a half, so four times as many; or twice, if unbounded


@pytest.mark.parametrize(("share", "limit"), [(1.0, 99), (0.97, 95), (0.93, 95), (0.5, 60)])
def test_so_many_tell_and_a_tenth_fewer_do_not(share, limit):
    objective = f"a.success_rate >= {limit} %"
    needed = 5 + more_txns(judged(objective, share, 5))

    assert judged(objective, share, needed).outcome != "cannot tell"
    assert judged(objective, share, int(0.9 * needed)).outcome == "cannot tell"


def test_what_is_told_already_or_lies_on_its_limit_needs_no_number():
    assert None is more_txns(judged("a.success_rate >= 50 %", 1.0, 500))
    assert None is more_txns(judged("a.success_rate >= 50 %", 0.5, 500))
    assert None is more_txns(judged("a.success_rate >= 50 %", 0.5001, 10))


@pytest.mark.parametrize(
    ("per_s", "said"), [(0.01, "0.010 /s"), (0.001, "3.600 /h"), (1 / 3600, "1 /h"), (0.0, "0 /s")]
)
def test_what_is_rare_is_counted_per_hour(per_s, said):
    assert said == figure_text(COMMITTED_PER_S, per_s)


def test_an_interval_has_one_unit_that_of_its_largest_figure():
    assert "0.015 /s [0.002 /s, 0.030 /s]" == estimate_text(COMMITTED_PER_S, Estimate(0.015, 0.002, 0.03))
    assert "-0.015 /s [-0.032 /s, +0.002 /s]" == signed_estimate(COMMITTED_PER_S, Estimate(-0.015, -0.032, 0.002))
