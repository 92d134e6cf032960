"""Explanations: the stories agree with the records, and the choice of txns with what was asked."""

import json

import pyarrow as pa
import pytest
from tests.answers.conftest import busy_config, merge_config

from endive.answers.stories.explain import Records, chosen_txns, explain_base, explain_run, trace_text
from endive.answers.variation import base_of
from endive.config import parse_config
from endive.errors import ObjectiveError
from endive.objectives import parse_duration_ms
from endive.simulation import simulate

pytestmark = pytest.mark.lengthy

RECORDS = [
    {"txn_id": 0, "kind": "fast_append", "status": "committed", "commit_latency_ms": 5.0},
    {"txn_id": 1, "kind": "validated_overwrite", "status": "aborted", "commit_latency_ms": 3.0},
    {"txn_id": 2, "kind": "fast_append", "status": "in_flight", "commit_latency_ms": None},
]


@pytest.fixture(scope="module")
def explained():
    return explain_run(busy_config(), with_blame=True, worst=400)


def ids(**asked):
    records = Records(pa.Table.from_pylist(RECORDS))
    return [record["txn_id"] for record in chosen_txns(records, **{"txn": None, "worst": None, "where": None} | asked)]


def times_of(lines):
    """When each line of a story happened."""
    timed = [line.strip().removeprefix("+ ") for line in lines if line.strip().startswith("+ ")]
    return [parse_duration_ms(" ".join(line.split()[:2])) for line in timed]


def test_txns_are_chosen_by_id_by_condition_and_the_worst_first():
    assert [2] == ids(txn=2)
    assert [1] == ids()
    assert [1, 0] == ids(worst=5)
    assert [0] == ids(where="kind = 'fast_append' AND commit_latency_ms > 1")
    assert [1] == ids(where="status == 'aborted' or kind = 'merge_append'")


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"txn": 7}, "--txn 7: the run has no such txn. Its txns are 0 to 2."),
        ({"where": "kind = 'rewrite_files'"}, "no txn of the run is like that. There are kind: fast_append, "),
        ({"where": "knd = 'fast_append'"}, "'knd' is no column of a txn"),
        ({"where": "kind ="}, "cannot be read"),
    ],
)
def test_a_choice_that_finds_nothing_is_told(asked, problem):
    with pytest.raises(ObjectiveError) as refused:
        ids(**asked)

    assert problem in str(refused.value)


def test_every_story_has_as_many_attempts_as_its_record_and_the_last_one_decides(explained):
    assert len(explained.stories) == 100
    for story in explained.stories:
        assert story.record["attempts"] == len(story.attempts)
        assert (story.record["status"] == "committed") == story.attempts[-1].is_installed
        assert all(not attempt.is_installed for attempt in story.attempts[:-1])


def test_whoever_was_refused_was_overtaken_in_his_hazard_window_and_who_was_not_was_not(explained):
    for story in explained.stories:
        for attempt in story.attempts:
            assert attempt.is_installed == (not attempt.rivals)
            assert all(attempt.base_us < rival.landed_us <= attempt.decided_us for rival in attempt.rivals)
        last = story.attempts[-1]
        assert story.record["hazard_window_ms"] == pytest.approx((last.decided_us - last.base_us) / 1000.0)


def test_the_replay_is_the_run(explained):
    compiled = simulate(busy_config(), engine="compiled").transactions.to_pylist()
    records = {record["txn_id"]: record for record in compiled}

    for story in explained.stories:
        assert records[story.record["txn_id"]] == story.record
        lost_ms = sum((a.end_us - a.begin_us) / 1000.0 for a in story.attempts if not a.is_installed)
        assert lost_ms <= story.record["commit_latency_ms"]


def test_without_a_duration_the_run_is_as_long_as_that_of_the_other_answers():
    """An hour has no compaction in its window that a job of every three hours submits."""
    rare = {"name": "rare", "recipe": "spark_rewrite_data_files", "interval_ms": "3h", "touched_files": 0}
    found = explain_base(base_of({"table": {"data_files": 100, "snapshots_kept_max": 9}, "source": [rare]}))

    assert not [each for each in found.warnings if each.code == "W106"]


def test_a_replay_that_takes_long_is_announced(monkeypatch):
    told = []
    explain_run(busy_config(), announce=told.append)
    monkeypatch.setattr("endive.answers.stories.explain.ANNOUNCED_TXNS", 10)
    found = explain_run(busy_config(), announce=told.append)

    expected = f"Up to {len(found.records):,} txns are replayed on the reference engine, 100,000 in a minute or so."
    assert [expected] == told


def test_a_txn_of_a_large_run_is_told_as_that_of_a_small_one_and_only_blame_is_refused(monkeypatch):
    small = explain_run(busy_config(), worst=2)
    monkeypatch.setattr("endive.answers.stories.explain.BLAME_TXNS_MAX", 100)
    large = explain_run(busy_config(), worst=2)

    assert [story.lines for story in small.stories] == [story.lines for story in large.stories]
    assert len(large.journal.requests) < len(small.journal.requests)
    with pytest.raises(ObjectiveError, match="blame is told of at most 100"):
        explain_run(busy_config(), worst=2, with_blame=True)


def test_blame_counts_every_lost_attempt_once(explained):
    records = explained.records
    lost = sum(
        record["attempts"] - (record["status"] == "committed") for record in records.values() if record["attempts"]
    )

    assert lost == sum(row.attempts for row in explained.blame)


def test_a_story_is_told_in_the_order_of_time_and_names_its_rivals(explained):
    lines = explained.stories[0].lines

    assert sorted(times_of(lines)) == times_of(lines)
    assert any("landed while it was being built" in line for line in lines)
    assert lines[0].startswith(f"transaction {explained.stories[0].record['txn_id']} (")


@pytest.mark.parametrize(
    ("failures", "told", "end"),
    [
        ({}, "and checks once for its commit in the table's history", "committed after"),
        (
            {"lost_check_rate": 1.0},
            "and checks 4 times for its commit in the table's history",
            "the answer to its commit was lost",
        ),
        ({"status_checks": 0}, "and does not check", "the answer to its commit was lost"),
    ],
)
def test_a_lost_answer_is_part_of_the_story(failures, told, end):
    lossy = {"lost_answer_rate": 1.0, "lost_answer_timeout_ms": 500.0, **failures}
    lines = explain_run(busy_config(clients=1, failures=lossy), txn=0).stories[0].lines

    assert sorted(times_of(lines)) == times_of(lines)
    lost = [line for line in lines if "the answer never arrives" in line]
    assert [True] == [line.endswith(told) for line in lost]
    assert end in lines[0]


def test_throttled_tries_are_part_of_the_story():
    throttling = {"throttle_rate": 0.4, "throttle_tries": 20, "throttle_wait_ms": 30.0}
    lines = explain_run(busy_config(clients=1, failures=throttling), txn=0).stories[0].lines

    assert sorted(times_of(lines)) == times_of(lines)
    assert any(" throttled: " in line for line in lines)
    assert "committed after 1 attempt" in lines[0]


@pytest.mark.parametrize(
    ("rate", "told"),
    [
        (0.4, "throttled at every try; nothing was committed, and the files it has written stay"),
        (1.0, "throttled at every try, before it has loaded the table"),
    ],
)
def test_a_txn_whose_storage_failed_says_so(rate, told):
    config = busy_config(clients=1, failures={"throttle_rate": rate, "throttle_tries": 2, "throttle_wait_ms": 30.0})
    stories = explain_run(config, worst=8).stories
    failed = [story.lines for story in stories if story.record["reason"] == "storage_failed"]

    assert any(line.endswith(told) for lines in failed for line in lines)
    assert all("failed after" in lines[0] and lines[0].endswith("storage failed") for lines in failed)


def test_a_trace_has_a_track_per_txn_and_both_ends_of_every_arrow():
    events = json.loads(trace_text(explain_run(busy_config(), worst=2)))["traceEvents"]
    starts = [event["id"] for event in events if event["ph"] == "s"]

    assert starts
    assert starts == [event["id"] for event in events if event["ph"] == "f"]
    assert all(event["dur"] >= 0 for event in events if event["ph"] == "X")
    assert {event["name"] for event in events if event["ph"] == "M"} == {"process_name", "thread_name"}


def test_a_validation_that_fails_is_paid_before_it_is_told_and_says_who_committed_meanwhile():
    (story,) = explain_run(merge_config("3h"), where="reason = 'validation_exception'", worst=1).stories
    (attempt,) = story.attempts

    assert round(story.record["end_ms"] * 1000) == attempt.end_us == attempt.decided_us
    assert all(step.end_us > step.begin_us for step in attempt.steps)
    assert story.steps[-1][1].endswith("landed since it began: 1 rewrite files of compaction")


def test_a_story_tells_who_waits_for_whom():
    arrivals = {"kind": "jobs", "jobs": 3, "period_ms": 10_000.0, "phase": "together"}
    times = {"duration_ms": 9_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0}

    def told(service: dict[str, object], **keys: object) -> str:
        config = {
            "simulation": times,
            "storage": {"provider": "constant", "latency_ms": 20.0},
            "catalog": {"type": "service", "latency_ms": 4.0, "service": service},
            "source": [{"name": "w", "arrivals": arrivals, "runtime": "100ms", **keys}],
        }
        return "\n".join(line for story in explain_run(parse_config(config), worst=3).stories for line in story.lines)

    gathered = told({}, commit_queue="job", gather_every_ms=1_000.0)
    assert "for its slot to commit, and carries the files of 2 others" in gathered
    assert 2 == gathered.count("hands its files over: the commit of another transaction carries them")
    assert 2 == gathered.count("committed after no attempt of its own")
    assert "call for the table's lock" in told({"lock": {"kind": "hive"}})
    assert "release of the lock" in told({"lock": {"kind": "hive"}})
    assert "for its slot to commit" in told({}, commit_queue="process")
