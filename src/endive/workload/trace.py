"""Reads a trace of submissions from a CSV or Parquet file.

Owns the format and its errors: one row per submission, ``submit_ms`` ascending from 0, and optionally what
is known of each txn (``kind``, ``runtime_ms``, ``table``); an empty cell is drawn like any other txn's.
Refuses to repair a file, to sort it for instance, and to own when its rows are submitted
(``endive.workload.arrivals``).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from endive.errors import TraceError
from endive.results.schema import KINDS

NOT_GIVEN: Final = -1  # a cell left empty: drawn from the source's own distributions

COLUMNS: Final = ("submit_ms", "kind", "runtime_ms", "table")
SUFFIXES: Final = (".csv", ".parquet")
TIME_MS_MAX: Final = 1e15  # 30,000 years: far below the last microsecond an int64 can count

Cell = Any  # str from CSV; str, int, float or None from Parquet
Columns = dict[str, list[Cell]]


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


def read_trace(path: Path, *, total_tables: int) -> TraceLog:
    """The trace in ``path``; raises TraceError naming file, row, column and value."""
    columns = _read_columns(path)
    _refuse_columns(path, list(columns))
    submit_us = [_time_us(path, row, "submit_ms", cell) for row, cell in _rows(columns["submit_ms"])]
    if not submit_us:
        raise TraceError(f"trace {path} has no rows. Give it at least one, or remove the source.")
    for row in range(2, len(submit_us) + 1):
        if submit_us[row - 1] < submit_us[row - 2]:
            raise TraceError(
                f"trace {path}, row {row}, column submit_ms: {columns['submit_ms'][row - 1]} comes after "
                f"{columns['submit_ms'][row - 2]}. Sort the file by submit_ms, ascending."
            )

    def optional(column: str, convert: Callable[[int, Cell], int]) -> tuple[int, ...]:
        cells = columns.get(column)
        if cells is None:
            return (NOT_GIVEN,) * len(submit_us)
        return tuple(NOT_GIVEN if _is_empty(cell) else convert(row, cell) for row, cell in _rows(cells))

    return TraceLog(
        submit_us=tuple(submit_us),
        kinds=optional("kind", lambda row, cell: _kind(path, row, cell)),
        runtimes_us=optional("runtime_ms", lambda row, cell: _time_us(path, row, "runtime_ms", cell)),
        tables=optional("table", lambda row, cell: _table(path, row, cell, total_tables)),
    )


def _rows(cells: Sequence[Cell]) -> enumerate[Cell]:
    """Cells with the number of their row: the first below the header is row 1."""
    return enumerate(cells, start=1)


def _is_empty(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


# ---- files -----------------------------------------------------------------------------------------


def _read_columns(path: Path) -> Columns:
    if path.suffix not in SUFFIXES:
        raise TraceError(f"trace {path} ends in {path.suffix!r}. Give a file that ends in .csv or .parquet.")
    if not path.is_file():
        raise TraceError(f"trace {path} does not exist. Check the path of the source's arrivals.")
    return _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)


def _read_csv(path: Path) -> Columns:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file, strict=True) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"trace {path} cannot be read as CSV: {error}.") from error
    if not lines:
        raise TraceError(f"trace {path} is empty. Give it a header line with at least the column submit_ms.")
    header = [name.strip() for name in lines[0]]
    for index, name in enumerate(header):
        if name in header[:index]:
            raise TraceError(f"trace {path} has two columns named {name!r}. Remove one of them.")
    for row, line in _rows(lines[1:]):
        if len(line) != len(header):
            raise TraceError(
                f"trace {path}, row {row}: {len(line)} cells, but the header names {len(header)} columns. "
                "Give every row one cell per column; an empty cell is allowed."
            )
    return {name: [line[index] for line in lines[1:]] for index, name in enumerate(header)}


def _read_parquet(path: Path) -> Columns:
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        return dict(read_table(path).to_pydict())
    except (OSError, ArrowException) as error:
        raise TraceError(f"trace {path} cannot be read as Parquet: {error}.") from error


def _refuse_columns(path: Path, names: Sequence[str]) -> None:
    if "submit_ms" not in names:
        raise TraceError(
            f"trace {path} has no column submit_ms; its columns are {', '.join(names)}. "
            "Name the submission times, in milliseconds, submit_ms."
        )
    for name in names:
        if name not in COLUMNS:
            near = get_close_matches(name, COLUMNS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise TraceError(
                f"trace {path} has a column {name!r} that nothing reads.{hint} "
                f"Remove it; the columns are {', '.join(COLUMNS)}."
            )


# ---- cells -----------------------------------------------------------------------------------------


def _time_us(path: Path, row: int, column: str, cell: Cell) -> int:
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


def _kind(path: Path, row: int, cell: Cell) -> int:
    name = cell.strip() if isinstance(cell, str) else cell
    if name not in KINDS:
        near = get_close_matches(str(name), KINDS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise TraceError(f"trace {path}, row {row}, column kind = {cell!r}.{hint} Choose one of: {', '.join(KINDS)}.")
    return KINDS.index(name)


def _table(path: Path, row: int, cell: Cell, total_tables: int) -> int:
    try:
        table = int(cell) if isinstance(cell, str) else cell
    except ValueError:
        table = NOT_GIVEN
    if not isinstance(table, int) or isinstance(table, bool) or not 0 <= table < total_tables:
        raise TraceError(
            f"trace {path}, row {row}, column table = {cell!r}. "
            f"Give a whole number from 0 to {total_tables - 1}; catalog.num_tables is {total_tables}."
        )
    return table
