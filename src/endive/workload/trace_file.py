"""This file reads CSV and Parquet files of one row per commit; what a cell means is in ``endive.workload.trace``.

The same columns serve a trace of submissions (``kind = "trace"``) and a log of real commits (``endive observe``).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from endive.errors import TraceError

SUFFIXES: Final = (".csv", ".parquet")
RELATIVE_TIME: Final = "submit_ms"
ISO_TIME: Final = "timestamp"
TIMES: Final = (RELATIVE_TIME, ISO_TIME)
# Endive's own word and Iceberg's: a file has one of the two.
KIND: Final = "kind"
OPERATION: Final = "operation"
# What really happened: kept for `endive replay`, not read by the simulator.
OUTCOMES: Final = ("duration_ms", "duration", "attempts", "outcome", "writer", "snapshot_id")
COLUMNS: Final = (RELATIVE_TIME, ISO_TIME, KIND, OPERATION, "runtime_ms", "table", "source", *OUTCOMES)

Cell = Any  # str from CSV; str, int, float, datetime or None from Parquet
Columns = dict[str, list[Cell]]


def read_columns(path: Path, columns: Sequence[str] = COLUMNS) -> Columns:
    """The columns of a file by name; raises TraceError for a file or a column that cannot be taken."""
    if path.suffix not in SUFFIXES:
        raise TraceError(f"trace {path} ends in {path.suffix!r}. Give a file that ends in .csv or .parquet.")
    if not path.is_file():
        raise TraceError(f"trace {path} does not exist. Check the path of the source's arrivals.")
    found = _read_csv(path) if path.suffix == ".csv" else _read_parquet(path)
    _refuse_columns(path, list(found), columns)
    return found


def rows(cells: Sequence[Cell]) -> enumerate[Cell]:
    """Cells with the number of their row: the first below the header is row 1."""
    return enumerate(cells, start=1)


def is_empty(cell: Cell) -> bool:
    """Whether a cell says nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


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
    for row, line in rows(lines[1:]):
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


def _refuse_columns(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    if not set(TIMES) & set(names):
        raise TraceError(
            f"trace {path} has no column submit_ms; its columns are {', '.join(names)}. "
            "Name the submission times, in milliseconds, submit_ms, or ISO times timestamp."
        )
    for one, other in (TIMES, (KIND, OPERATION), ("duration_ms", "duration")):
        if one in names and other in names:
            raise TraceError(f"trace {path} has both columns {one} and {other}. Remove one of them.")
    for name in names:
        if name not in columns:
            near = get_close_matches(name, columns, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise TraceError(
                f"trace {path} has a column {name!r} that nothing reads.{hint} "
                f"Remove it; the columns are {', '.join(columns)}."
            )
