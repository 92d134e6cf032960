"""Slices of a txn's time: every phase gets what the run's own record says it took."""

import pytest

from endive.answers.stories.journal import journal_of
from endive.answers.stories.story import Attempt, Step, Stories, Story
from endive.config import parse_config
from endive.explore.timeline.slices import COLOURS, WORK, slices_of
from endive.report.words import PHASE_NAMES


@pytest.fixture(scope="module")
def stories():
    config = parse_config(
        {
            "simulation": {"duration_ms": "3min", "warmup_ms": 0, "cooldown_ms": 0, "seed": 3},
            "storage": {"provider": "s3"},
            "catalog": {"type": "service", "latency_ms": 5.0},
            "source": [
                {
                    "name": "writers",
                    "operation_types": {"fast_append": 1.0},
                    "runtime": {"distribution": "fixed", "ms": 2_000.0},
                    "arrivals": {"kind": "closed", "clients": 8, "think_ms": 1_000.0},
                },
                {
                    "name": "merge",
                    "operation_types": {"validated_overwrite": 1.0},
                    "runtime": {"distribution": "fixed", "ms": 20_000.0},
                    "arrivals": {"kind": "periodic", "period_ms": 30_000.0},
                },
            ],
        }
    )
    journal, result = journal_of(config, 3)
    records = result.transactions.to_pylist()
    told = Stories(journal, {record["txn_id"]: record for record in records})
    return [told.of(record["txn_id"]) for record in records if record["status"] != "in_flight"]


def totals_ms(story):
    found = dict.fromkeys([WORK, *PHASE_NAMES.values()], 0.0)
    for part in slices_of(story):
        found[part.phase] += (part.end_us - part.begin_us) / 1000.0
    return {name: pytest.approx(ms, abs=0.01) for name, ms in found.items()}


def test_slices_follow_one_another_without_a_gap_from_submission_to_end(stories):
    for story in stories:
        parts = slices_of(story)
        assert pytest.approx(story.record["submit_ms"]) == parts[0].begin_us / 1000.0
        assert pytest.approx(story.record["end_ms"]) == parts[-1].end_us / 1000.0
        assert [part.end_us for part in parts[:-1]] == [part.begin_us for part in parts[1:]]


PHASES = ("history", "backoff", "metadata", "commit", "catalog_read", "manifests", "manifest_list")


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_has_the_time_that_the_record_bills_to_it(stories, phase):
    told = [totals_ms(story)[PHASE_NAMES[phase]] for story in stories]

    assert [story.record[f"phase_{phase}_ms"] for story in stories] == told
    assert any(story.record[f"phase_{phase}_ms"] for story in stories)


def test_phases_have_the_names_and_colours_of_the_report():
    assert list(PHASE_NAMES.values()) == list(COLOURS)
    assert "var(--c0)" == COLOURS["newest version looked up"]


def attempt(number, *steps, begin_us):
    parts, at_us = [], begin_us
    for what, count in steps:
        parts.append(Step(at_us, at_us + 10, what, count))
        at_us += 10
    times_us = {"begin_us": begin_us, "end_us": at_us, "base_us": begin_us, "decided_us": at_us, "given_up_us": None}
    fate = {"is_installed": False, "failed_of": None, "is_given_up": False, "rivals": (), "seq": None, "checks": 0}
    return Attempt(number=number, steps=tuple(parts), **times_us, **fate)


def test_the_current_list_is_read_after_the_history_and_is_none_of_it():
    story = Story(
        {"submit_ms": 0.0, "commit_start_ms": None, "history_lists": 3},
        (
            attempt(1, ("catalog read", 1), ("manifest list read", 1), ("manifest list write", 1), begin_us=0),
            attempt(2, ("catalog read", 1), ("manifest list read", 3), ("catalog cas", 1), begin_us=100),
        ),
        0,
    )

    assert [
        "newest version looked up",
        "manifest list",
        "manifest list",
        "backoff",
        "newest version looked up",
        "history (lists of rivals)",
        "commit request",
    ] == [part.phase for part in slices_of(story)]
