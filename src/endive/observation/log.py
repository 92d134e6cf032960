"""This file reads a plain log of commits: ``timestamp, operation, table[, duration, attempts, outcome]``.

The columns are those of a trace (``endive.workload.trace_file``); ``timestamp`` is when a commit began.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from endive.config.printable import printable
from endive.config.values import abridged
from endive.errors import ObservationError
from endive.observation.observed_history import OPERATIONS, UNKNOWN, Commit, TableHistory, TableShape, in_order
from endive.observation.snapshots import kind_of
from endive.workload.trace import epoch_us, time_us
from endive.workload.trace_file import ISO_TIME, OPERATION, RELATIVE_TIME, Cell, is_empty, read_columns, rows

COMMITTED: Final = ("committed", "success", "succeeded", "ok", "true")
FAILED: Final = ("failed", "aborted", "failure", "error", "false", "exhausted")
DEFAULT_TABLE: Final = "table"
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
    names = (time, OPERATION, "table", durations, "attempts", "outcome", "writer", "snapshot_id")
    blank: list[Cell] = [None] * len(columns[time])
    tables: dict[str, list[Commit]] = {}
    for row, cells in rows(list(zip(*(columns.get(name, blank) for name in names), strict=True))):
        when, operation, table, duration, attempts, outcome, writer, snapshot_id = cells
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
            attempts=None if is_empty(attempts) else _whole(path, row, "attempts", attempts, low=1),
            is_committed=_is_committed(path, row, outcome),
            is_submission=True,
        )
        tables.setdefault(DEFAULT_TABLE if is_empty(table) else printable(str(table).strip()), []).append(commit)
    if not tables:
        raise ObservationError(f"log {path} has no rows. Give it at least two commits.")
    return [_history(name, commits) for name, commits in tables.items()]


def _history(name: str, commits: list[Commit]) -> TableHistory:
    note = f"{name}: a log says nothing of the table's size; its sizes are Endive's defaults."
    return TableHistory(name=name, commits=in_order(commits), shape=TableShape(snapshots=0), notes=(note,))


def _operation(path: Path, row: int, cell: Cell) -> str:
    name = str(cell).strip()
    if name not in OPERATIONS:
        raise ObservationError(
            f"log {path}, row {row}, column operation = {_shown(cell)}. Choose one of: {', '.join(OPERATIONS)}."
        )
    return name


def _whole(path: Path, row: int, column: str, cell: Cell, low: int | None = None) -> int:
    try:
        number = int(cell) if len(str(cell)) <= DIGITS_MAX else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or (low is not None and number < low):
        wanted = "a whole number" if low is None else f"a whole number of at least {low}"
        raise ObservationError(f"log {path}, row {row}, column {column} = {_shown(cell)}. Give {wanted}.")
    return number


def _is_committed(path: Path, row: int, cell: Cell) -> bool:
    word = "committed" if is_empty(cell) else str(cell).strip().lower()
    if word not in (*COMMITTED, *FAILED):
        known = ", ".join((*COMMITTED, *FAILED))
        raise ObservationError(f"log {path}, row {row}, column outcome = {_shown(cell)}. Choose one of: {known}.")
    return word in COMMITTED


def _shown(cell: Cell) -> str:
    return abridged(printable(repr(cell)))
