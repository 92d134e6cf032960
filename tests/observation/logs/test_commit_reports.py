"""Commit reports, as a REST catalog receives them and as the logging reporter prints them."""

import re
from pathlib import Path

import pytest
from tests.observation.conftest import metadata, snapshot

from endive.errors import ObservationError
from endive.observation.logs.commit_reports import CommitReport, join_reports, read_reports
from endive.observation.tables.metadata import history_of

# What Java Iceberg 1.9.2 gave for one append (CommitReportParser.toJson, CommitReport.toString), counters left out.
JSON = (
    '{"table-name":"local.db.t1","snapshot-id":1001,"sequence-number":1,"operation":"append","metrics":{"total-duration":'
    '{"count":1,"time-unit":"nanoseconds","total-duration":870256153},"attempts":{"unit":"count","value":2},'
    '"added-data-files":{"unit":"count","value":1}},"metadata":{"iceberg-version":"Apache Iceberg 1.9.2"}}'
)
LOGGED = (
    "26/03/01 12:00:00 INFO LoggingMetricsReporter: Received metrics report: CommitReport{tableName=local.db.t1, "
    "snapshotId=1002, sequenceNumber=2, operation=append, commitMetrics=CommitMetricsResult{totalDuration=TimerResult{"
    "timeUnit=NANOSECONDS, totalDuration=PT1M0.5S, count=1}, attempts=CounterResult{unit=COUNT, value=3}, "
    "addedDataFiles=CounterResult{unit=COUNT, value=1}, removedDataFiles=null, manifestsCreated=CounterResult{unit="
    "COUNT, value=1}, manifestsReplaced=null, manifestsKept=CounterResult{unit=COUNT, value=7}}, metadata={}}"
)


@pytest.fixture
def write(tmp_path: Path):
    def write(content: str) -> Path:
        path = tmp_path / "reports.jsonl"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def test_both_forms_are_read_and_other_lines_passed_over(write):
    scan = '{"report-type":"scan-report","table-name":"t","snapshot-id":5,"metrics":{}}'
    wrapped = '{"report-type":"commit-report",' + JSON[1:].replace("1001", "1003")
    path = write(f"starting\n{JSON}\n{LOGGED}\n{scan}\n{wrapped}\n")

    assert [
        CommitReport(table="local.db.t1", snapshot_id=1001, duration_ms=870.256153, attempts=2),
        CommitReport(table="local.db.t1", snapshot_id=1002, duration_ms=60_500.0, attempts=3, manifests=8),
        CommitReport(table="local.db.t1", snapshot_id=1003, duration_ms=870.256153, attempts=2),
    ] == read_reports(path)


def test_reports_are_joined_by_snapshot(write):
    history = history_of(metadata([snapshot(n, 1000 * n) for n in (1, 2, 3)]), "t")

    joined = join_reports(history, read_reports(write(f"{LOGGED}\n")))

    assert [(None, 1), (60_500.0, 3), (None, 1)] == [(each.duration_ms, each.attempts) for each in joined.commits]


def test_a_report_for_an_unknown_snapshot_is_a_note(write):
    history = history_of(metadata([snapshot(n, 1000 * n) for n in (1, 2)]), "t")

    joined = join_reports(history, read_reports(write(f"{JSON}\n{JSON.replace('1001', '77')}\n")))

    assert "t: 1 of 2 reports name snapshots the table does not have (first: 77); they are left out." in joined.notes


def test_reports_of_another_table_are_refused(write):
    history = history_of(metadata([snapshot(8, 0)]), "t")

    with pytest.raises(
        ObservationError, match=r"^none of the 1 reports names a snapshot of t; they are of local.db.t1"
    ):
        join_reports(history, read_reports(write(JSON)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "holds no commit report."),
        ('{"snapshot-id": 1, "metrics": {\n', "line 1 is not JSON"),
        ('{"snapshot-id": 1, "metrics": {"total-duration": {"total-duration": 5}}}\n', "report lacks 'time-unit'"),
        ("CommitReport{tableName=t}\n", "the commit report names no snapshotId."),
        (JSON.replace("870256153", '"nan"'), "cannot be right: duration_ms = nan, but a commit has 0 to 2,592,"),
        (JSON.replace("870256153", "1e999"), "cannot be right: duration_ms = inf"),
        (JSON.replace("870256153", "-1"), "cannot be right: duration_ms = -1e-06"),
        (JSON.replace('"value":2', '"value":0'), "cannot be right: attempts = 0, but a commit has 1 to 1,000,000."),
        (JSON.replace('"value":2', f'"value":{10**400}'), "cannot be right: int too large"),
        ("CommitReport{tableName=t, snapshotId=1, totalDuration=P999DT0S}\n", "cannot be right: duration_ms = 8.63"),
    ],
)
def test_a_file_without_usable_reports_is_refused(write, content, message):
    with pytest.raises(ObservationError, match=re.escape(message)):
        read_reports(write(content))
