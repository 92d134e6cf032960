"""Logs of engines tell what a history cannot: what failed, why, how long a statement worked, what it had read."""

import json
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.observation.fitting.test_sources import commits, history

from endive.errors import ObservationError
from endive.observation import history as history_module
from endive.observation.logs.exceptions import read_of, reason_of
from endive.observation.logs.log_join import join_log, without_early_rows
from endive.observation.logs.spark_events import is_event_log, read_event_log
from endive.observation.logs.statement_log import read_log
from endive.observation.observe import observe

MATCHING = (
    "org.apache.iceberg.exceptions.ValidationException: Found conflicting files that can contain records matching "
)


TABLE_MS = 1_772_366_400_000.0  # 2026-03-01T12:00:00Z


@pytest.fixture
def write(tmp_path):
    """``write(header, *rows)``: a log as CSV."""

    def write_rows(header, *rows):
        (tmp_path / "commits.csv").write_text("\n".join([header, *rows]) + "\n")
        return tmp_path / "commits.csv"

    return write_rows


@pytest.mark.parametrize(
    ("text", "reason", "read"),
    [
        (f"{MATCHING}true: [s3://a]", "validation_exception", "table"),
        (f'{MATCHING}ref(name="p") == 3: [s3://a]', "validation_exception", "partitions"),
        ("CommitFailedException: Requirement failed: branch main has changed", "retries_exhausted", ""),
        ("o.a.i.exceptions.ValidationException: Cannot determine history between", "history_expired", ""),
        ("java.lang.IllegalStateException: Runtime file filtering is not possible: the table", "table_moved", ""),
        ("CommitStateUnknownException: x", "commit_state_unknown", ""),
        ("java.lang.OutOfMemoryError: Java heap space", "OutOfMemoryError", ""),
        ("[MERGE_CARDINALITY_VIOLATION] The ON search", "MERGE_CARDINALITY_VIOLATION", ""),
        ("retries_exhausted", "retries_exhausted", ""),
        ("", "", ""),
    ],
)
def test_an_exception_says_why_and_what_was_read(text, reason, read):
    assert (reason, read) == (reason_of(text), read_of(text))


def test_a_log_counts_committed_and_failed_apart_and_keeps_reasons(write):
    rows = [f"2026-03-01T12:00:{n:02d}Z,append,committed,,stream,200" for n in range(0, 40, 2)]
    rows += [f'2026-03-01T12:00:{n:02d}Z,overwrite,failed,"{MATCHING}true: [x]",merge,4000' for n in (5, 15, 25)]

    (log,) = read_log(write("timestamp,operation,outcome,exception,writer,duration_ms", *rows))
    seen = observe(log)

    assert (20, 3, {"validation_exception": 3}) == tuple(seen.findings[key] for key in ("commits", "failed", "reasons"))
    merge = next(source for source in seen.config["source"] if source["name"] == "merge")
    assert "table" == merge["read"]
    assert 0 == seen.findings["rates"]["merge"]["seen"]
    assert not any("has no column outcome" in note for note in log.notes)


def test_a_log_without_outcomes_says_that_it_has_none(write):
    (log,) = read_log(write("timestamp,operation", "2026-03-01T12:00:09Z,append", "2026-03-01T12:00:01Z,append"))

    assert not log.has_outcomes
    for told in ("no column outcome", "clock goes back 1 times"):
        assert any(told in note for note in log.notes)


# ---- Spark ---------------------------------------------------------------------------------------------

_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecution"


def statement(number, node, begin_ms, end_ms, *, jobs_until_ms, error="", root=None, told="sql", scan="") -> list[dict]:
    plan = f"== Physical Plan ==\n{node} (2)\n{scan}\nArguments: x, IcebergWrite(table=lake.db.t, format=PARQUET)"
    return [
        {
            "Event": f"{_SQL}Start",
            "executionId": number,
            "rootExecutionId": number if root is None else root,
            "description": told,
            "physicalPlanDescription": plan,
            "sparkPlanInfo": {"nodeName": node},
            "time": begin_ms,
        },
        {"Event": "SparkListenerJobStart", "Job ID": number, "Properties": {"spark.sql.execution.id": str(number)}},
        {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": jobs_until_ms},
        {"Event": f"{_SQL}End", "executionId": number, "time": end_ms, "errorMessage": error},
    ]


def events(*parts) -> str:
    start = {"Event": "SparkListenerApplicationStart", "App ID": "app-1"}
    return "".join(json.dumps(each) + "\n" for each in [start, *(each for part in parts for each in part)])


def test_sparks_event_log_tells_statements_their_work_their_filter_and_their_error(tmp_path):
    query = "\nid = 902f163d-04d2-4a07-9f23-67d7deab5f7e\nbatch = 0"
    outer = statement(3, "WriteToDataSourceV2", 9_000, 12_000, jobs_until_ms=9_100, told=query)
    inner = statement(4, "WriteToDataSourceV2", 9_100, 11_900, jobs_until_ms=11_000, told=query, root=3)
    path = tmp_path / "local-1"
    refused = {"error": f"{MATCHING}true: [x]", "scan": "lake.db.t (branch=null) [filters=, groupedBy=]"}
    path.write_text(
        events(
            statement(1, "AppendData", 1_000, 3_000, jobs_until_ms=2_400),
            statement(2, "ReplaceData", 2_000, 8_000, jobs_until_ms=7_000, **refused),
            outer[:1],
            inner,
            outer[1:],
            statement(5, "AppendData", 13_000, 14_000, jobs_until_ms=13_500, told="Rewriting 2 files (BIN-PACK"),
        )
        + '{"Event": "SparkListenerJobStart", "cut off'
    )

    (log,) = read_event_log(path)

    assert is_event_log(path)
    assert [
        ("append", "spark-app-1", 2_000.0, 1_400.0, True, "", ""),
        ("overwrite", "spark-app-1", 6_000.0, 5_000.0, False, "validation_exception", "table"),
        ("append", "spark-streaming-902f163d-04d2-4a07-9f23-67d7deab5f7e", 3_000.0, 2_000.0, True, "", ""),
    ] == [
        (each.operation, each.writer, each.duration_ms, each.runtime_ms, each.is_committed, each.reason, each.read)
        for each in log.commits
    ]
    assert "1 groups of rewrite_data_files" in log.notes[0]


def test_a_log_that_says_nothing_of_commits_is_refused(tmp_path):
    (tmp_path / "log").write_text(events())

    with pytest.raises(ObservationError, match="has no statement that wrote to an Iceberg table"):
        read_event_log(tmp_path / "log")


def test_a_log_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(history_module, "COMMITS_MAX", 3)
    path = tmp_path / "local-1"
    path.write_text(events(*(statement(n, "AppendData", n, n + 1, jobs_until_ms=n)[:1] for n in range(5))))

    with pytest.raises(ObservationError, match="has more than 3 commits"):
        read_event_log(path)


def test_statements_that_do_not_end_cost_the_others_nothing(tmp_path):
    path = tmp_path / "local-1"
    parts = [statement(number, "AppendData", 1_000, 3_000, jobs_until_ms=2_400) for number in range(12_000)]
    path.write_text(events(*(part[:1] for part in parts), *(part[3:] for part in parts[::-1])))
    begin_s = time.process_time()

    (log,) = read_event_log(path)

    assert 12_000 == len(log.commits)
    assert time.process_time() - begin_s < 3.0  # 0.5 s; each looking through all others took over 4


def test_a_pause_of_years_is_not_simulated(write):
    rows = [f"2026-03-01T12:{minute:02d}:00Z,append" for minute in range(20)]
    (log,) = read_log(write("timestamp,operation", *rows, "2057-03-01T12:19:00Z,append"))
    begin_s = time.process_time()

    assert observe(log).findings["commits"] == 21

    assert time.process_time() - begin_s < 60.0  # 16 million txns in each of three runs would be hours


def test_a_log_adds_what_failed_and_says_when_commits_began(write):
    table = history(
        commits(4, 60_000, writer="spark-a", offset_ms=TABLE_MS, added_files=3),
        commits(2, 60_000, writer="spark-b", offset_ms=TABLE_MS + 30_000.0),
    )
    (log,) = read_log(
        write(
            "timestamp,operation,outcome,duration_ms,writer",
            "2026-03-01T11:59:58Z,append,committed,2100,job",  # ends 0.1 s after the first snapshot
            "2026-03-01T12:01:59Z,append,committed,1100,job",
            "2026-03-01T12:02:30Z,append,failed,500,job",
            "2026-03-01T19:00:00Z,append,committed,500,job",
        )
    )

    joined = join_log(table, log)

    assert [
        (True, "job", 2_100.0, 3),
        (True, "spark-b", None, 0),
        (True, "spark-a", None, 3),
        (True, "spark-b", None, 0),
        (True, "job", 1_100.0, 3),
        (False, "job", 500.0, 0),
        (True, "spark-a", None, 3),
    ] == [(each.is_committed, each.writer, each.duration_ms, each.added_files) for each in joined.commits]
    assert "spark" == joined.commits[5].engine
    for told in ("1 of 3 commits of the log are no snapshot", "does not know 4 of 6 snapshots"):
        assert any(told in note for note in joined.notes)


def test_what_a_report_does_not_time_was_work_and_so_was_that_of_a_statement_refused_for_good(write):
    """Statements of 20 s whose commits Iceberg timed at 3 s; a third fails, having waited 16 s."""
    own = {"kind": "validated_overwrite", "operation": "overwrite", "duration_ms": 3_000.0, "is_reported": True}
    table = history(commits(2, 60_000, writer="spark-a", offset_ms=TABLE_MS, **own))
    path = write(
        "timestamp,operation,outcome,duration_ms,writer,exception",
        "2026-03-01T11:59:41Z,overwrite,committed,20000,merge,",
        "2026-03-01T12:00:41Z,overwrite,committed,20000,merge,",
        "2026-03-01T12:01:40Z,overwrite,failed,16000,merge,ValidationException: Found conflicting files",
        "2026-03-01T12:02:40Z,overwrite,failed,16000,merge,CommitFailedException: Requirement failed",
    )

    joined = join_log(table, *read_log(path))

    assert [17_000.0, 17_000.0, 13_000.0, None] == [each.runtime_ms for each in joined.commits]
    assert [True, True, False, False] == [each.is_reported for each in joined.commits]


@pytest.mark.parametrize(("job", "begins"), [("job", "2026-03-01T10:00:00"), ("other", "2026-03-01T12:00:00")])
def test_what_expiry_took_is_taken_from_the_log_if_it_tells_of_all_writers(write, job, begins):
    """Three snapshots are left of a table that was written to for hours; the log knows their writer, or it does not."""
    own = commits(3, 60_000, writer="spark-a", offset_ms=TABLE_MS)
    table = replace(history([replace(each, snapshot_id=7 + n) for n, each in enumerate(own)]), expired=4)
    kept = [f"2026-03-01T12:0{n}:00Z,append,committed,100,{job}" for n in range(3)] if job == "job" else []
    path = write(
        "timestamp,operation,outcome,duration_ms,writer",
        "2026-03-01T10:00:00Z,append,committed,100,job",
        "2026-03-01T10:01:00Z,append,failed,100,job",
        *kept,
        "2026-03-01T12:01:30Z,append,failed,100,job",
    )

    joined = without_early_rows(join_log(table, *read_log(path)))

    assert begins == datetime.fromtimestamp(joined.commits[0].time_us / 1e6, UTC).isoformat()[:19]
    failed, made = (sum(each.is_committed is is_made for each in joined.commits) for is_made in (False, True))
    assert ((2, 4) if job == "job" else (1, 3)) == (failed, made)
    assert any("the log alone tells them" in note for note in joined.notes)
    assert (job == "other") == any("begins with the oldest snapshot" in note for note in joined.notes)


def test_a_row_whose_writer_snapshots_name_is_none_of_anothers(write):
    """Two streams of one engine commit within seconds: the nearest snapshot may be the other one's."""
    table = history(
        commits(4, 60_000, writer="stream-a", offset_ms=TABLE_MS),
        commits(4, 60_000, writer="stream-b", offset_ms=TABLE_MS + 400.0),
    )
    rows = [f"2026-03-01T12:0{minute}:00.350Z,append,committed,60,stream-a" for minute in range(4)]

    joined = join_log(table, *read_log(write("timestamp,operation,outcome,duration_ms,writer", *rows)))

    assert {("stream-a", True): 4, ("stream-b", False): 4} == Counter(
        (each.writer, each.is_submission) for each in joined.commits
    )
