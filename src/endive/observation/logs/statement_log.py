"""A plain log of commits: one row for each statement, whether it committed or failed.

The columns are those of a trace (``endive.workload.trace_file``): ``timestamp`` is when a statement began,
``duration_ms`` how long its client waited, ``runtime_ms`` how much of that it worked before it committed; without it
the duration of an append is taken for the commit alone, that of any other statement for work and commit. ``outcome``
and ``exception`` say how it ended.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Final

from endive.config.printable import printable
from endive.config.values import abridge
from endive.errors import ObservationError
from endive.observation.history import OPERATIONS, UNKNOWN, Commit, TableHistory, history_of_log, refuse_too_many
from endive.observation.logs.exceptions import read_of, reason_of
from endive.observation.tables.snapshots import kind_of
from endive.workload.trace import epoch_us, time_us
from endive.workload.trace_file import ISO_TIME, OPERATION, RELATIVE_TIME, Cell, is_empty, read_columns, rows

COMMITTED: Final = ("committed", "success", "succeeded", "ok", "true")
FAILED: Final = ("failed", "aborted", "failure", "error", "false", "exhausted")
DEFAULT_TABLE: Final = "table"
_MORE: Final = ("runtime_ms", "exception", "reason")
DIGITS_MAX: Final = 20  # of a snapshot's id, with its sign


def read_log(path: Path) -> list[TableHistory]:
    """One history per table that the log names."""
    columns = read_columns(path)
    time = ISO_TIME if ISO_TIME in columns else RELATIVE_TIME
    if OPERATION not in columns:
        raise ObservationError(
            f"log {path} has no column operation. Name Iceberg's operations in it: {', '.join(OPERATIONS)}."
        )
    read_time = epoch_us if time == ISO_TIME else time_us
    durations = "duration_ms" if "duration_ms" in columns else "duration"
    names = (time, OPERATION, "table", durations, "attempts", "outcome", "writer", "snapshot_id", *_MORE)
    refuse_too_many(len(columns[time]), f"log {path}")
    blank: list[Cell] = [None] * len(columns[time])
    tables: dict[str, list[Commit]] = {}
    for row, cells in rows(list(zip(*(columns.get(name, blank) for name in names), strict=True))):
        when, operation, table, duration, attempts, outcome, writer, snapshot_id, runtime, exception, reason = cells
        error = "" if is_empty(exception) else str(exception)
        engine = UNKNOWN if is_empty(writer) else printable(str(writer).strip())
        name = _operation(path, row, operation)
        commit = Commit(
            time_us=read_time(path, row, time, when),
            operation=name,
            kind=kind_of(name, engine),
            overwrite="" if name in ("append", "replace") else "row_delta",
            writer=engine,
            engine=engine,
            snapshot_id=None if is_empty(snapshot_id) else _whole(path, row, "snapshot_id", snapshot_id),
            duration_ms=None if is_empty(duration) else time_us(path, row, durations, duration) / 1000.0,
            runtime_ms=None if is_empty(runtime) else time_us(path, row, "runtime_ms", runtime) / 1000.0,
            attempts=None if is_empty(attempts) else _whole(path, row, "attempts", attempts, low=1),
            is_committed=_is_committed(path, row, outcome, error),
            reason=reason_of(error) or ("" if is_empty(reason) else reason_of(str(reason))),
            read=read_of(error),
            is_submission=True,
        )
        tables.setdefault(DEFAULT_TABLE if is_empty(table) else printable(str(table).strip()), []).append(commit)
    if not tables:
        raise ObservationError(f"log {path} has no rows. Give it at least two commits.")
    has_outcomes = "outcome" in columns or "exception" in columns
    return [_history(name, commits, has_outcomes) for name, commits in tables.items()]


def _history(name: str, commits: list[Commit], has_outcomes: bool) -> TableHistory:
    notes = ["a log says nothing of the table's size; its sizes are Endive's defaults."]
    if not has_outcomes:
        notes.append("the log has no column outcome, so that every row is taken as committed.")
    back = sum(after.time_us < before.time_us for before, after in itertools.pairwise(commits))
    if back:
        notes.append(f"the log's clock goes back {back} times; its rows are taken in the order of their times.")
    return history_of_log(name, commits, *notes, has_outcomes=has_outcomes)


def _operation(path: Path, row: int, cell: Cell) -> str:
    name = str(cell).strip()
    if name not in OPERATIONS:
        raise ObservationError(
            f"log {path}, row {row}, column operation = {_quote_cell(cell)}. Choose one of: {', '.join(OPERATIONS)}."
        )
    return name


def _whole(path: Path, row: int, column: str, cell: Cell, low: int | None = None) -> int:
    try:
        number = int(cell) if len(str(cell)) <= DIGITS_MAX else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or (low is not None and number < low):
        wanted = "a whole number" if low is None else f"a whole number of at least {low}"
        raise ObservationError(f"log {path}, row {row}, column {column} = {_quote_cell(cell)}. Give {wanted}.")
    return number


def _is_committed(path: Path, row: int, cell: Cell, exception: str) -> bool:
    """As the outcome says; without one, whatever has an exception has failed."""
    if is_empty(cell):
        return not exception
    word = str(cell).strip().lower()
    if word not in (*COMMITTED, *FAILED):
        known = ", ".join((*COMMITTED, *FAILED))
        raise ObservationError(f"log {path}, row {row}, column outcome = {_quote_cell(cell)}. Choose one of: {known}.")
    return word in COMMITTED


def _quote_cell(cell: Cell) -> str:
    return abridge(printable(repr(cell)))
