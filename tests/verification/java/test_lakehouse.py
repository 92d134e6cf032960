"""A lakehouse of real engines is observed with its logs, and the replay is held to them."""

from __future__ import annotations

from collections import Counter
from csv import DictReader

import pytest

from endive.observation.fitting.sources import fit_sources
from endive.observation.observe import observe
from endive.verification.suite import WRONG
from verification.suites.java.lakehouse import (
    RECORDINGS,
    checks_of,
    read_modes,
    read_recording,
    recorded_history,
    replay_recording,
)


@pytest.fixture(scope="module")
def recording():
    return read_recording(RECORDINGS[0])


@pytest.fixture(scope="module")
def history(recording, tmp_path_factory):
    return recorded_history(recording, tmp_path_factory.mktemp("lakehouse"))


def test_every_statement_of_the_log_is_in_the_history_with_its_outcome(recording, history):
    logged = Counter((row["writer"], row["outcome"]) for row in DictReader(recording["log"].splitlines()))
    seen = Counter((each.writer, "committed" if each.is_committed else "failed") for each in history.commits)

    assert {key: count for key, count in logged.items() if key[1] == "failed"} == {
        key: count for key, count in seen.items() if key[1] == "failed" and key in logged
    }
    lost = sum(logged[key] - min(logged[key], seen[key]) for key in logged)
    assert lost <= 0.05 * logged.total()  # clocks and names are good enough to find a commit's snapshot


def test_merges_compactions_streams_and_clients_are_sources_of_their_own(history):
    kinds = {source.name.rstrip("0123456789-abcdef"): source.kind for source in fit_sources(history)}

    assert {"merge", "compact"} <= {source.name for source in fit_sources(history)}
    assert {"fast_append", "merge_append", "rewrite_files", "validated_overwrite"} == set(kinds.values())


def test_failed_merges_say_what_they_had_read(history):
    merge = next(source for source in fit_sources(history) if source.name == "merge")

    assert ("partitions", "overwrite_files") == (merge.logged_read, merge.overwrite)
    assert "validation_exception" in {commit.reason for commit in merge.commits}


def test_statements_whose_commits_iceberg_timed_are_split_into_work_and_commit(tmp_path):
    """Of the run with commit reports: a stream's batch takes seconds, its commit as long as the report says."""
    rest = read_recording("rest")
    commits = recorded_history(rest, tmp_path).commits
    streams = [each for each in commits if each.engine == "spark-streaming" and each.snapshot_id is not None]
    known = [each for each in streams if each.is_reported and each.runtime_ms is not None]

    assert len(known) >= 0.9 * len(streams) > 15
    assert all(0.0 < each.duration_ms - each.runtime_ms <= each.duration_ms for each in known)
    reported = {line.partition("snapshotId=")[2].partition(",")[0] for line in rest["reports"].splitlines()}
    assert {str(each.snapshot_id) for each in known} <= reported


def test_commits_whose_snapshots_expired_are_taken_from_the_logs_with_the_kind_of_their_engine(tmp_path):
    rest = read_recording("rest")
    commits = recorded_history(rest, tmp_path).commits
    early = [each for each in commits if each.is_committed and each.snapshot_id is None]

    assert {"fast_append"} == {each.kind for each in early if each.writer.startswith("pyiceberg")}
    logged = Counter(row["writer"] for row in DictReader(rest["log"].splitlines()))
    seen = Counter(each.writer for each in commits)
    assert all(seen[writer] >= 0.95 * logged[writer] for writer in ("pyiceberg0", "pyiceberg1", "insert", "merge"))


def test_a_compaction_that_never_committed_is_taken_to_rewrite_the_whole_table(tmp_path):
    run = read_modes()["merge-on-read, snapshot"]

    observed = observe(recorded_history(run, tmp_path))

    compact = next(each for each in observed.config["source"] if each["name"] == "compact")
    assert observed.config["table"]["data_files"] == compact["touched_files"]
    assert any(line.startswith("source.compact.touched_files") for line in observed.findings["assumed"])


@pytest.mark.slow
def test_the_replay_of_the_recording_calls_nothing_wrong_and_fails_merges_for_their_reason(recording):
    result = replay_recording(recording, 2)
    checks = checks_of(RECORDINGS[0], recording, result)

    assert [] == [(each.what, each.name, each.expected, each.actual) for each in checks if each.verdict == WRONG]
    reasons = {figure.name: figure.model for name, figure in result.figures if name == "merge"}
    assert reasons["failed: validation_exception"] >= 50.0
