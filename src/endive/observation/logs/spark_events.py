"""Spark's event log as a log of commits: statements on Iceberg tables, when they began, worked and ended, and how.

``SparkListenerSQLExecutionStart`` and ``...End`` hold a statement and its error, jobs between them are its work, and
the plan names the table, the operation and the filter that Spark pushed down. Read as Spark 4.0 writes it with
``spark.eventLog.compress=false``; of a rolling log (a folder ``eventlog_v2_...``) give the folder.
``rewrite_data_files`` commits outside any statement, so its commits are the table's own to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from endive.config.printable import printable
from endive.errors import IntakeError, ObservationError
from endive.intake import is_count, open_regular, parse_json, read_lines, refused_as
from endive.observation.history import APPEND, OVERWRITE, Commit, TableHistory, history_of_log, refuse_too_many
from endive.observation.logs.exceptions import read_of, reason_of
from endive.observation.tables.snapshots import TIMESTAMP_MS_MAX, kind_of

BYTES_MAX: Final = 512 * 2**20
LOG_BYTES_MAX: Final = 4 * BYTES_MAX  # of all files of a rolling log
LINE_BYTES_MAX: Final = 16 * 2**20
FILES_MAX: Final = 1_000
MARK: Final = '"SparkListener'
_START: Final = "SparkListenerSQLExecutionStart"
_END: Final = "SparkListenerSQLExecutionEnd"
# The first node of a plan -> operation, and which Iceberg operation an overwrite is.
_NODES: Final = {
    "AppendData": (APPEND, ""),
    "ReplaceData": (OVERWRITE, "overwrite_files"),
    "WriteDelta": (OVERWRITE, "row_delta"),
    "OverwriteByExpression": (OVERWRITE, "overwrite_files"),
    "OverwritePartitionsDynamic": (OVERWRITE, "replace_partitions"),
    "WriteToDataSourceV2": (APPEND, ""),
}
_TABLE: Final = re.compile(r"Iceberg\w*Write\(table=([^,)\s]{1,300})")
_SCAN: Final = re.compile(r"\(branch=[^)]*\) \[filters=(.{0,400}?), groupedBy=")
_QUERY: Final = re.compile(r"^id = ([0-9a-f-]{36})", re.MULTILINE)
_REWRITING: Final = "Rewriting "
_STOPPED: Final = ("Interrupted", "was cancelled", "cancelled part of")


@dataclass(slots=True)
class _Statement:
    table: str
    operation: str
    overwrite: str
    read: str
    query: str
    begin_ms: int
    worked_until_ms: int = 0
    executions: int = 1  # that are its own: an inner one of a micro-batch is its outer's


@dataclass(slots=True)
class _Log:
    """What has been read so far."""

    app: str = "unknown"
    running: dict[int, _Statement] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    tables: dict[str, list[Commit]] = field(default_factory=dict)
    rewritings: int = 0
    statements: int = 0  # that began: whether they end or not, they take their place


def is_event_log(path: Path) -> bool:
    """Whether a file begins like an event log, or a folder like a rolling one."""
    if path.is_dir():
        return bool(_parts(path))
    try:
        with open_regular(path, bytes_max=BYTES_MAX, noun="an event log") as file:  # a pipe would never end
            head = file.read(2**16)
    except (IntakeError, OSError):
        return False
    return MARK.encode() in head


def _parts(folder: Path) -> list[Path]:
    parts = [each for each in folder.glob("events_*") if each.is_file()]
    return sorted(parts, key=lambda each: [int(part) if part.isdecimal() else 0 for part in each.name.split("_")[:2]])


def read_event_log(path: Path) -> list[TableHistory]:
    """One history per table that statements of the application wrote to."""
    log = _Log()
    files = _parts(path)[:FILES_MAX] if path.is_dir() else [path]
    if path.is_dir() and sum(file.stat().st_size for file in files) > LOG_BYTES_MAX:
        raise ObservationError(f"event log '{path}' has more than {LOG_BYTES_MAX:,} bytes; so many are not read.")
    for file in files:
        for event in _events(file):
            _take(log, event)
            refuse_too_many(log.statements, f"event log '{path}'")
    if not log.tables:
        raise ObservationError(
            f"event log '{path}' has no statement that wrote to an Iceberg table ({len(log.running)} did not end). "
            "Give the log of an application that writes, or the table itself."
        )
    notes = []
    if log.rewritings:
        notes.append(
            f"{log.rewritings} groups of rewrite_data_files: their commits are in no event, only in the table."
        )
    if log.running:
        notes.append(f"{len(log.running)} statements had not ended when the log did; they are left out.")
    return [history_of_log(name, commits, *notes) for name, commits in log.tables.items()]


def _events(path: Path) -> Iterator[Mapping[str, Any]]:
    """The events that matter; lines that are cut off at the end of a file are passed over."""
    name = f"event log '{path}'"
    with refused_as(ObservationError):
        for line in read_lines(
            path, bytes_max=BYTES_MAX, line_bytes_max=LINE_BYTES_MAX, noun="an event log", name=name
        ):
            head = line[:200]
            if not any(word in head for word in (b"SQLExecution", b"ListenerJob", b"ApplicationStart")):
                continue
            try:
                event = parse_json(line, name=name, bytes_max=LINE_BYTES_MAX)
            except IntakeError:
                continue
            if isinstance(event, dict):
                yield event


def _take(log: _Log, event: Mapping[str, Any]) -> None:
    name = str(event.get("Event", "")).rpartition(".")[2]
    if name == "SparkListenerApplicationStart":
        log.app = printable(str(event.get("App ID", "unknown")))[:200]
    elif name == _START:
        _begin(log, event)
    elif name == "SparkListenerJobStart":
        properties = event.get("Properties")
        owner = properties.get("spark.sql.execution.id") if isinstance(properties, dict) else None
        if isinstance(owner, str) and owner.isdecimal() and len(owner) < 19:
            log.jobs[_number(event, "Job ID")] = int(owner)
    elif name == "SparkListenerJobEnd":
        statement = log.running.get(log.jobs.pop(_number(event, "Job ID"), -1))
        if statement is not None:
            statement.worked_until_ms = max(statement.worked_until_ms, _number(event, "Completion Time"))
    elif name == _END:
        statement = log.running.pop(_number(event, "executionId"), None)
        if statement is not None:
            _end(log, statement, event)


def _number(event: Mapping[str, Any], key: str) -> int:
    value = event.get(key)
    return value if is_count(value, TIMESTAMP_MS_MAX) else -1


def _begin(log: _Log, event: Mapping[str, Any]) -> None:
    plan, told = str(event.get("physicalPlanDescription", "")), str(event.get("description", ""))
    info = event.get("sparkPlanInfo")
    node = str(info.get("nodeName", "")) if isinstance(info, dict) else ""
    if node not in _NODES:
        node = next((line.split(" ")[0] for line in plan.split("\n")[1:2]), "")
    table = _TABLE.search(plan)
    root, own = event.get("rootExecutionId"), _number(event, "executionId")
    if node not in _NODES or table is None or own < 0 or _number(event, "time") < 0:
        return
    if told.startswith(_REWRITING):
        log.rewritings += 1
        return
    if isinstance(root, int) and root != own and root in log.running:
        log.running[own] = log.running[root]  # the inner of a micro-batch: its jobs are the outer's
        log.running[root].executions += 1
        return
    log.statements += 1
    operation, overwrite = _NODES[node]
    query = _QUERY.search(told)
    scan = _SCAN.search(plan)
    reads = operation == OVERWRITE and scan is not None
    log.running[own] = _Statement(
        table=printable(table.group(1)),
        operation=operation,
        overwrite=overwrite,
        read="" if not reads or scan is None else ("partitions" if scan.group(1).strip() else "table"),
        query=query.group(1) if query else "",
        begin_ms=_number(event, "time"),
    )


def _end(log: _Log, statement: _Statement, event: Mapping[str, Any]) -> None:
    statement.executions -= 1
    if statement.executions:
        return  # the inner of a micro-batch has ended, the outer goes on
    end_ms = _number(event, "time")
    if end_ms < statement.begin_ms:
        return
    error = str(event.get("errorMessage") or "")
    if any(word in error for word in _STOPPED):
        return  # somebody stopped it: that is no commit that failed
    engine = "spark-streaming" if statement.query else "spark"
    worked_ms = max(0, statement.worked_until_ms - statement.begin_ms)
    commit = Commit(
        time_us=1000 * statement.begin_ms,
        operation=statement.operation,
        kind=kind_of(statement.operation, engine),
        overwrite=statement.overwrite,
        writer=f"{engine}-{statement.query or log.app}",
        engine=engine,
        duration_ms=float(end_ms - statement.begin_ms),
        runtime_ms=float(min(worked_ms, end_ms - statement.begin_ms)),
        is_committed=not error,
        reason=reason_of(error),
        read=read_of(error) or statement.read,
        is_submission=True,
    )
    log.tables.setdefault(statement.table, []).append(commit)
