"""A table whose writers did something else than is assumed: the replay names it; where nothing is planted, nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from endive.observation.folder import read_trace
from endive.observation.replay.pace import find_pace
from verification.suites.planted_causes import HIDDEN, NAMED, PLANTS, Plant, ask, write_planted

BY_NAME = {plant.name: plant for plant in PLANTS}
NOTHING = Plant(name="nothing", keys={}, cause="")


def test_a_world_that_is_as_assumed_is_explained():
    assert (HIDDEN, "") == ask(NOTHING, seed=1)


@pytest.mark.lengthy
@pytest.mark.parametrize(
    "name", [pytest.param("appends never retry", marks=pytest.mark.slow), "MERGE had read the table"]
)
def test_what_was_planted_is_named(name):
    plant = BY_NAME[name]

    assert (NAMED, plant.cause) == ask(plant, seed=1)


def test_slow_minutes_of_a_world_are_found_in_its_log_and_none_in_a_world_without(tmp_path):
    slow = write_planted(BY_NAME["three slow minutes"], 1, tmp_path / "slow")
    even = write_planted(replace(NOTHING, name="even"), 1, tmp_path / "even")

    pace = find_pace(read_trace(slow))

    minutes = {int((place + 0.5) * pace.window_ms // 60_000.0) for place, each in enumerate(pace.factors) if each > 2.0}
    assert {3, 4, 5} == minutes
    assert "" == find_pace(read_trace(even)).text
