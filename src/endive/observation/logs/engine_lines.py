"""Log lines of Flink and Kafka Connect as a log of commits: which committed, how long it took, which failed and why.

Flink's committers say ``Committed append to table: T, branch: B, checkpointId N in M ms`` (``IcebergFilesCommitter``,
``IcebergCommitter``); a job that fails in a commit says so with Iceberg's exception below it. Kafka Connect's
``Coordinator`` says ``Commit complete to table T, snapshot N`` and ``Commit failed, will try again next cycle``.
``Retrying task after failure`` (``org.apache.iceberg.util.Tasks``) is a lost attempt of whoever commits next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from endive.config.printable import printable
from endive.errors import ObservationError
from endive.intake import read_lines, refused_as
from endive.observation.history import APPEND, OVERWRITE, Commit, TableHistory, history_of_log, refuse_too_many
from endive.observation.logs.exceptions import read_of, reason_of
from endive.observation.tables.snapshots import kind_of

BYTES_MAX: Final = 512 * 2**20
LINE_MAX: Final = 4_000  # of what is read of a line
FLINK: Final = "flink"
KAFKA: Final = "kafka-connect"
_TIME: Final = re.compile(r"^\W{0,3}(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[.,](\d{3})\d{0,6}(Z|[+-]\d\d:?\d\d)?")
_COMMITTED: Final = re.compile(
    r"Committed (?P<what>[\w -]{1,40}?) to table: (?P<table>\S{1,300}?)(?:, branch: \S+)?, checkpointId "
    r"(?P<id>\d{1,19}) in (?P<ms>\d{1,12}) ms"
)
_CONNECTED: Final = re.compile(r"Commit complete to table (?P<table>[^\s,]{1,300}), snapshot (?P<id>\d{1,19})")
_FAILED: Final = re.compile(r"Commit failed, will try again next cycle|Commit \S+ failed for task|to FAILED\b")
_RETRIED: Final = "Retrying task after failure"
_EXCEPTION: Final = "org.apache.iceberg.exceptions."
_APPENDS: Final = ("append",)


@dataclass(slots=True)
class _Entry:
    """One entry of a log: its line, and those below it that have no time."""

    time_us: int
    text: str
    below: str = ""


def read_engine_lines(path: Path) -> list[TableHistory]:
    """One history per table that lines speak of; failures that name no table belong to the one the log is about."""
    tables: dict[str, list[Commit]] = {}
    failed: list[Commit] = []
    lost = count = 0
    for entry in _entries(path):
        if _RETRIED in entry.text:
            lost += 1
            continue
        refuse_too_many(count + len(failed), f"log '{path}'")
        made = _read_committed(entry, lost + 1)
        if made is not None:
            tables.setdefault(made[0], []).append(made[1])
            count, lost = count + 1, 0
        elif _FAILED.search(entry.text) and (_EXCEPTION in entry.text + entry.below or "Commit" in entry.text):
            failed.append(_failure(entry, lost + 1))
            lost = 0
    if not tables:
        raise ObservationError(
            f"log '{path}' has no line of a commit that is known: Flink's 'Committed append to table: ...', or Kafka "
            "Connect's 'Commit complete to table ...'. A log of commits ends in .csv or .parquet."
        )
    notes = ["times without a zone are taken as UTC."]
    if failed and len(tables) > 1:
        notes.append(f"{len(failed)} failures name no table, and the log is of {len(tables)}: they are left out.")
    of_all = failed if len(tables) == 1 else ()
    return [history_of_log(name, [*commits, *of_all], *notes) for name, commits in tables.items()]


def _entries(path: Path) -> Iterator[_Entry]:
    entry: _Entry | None = None
    with refused_as(ObservationError):
        for content in read_lines(
            path, bytes_max=BYTES_MAX, line_bytes_max=LINE_MAX, noun="a log", name=f"log '{path}'"
        ):
            line = content.decode("utf-8", "replace")
            time_us = _time_us(line)
            if time_us is not None:
                if entry is not None:
                    yield entry
                entry = _Entry(time_us, line)
            elif entry is not None and len(entry.below) < LINE_MAX:
                entry.below += "\n" + line
    if entry is not None:
        yield entry


def _time_us(line: str) -> int | None:
    match = _TIME.match(line)
    if match is None:
        return None
    date, time, ms, zone = match.groups()
    try:
        return round(datetime.fromisoformat(f"{date}T{time}.{ms}{zone or 'Z'}").timestamp() * 1e6)
    except ValueError:
        return None


def _read_committed(entry: _Entry, attempts: int) -> tuple[str, Commit] | None:
    match = _COMMITTED.search(entry.text) or _CONNECTED.search(entry.text)
    if match is None:
        return None
    parts = match.groupdict()
    engine = FLINK if "ms" in parts else KAFKA
    operation = APPEND if parts.get("what", "append").strip().lower() in _APPENDS else OVERWRITE
    took_ms = float(parts["ms"]) if "ms" in parts else None
    commit = Commit(
        time_us=entry.time_us - round(1000.0 * (took_ms or 0.0)),
        operation=operation,
        kind=kind_of(operation, engine),
        overwrite="" if operation == APPEND else "row_delta",
        writer=engine,
        engine=engine,
        snapshot_id=int(parts["id"]) if engine == KAFKA else None,
        duration_ms=took_ms,
        runtime_ms=None if took_ms is None else 0.0,
        attempts=attempts,
        is_submission=True,
    )
    return printable(parts["table"]), commit


def _failure(entry: _Entry, attempts: int) -> Commit:
    """Who failed is told by whose line it is; that it appends is what such sinks mostly do."""
    told = entry.text + entry.below
    at = told.find(_EXCEPTION)
    engine = KAFKA if "Commit" in entry.text and "FAILED" not in entry.text else FLINK
    return Commit(
        time_us=entry.time_us,
        operation=APPEND,
        kind=kind_of(APPEND, engine),
        writer=engine,
        engine=engine,
        attempts=attempts,
        is_committed=False,
        reason=reason_of(told[at:] if at >= 0 else told),
        read=read_of(told),
        is_submission=True,
    )
