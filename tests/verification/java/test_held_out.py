"""Pairs that a die threw: always the same ones, none that a sheet has, and the model is held to what was recorded."""

from __future__ import annotations

import pytest

from verification.suites.java import modelled_pair
from verification.suites.java.held_out import THROWS, WHAT, throw
from verification.suites.java.java_pairs import compare
from verification.suites.java.pair_recording import read_pairs
from verification.suites.java.pair_sheets import all_pairs
from verification.suites.java.request_recording import NEWEST

RECORDED = read_pairs(NEWEST, what=WHAT).pairs
NEVER_CAME = "expire_snapshots / delete_files, another partition / 3 during / rest"  # its rivals, on the stage of then


def test_what_was_thrown_was_recorded_and_no_sheet_has_it():
    keys = {pair.key for pair in throw()}

    assert sum(THROWS.values()) == len(keys)
    assert {NEVER_CAME} == keys - set(RECORDED)
    assert set() == set(RECORDED) - keys
    assert set() == keys & {pair.key for pair in all_pairs()}


@pytest.mark.lengthy
def test_every_sixth_is_right():
    pairs = [pair for pair in throw()[::6] if modelled_pair.configuration(pair) is not None]

    assert [] == [
        pair.key
        for pair in pairs
        if pair.key in RECORDED and not compare(pair, RECORDED[pair.key], modelled_pair.play(pair, NEWEST)).holds
    ]


def test_a_second_rival_decides_as_the_first_does():
    pair = next(
        each
        for each in throw()
        if each.second is not None
        and each.second.touches == "a file the victim touches"
        and RECORDED[each.key].recorded.outcome == "validation_exception"
        and modelled_pair.configuration(each) is not None
    )

    assert "validation_exception" == modelled_pair.play(pair, NEWEST).outcome
