"""What was recorded from PyIceberg, and how it is compared."""

from __future__ import annotations

from collections import Counter

import pytest

from verification.suites.pyiceberg.pyiceberg_requests import checks_of, recording, requests_text, story_of
from verification.suites.pyiceberg.stories import (
    BEHIND,
    DELETE,
    FAST_APPEND,
    RIVALS_DELETE,
    Scenario,
    beyond_the_model,
    scenarios,
)

RECORDED = {key: story_of(story) for key, story in recording()["scenarios"].items()}


def test_every_scenario_was_recorded_and_nothing_else():
    assert {story.key for story in (*scenarios(), *beyond_the_model())} == set(RECORDED)


@pytest.mark.parametrize("behind", BEHIND)
def test_pyiceberg_does_not_refresh_first(behind):
    """An append that is behind loses its first attempt, before it writes any metadata; the second one commits."""
    attempts = RECORDED[Scenario(operation=FAST_APPEND, behind=behind).key]["attempts"]

    is_behind = behind > 0
    assert 1 + is_behind == len(attempts) - 1
    assert ([0, 1] if is_behind else [1]) == [attempt["metadata.write"] for attempt in attempts[1:]]


@pytest.mark.parametrize("behind", BEHIND[1:])
def test_pyiceberg_reads_the_list_of_a_delete_four_times_and_its_manifests_twice(behind):
    retry = RECORDED[Scenario(operation=DELETE, behind=behind, rivals=RIVALS_DELETE).key]["attempts"][2]

    assert 4 * behind + 1 == retry["manifest_list.read"]
    assert 2 * 2 * behind + 1 == retry["manifest.read"]  # a delete leaves two manifests: the rest, and what it removed


def test_a_request_too_many_is_wrong():
    scenario = Scenario(operation=FAST_APPEND)
    recorded = RECORDED[scenario.key]
    attempts = [Counter(attempt) for attempt in recorded["attempts"]]
    attempts[1]["metadata.read"] += 1

    checks = checks_of(scenario, recorded, {**recorded, "attempts": attempts})

    assert [True, True, False] == [check.holds for check in checks]  # how it ended, the load, the attempt


def test_an_attempt_too_few_is_wrong():
    scenario = Scenario(operation=FAST_APPEND, behind=1)
    recorded = RECORDED[scenario.key]

    checks = checks_of(scenario, recorded, {**recorded, "attempts": recorded["attempts"][:2]})

    assert ["no such attempt"] == [check.actual for check in checks if not check.holds]


def test_requests_are_told_by_object_and_letter():
    requests = Counter({"manifest_list.read": 5, "catalog.cas": 1, "catalog.read": 2, "manifest_list.head": 0})

    assert "catalog 2R 1S, manifest list 5R" == requests_text(requests)
