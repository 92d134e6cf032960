"""The timeline: a stretch around the txn that suffered most, a lane for each writer, a slice for each phase."""

import pytest

from endive.answers.stories.journal import journal_of
from endive.answers.stories.story import Attempt, Step, Stories, Story
from endive.config import parse_config
from endive.explore.watch import (
    COLOURS,
    LANES_MAX,
    SHOWN_MAX,
    WORK,
    lanes_of,
    slices_of,
    stretch_around,
    worst_of,
)
from endive.report.words import PHASE_NAMES


def txn(number, source="stream", *, begin_ms=None, took_ms=100.0, attempts=1, status="committed", client=None):
    begin_ms = 1_000.0 * number if begin_ms is None else begin_ms
    return {
        "txn_id": number,
        "source": source,
        "client": client,
        "submit_ms": begin_ms - 500.0,
        "commit_start_ms": begin_ms,
        "end_ms": None if took_ms is None else begin_ms + took_ms,
        "attempts": attempts,
        "status": status,
    }


def lane_txns(txns):
    lanes = lanes_of(txns, ("writers", "stream"))
    return [(lane.label, [txn["txn_id"] for txn in lane.txns]) for lane in lanes]


def test_a_writer_keeps_its_lane_and_lanes_stand_in_the_order_of_sources_and_writers():
    of_writers = [(0, 0, 11), (1, 5, 2), (2, 20, 11)]
    txns = [txn(number, "writers", begin_ms=begin_ms, client=client) for number, begin_ms, client in of_writers]

    assert [("writers 3", [1]), ("writers 12", [0, 2]), ("stream", [3])] == lane_txns([txn(3, begin_ms=-1), *txns])


def test_txns_of_an_open_source_take_a_second_lane_only_while_they_overlap():
    times = [(0, 10), (4, 8), (10, 10), (11, 4)]
    txns = [txn(number, begin_ms=begin_ms, took_ms=took_ms) for number, (begin_ms, took_ms) in enumerate(times)]

    assert [("stream", [0, 2]), ("stream 2", [1]), ("stream 3", [3])] == lane_txns(txns)


def test_a_txn_that_never_ends_keeps_its_lane_for_good():
    assert [("stream", [0]), ("stream 2", [1])] == lane_txns([txn(0, took_ms=None), txn(1, begin_ms=1e6)])


def test_the_worst_txn_is_of_the_source_that_loses_most_of_its_txns_and_the_first_with_most_attempts():
    busy = [txn(number, attempts=6) for number in range(200)]
    merge = [txn(number, "merge", attempts=tries, status="aborted") for number, tries in ((200, 4), (201, 5), (202, 5))]

    assert 201 == worst_of([*busy, *merge])["txn_id"]


def test_the_start_of_a_run_is_left_to_settle():
    txns = [txn(0, attempts=9), *(txn(number) for number in range(1, 8)), txn(8, attempts=3)]

    assert 8 == worst_of(txns)["txn_id"]


def test_a_run_in_which_nothing_ended_has_no_worst_txn():
    assert worst_of([{**txn(0), "end_ms": None}]) is None


def test_a_stretch_reaches_a_third_beyond_its_txn_and_holds_writers_that_are_at_work():
    worst = txn(5, begin_ms=10_000.0, took_ms=2_000.0, client=0)
    at_work = txn(6, begin_ms=13_000.0, client=1)
    later = txn(7, begin_ms=13_000.0)

    begin_ms, until_ms, lanes = stretch_around(worst, [worst, at_work, later], ["stream"])

    assert (9_300.0, 12_700.0) == (begin_ms, until_ms)
    assert ["stream 1", "stream 2"] == [lane.label for lane in lanes]


def test_of_many_lanes_those_nearest_to_the_txn_are_kept():
    worst = txn(0, begin_ms=10_000.0, took_ms=5_000.0)
    others = [txn(number, begin_ms=10_000.0 + 10.0 * number, took_ms=5_000.0) for number in range(1, 41)]

    _, _, lanes = stretch_around(worst, [worst, *others], ["stream"])

    assert [[number] for number in range(LANES_MAX)] == [[txn["txn_id"] for txn in lane.txns] for lane in lanes]
    assert "stream 32" == lanes[-1].label


def test_a_stretch_with_too_many_txns_is_cut_short():
    worst = txn(0, "merge", begin_ms=0.0, took_ms=1_000_000.0)
    stream = [txn(number, begin_ms=1_000.0 * number) for number in range(1, 900)]

    _, until_ms, lanes = stretch_around(worst, [worst, *stream], ["merge", "stream"])

    assert 1_000.0 * SHOWN_MAX == until_ms
    assert SHOWN_MAX == sum(len(lane.txns) for lane in lanes)


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
