"""A trace of submissions, to be repeated; the file's format is in ``trace_file``.

One row per submission, ascending in time, and optionally what is known of each txn (its kind, runtime, table); an empty
cell is drawn like any other txn's. When the rows are submitted is decided in ``endive.workload.arrivals``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from endive.errors import TraceError
from endive.vocabulary import KINDS
from endive.workload.trace_file import (
    ISO_TIME,
    KIND,
    OPERATION,
    RELATIVE_TIME,
    Cell,
    Columns,
    is_empty,
    read_columns,
    rows,
)

NOT_GIVEN: Final = -1  # a cell left empty: drawn from the source's own distributions
TIME_MS_MAX: Final = 1e15  # 30,000 years: far below the last microsecond an int64 can count

# What a snapshot summary calls it (org.apache.iceberg.DataOperations) -> what commits it. Iceberg does not tell a
# FastAppend from a MergeAppend; `newAppend()`, which most engines call, is the latter.
ICEBERG_OPERATIONS: Final = {
    "append": "merge_append",
    "overwrite": "validated_overwrite",
    "delete": "validated_overwrite",
    "replace": "rewrite_files",
}
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLog:
    """Submissions in order, and what is known of each; NOT_GIVEN where nothing is."""

    submit_us: tuple[int, ...]
    kinds: tuple[int, ...]
    runtimes_us: tuple[int, ...]
    tables: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.submit_us), len(self.kinds), len(self.runtimes_us), len(self.tables)}
        assert len(lengths) == 1, "every submission has a cell in every column"


def read_trace(path: Path, *, total_tables: int, source: str | None = None) -> TraceLog:
    """The trace in ``path``; raises TraceError naming file, row, column and value.

    With ``source``, only the rows whose column ``source`` says so. Time 0 is submit_ms = 0, or the first timestamp of
    the whole file, so that the sources of one file keep their distance.
    """
    columns = read_columns(path)
    submit_us = _submissions_us(path, columns)
    if not submit_us:
        raise TraceError(f"trace {path} has no rows. Give it at least one, or remove the source.")

    def optional(column: str, convert: Callable[[int, Cell], int]) -> tuple[int, ...]:
        cells = columns.get(column)
        if cells is None:
            return (NOT_GIVEN,) * len(submit_us)
        return tuple(NOT_GIVEN if is_empty(cell) else convert(row, cell) for row, cell in rows(cells))

    kinds = optional(KIND, lambda row, cell: _kind(path, row, KIND, cell, dict(zip(KINDS, KINDS, strict=True))))
    if OPERATION in columns:
        kinds = optional(OPERATION, lambda row, cell: _kind(path, row, OPERATION, cell, ICEBERG_OPERATIONS))
    log = TraceLog(
        submit_us=tuple(submit_us),
        kinds=kinds,
        runtimes_us=optional("runtime_ms", lambda row, cell: time_us(path, row, "runtime_ms", cell)),
        tables=_tables(path, columns, total_tables, len(submit_us)),
    )
    return log if source is None else _of_source(log, path, columns, source)


def _of_source(log: TraceLog, path: Path, columns: Columns, source: str) -> TraceLog:
    names = [str(cell).strip() for cell in columns.get("source", [])]
    own = [index for index, name in enumerate(names) if name == source]
    if not own:
        known = ", ".join(dict.fromkeys(names)) or "none: it has no column source"
        raise TraceError(f"trace {path} has no row of source {source!r}. Its sources are {known}.")
    return TraceLog(**{each.name: tuple(getattr(log, each.name)[index] for index in own) for each in fields(TraceLog)})


# ---- times -----------------------------------------------------------------------------------------


def _submissions_us(path: Path, columns: Columns) -> list[int]:
    column = RELATIVE_TIME if RELATIVE_TIME in columns else ISO_TIME
    read = time_us if column == RELATIVE_TIME else epoch_us
    cells = columns[column]
    times_us = [read(path, row, column, cell) for row, cell in rows(cells)]
    for row in range(2, len(times_us) + 1):
        if times_us[row - 1] < times_us[row - 2]:
            raise TraceError(
                f"trace {path}, row {row}, column {column}: {cells[row - 1]} comes after "
                f"{cells[row - 2]}. Sort the file by {column}, ascending."
            )
    return times_us if column == RELATIVE_TIME else [us - times_us[0] for us in times_us]


def time_us(path: Path, row: int, column: str, cell: Cell) -> int:
    """Milliseconds as microseconds, rounded once."""
    try:
        ms = float(cell)
    except (TypeError, ValueError):
        ms = math.nan
    if not 0.0 <= ms <= TIME_MS_MAX:
        raise TraceError(
            f"trace {path}, row {row}, column {column} = {cell!r}. "
            f"Give a number of milliseconds from 0 to {TIME_MS_MAX:g}."
        )
    return int(ms * 1000.0 + 0.5)


def epoch_us(path: Path, row: int, column: str, cell: Cell) -> int:
    """An ISO time as microseconds since 1970; a time without a zone is UTC."""
    try:
        moment = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
    except ValueError:
        raise TraceError(
            f"trace {path}, row {row}, column {column} = {cell!r}. Give an ISO time, as in 2026-03-01T12:00:00.250Z."
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


# ---- kinds and tables ------------------------------------------------------------------------------


def _kind(path: Path, row: int, column: str, cell: Cell, meanings: dict[str, str]) -> int:
    name = cell.strip() if isinstance(cell, str) else cell
    if name not in meanings:
        near = get_close_matches(str(name), list(meanings), n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        choices = ", ".join(meanings)
        raise TraceError(f"trace {path}, row {row}, column {column} = {cell!r}.{hint} Choose one of: {choices}.")
    return KINDS.index(meanings[name])


def _tables(path: Path, columns: Columns, total_tables: int, length: int) -> tuple[int, ...]:
    """Tables by number, or by name: names are numbered in the order in which they appear."""
    cells = columns.get("table")
    if cells is None:
        return (NOT_GIVEN,) * length
    if any(_is_name(cell) for cell in cells) and not any(_is_number(cell) for cell in cells):
        return _named_tables(path, cells, total_tables)
    return tuple(NOT_GIVEN if is_empty(cell) else _table(path, row, cell, total_tables) for row, cell in rows(cells))


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, (int, float)) or (isinstance(cell, str) and bool(_NUMBER.fullmatch(cell.strip())))


def _is_name(cell: Cell) -> bool:
    return isinstance(cell, str) and not is_empty(cell) and not _is_number(cell)


def _named_tables(path: Path, cells: Sequence[Cell], total_tables: int) -> tuple[int, ...]:
    names = list(dict.fromkeys(str(cell).strip() for cell in cells if not is_empty(cell)))
    if len(names) > total_tables:
        raise TraceError(
            f"trace {path} names {len(names)} tables, among them {names[total_tables]!r}; catalog.num_tables is "
            f"{total_tables}. Set catalog.num_tables = {len(names)}."
        )
    numbers = {name: number for number, name in enumerate(names)}
    return tuple(NOT_GIVEN if is_empty(cell) else numbers[str(cell).strip()] for cell in cells)


def _table(path: Path, row: int, cell: Cell, total_tables: int) -> int:
    try:
        table = int(cell) if isinstance(cell, str) else cell
    except ValueError:
        table = NOT_GIVEN
    if not isinstance(table, int) or isinstance(table, bool) or not 0 <= table < total_tables:
        raise TraceError(
            f"trace {path}, row {row}, column table = {cell!r}. "
            f"Give a whole number from 0 to {total_tables - 1}; catalog.num_tables is {total_tables}. "
            "Or give names throughout."
        )
    return table
