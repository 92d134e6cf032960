"""What real writers left is read as they wrote it, and the suite holds the model to it."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from endive.observation.logs.commit_reports import join_reports, read_reports
from endive.observation.tables.metadata import history_of
from endive.verification.suite import WRONG
from verification.suites.java.java_replay import check_figure, read_recording, replay_recording


@pytest.fixture(scope="module")
def recording():
    return read_recording()


@pytest.fixture(scope="module")
def history(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("reports") / "reports.jsonl"
    path.write_text("\n".join(recording["reports"]))
    return join_reports(history_of(recording["metadata"].encode(), "t"), read_reports(path))


def test_every_commit_that_a_writer_made_is_in_the_history_with_its_name(recording, history):
    made = Counter(writer for writer, _, _, is_committed in recording["log"] if is_committed)
    seen = Counter(commit.writer for commit in history.commits)

    assert made == {name: seen[name] for name in made}
    assert 5 == seen["unknown"]  # the appends that made the table, before any writer had a name


def test_merges_are_row_deltas_and_appends_are_appends(history):
    kinds = {(commit.writer == "merges", commit.operation, commit.overwrite) for commit in history.commits}

    assert {(False, "append", ""), (True, "overwrite", "row_delta")} == kinds


def test_the_attempts_of_a_report_are_those_in_the_name_of_the_manifest_list(recording, history):
    named = history_of(recording["metadata"].encode(), "t").commits

    assert [commit.attempts for commit in named] == [commit.attempts for commit in history.commits]
    assert max(commit.attempts for commit in named) > 1


def test_a_report_takes_as_long_as_its_writer_waited(recording, history):
    waited = sorted(took_ms for _, _, took_ms, is_committed in recording["log"] if is_committed)
    reported = sorted(commit.duration_ms for commit in history.commits if commit.duration_ms is not None)

    assert len(waited) == len(reported)
    assert waited[len(waited) // 2] == pytest.approx(reported[len(reported) // 2], rel=0.15)


@pytest.mark.lengthy
def test_the_replay_of_the_recording_calls_nothing_wrong(recording):
    checks = [check_figure(name, figure) for name, figure in replay_recording(recording, 4).figures]

    assert {"appends", "merges"} == {check.what["source"] for check in checks}
    assert [] == [(check.name, check.expected, check.actual) for check in checks if check.verdict == WRONG]


@pytest.mark.lengthy
def test_a_store_three_times_as_slow_does_not_explain_the_recording(recording):
    slow = re.sub(r"\[(0\.\d+), ([\d.]+)\]", lambda pair: f"[{pair[1]}, {3.0 * float(pair[2])}]", recording["profile"])
    result = replay_recording({**recording, "profile": slow}, 2)

    assert not result.explains
    assert WRONG in {check_figure(name, figure).verdict for name, figure in result.figures}
