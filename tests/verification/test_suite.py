"""Checks judge, outcomes count: what every suite answers with."""

from __future__ import annotations

import math

from endive.verification import Check, Outcome, skipped
from endive.verification.texts import allowed_text, cell_text, error_text, value_text

CELL = {"store": "s3", "clients": 4}


def rate(actual: float, allowed: float | None = 0.05) -> Check:
    return Check.relative("rate", CELL, expected=20.0, actual=actual, allowed=allowed)


def test_a_relative_error_counts_against_the_expected_value_with_its_sign():
    assert -0.05 == round(rate(19.0).error, 12)
    assert ("right", "wrong") == (rate(19.01).verdict, rate(18.99).verdict)


def test_points_are_a_difference_of_percentages():
    check = Check.points("share", CELL, expected=71.5, actual=74.5, allowed=3.0)

    assert (3.0, "right") == (check.error, check.verdict)
    assert "wrong" == Check.points("share", CELL, expected=71.5, actual=74.6, allowed=3.0).verdict


def test_an_exact_check_is_equal_or_wrong():
    assert "right" == Check.exact("requests", CELL, expected=3, actual=3).verdict
    assert "wrong" == Check.exact("requests", CELL, expected=3, actual=4).verdict


def test_without_a_limit_a_pair_is_shown_and_not_judged():
    assert ("shown", True) == (rate(40.0, None).verdict, rate(40.0, None).holds)


def test_a_number_that_is_none_does_not_hold():
    assert "wrong" == rate(math.nan).verdict
    assert "wrong" == Check.relative("rate", CELL, expected=0.0, actual=1.0, allowed=0.5).verdict


def test_nothing_expected_and_nothing_found_is_no_error():
    assert 0.0 == Check.relative("rate", CELL, expected=0.0, actual=0.0, allowed=0.0).error


def test_an_outcome_counts_its_verdicts_and_holds_while_nothing_is_wrong():
    good = Outcome(suite="theory", checks=(rate(20.0), rate(20.0, None)))
    bad = Outcome(suite="theory", checks=(rate(20.0), rate(30.0)))

    assert (True, 1, 0, 1) == (good.holds, *(good.count(verdict) for verdict in ("right", "wrong", "shown")))
    assert (False, 1, 1, 0) == (bad.holds, *(bad.count(verdict) for verdict in ("right", "wrong", "shown")))
    assert ["right", "wrong"] == [check["verdict"] for check in bad.to_dict()["checks"]]


def test_a_skipped_suite_says_why_and_is_not_wrong():
    outcome = skipped("requests", "no Java. Install one.", part="java")

    assert ("no Java. Install one.", "java", True) == (outcome.skipped, outcome.part, outcome.holds)


def test_texts_round_to_four_digits_and_name_the_cell():
    assert ["0", "1.235", "12,346", "0.01235", "7,001", "-", "yes", "none"] == [
        value_text(value) for value in (0.0, 1.23456, 12345.6, 0.0123456, 7001, None, True, math.nan)
    ]
    assert "store s3, clients 4" == cell_text(rate(19.0))
    assert ("-5.00 %", "5 %") == (error_text(rate(19.0)), allowed_text(rate(19.0)))
    check = Check.points("share", CELL, expected=1.0, actual=2.0, allowed=3.0)
    assert ("+1.00 points", "3 points") == (error_text(check), allowed_text(check))
