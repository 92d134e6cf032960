"""This file reads CSV and Parquet files of one row per commit; what a cell means is in ``endive.workload.trace``.

The same columns serve a trace of submissions (``kind = "trace"``) and a log of real commits (``endive observe``).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from difflib import get_close_matches
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Final

from endive.errors import IntakeError, TraceError
from endive.intake import open_regular

SUFFIXES: Final = (".csv", ".parquet")
BYTES_MAX: Final = 256 * 2**20
ROWS_MAX: Final = 5_000_000
CELLS_MAX: Final = 10_000_000
RELATIVE_TIME: Final = "submit_ms"
ISO_TIME: Final = "timestamp"
TIMES: Final = (RELATIVE_TIME, ISO_TIME)
# Endive's own word and Iceberg's: a file has one of the two.
KIND: Final = "kind"
OPERATION: Final = "operation"
# What really happened: kept for `endive replay`, not read by the simulator.
OUTCOMES: Final = ("duration_ms", "duration", "attempts", "outcome", "exception", "reason", "writer", "snapshot_id")
COLUMNS: Final = (RELATIVE_TIME, ISO_TIME, KIND, OPERATION, "runtime_ms", "table", "source", *OUTCOMES)

Cell = Any  # str from CSV; str, int, float, datetime or None from Parquet
Columns = dict[str, list[Cell]]


def read_columns(path: Path, columns: Sequence[str] = COLUMNS) -> Columns:
    """The columns of a file by name; raises TraceError for a file or a column that cannot be taken."""
    if path.suffix not in SUFFIXES:
        raise TraceError(f"trace {path} ends in {path.suffix!r}. Give a file that ends in .csv or .parquet.")
    try:
        with open_regular(path, bytes_max=BYTES_MAX, noun="a trace", name=f"trace {path}") as file:
            table = _read_csv(path, file) if path.suffix == ".csv" else _read_parquet(path, file)
    except IntakeError as error:
        raise TraceError(f"{error} Check the path of the source's arrivals.") from None
    _refuse_columns(path, list(table), columns)
    return table


def rows(cells: Sequence[Cell]) -> enumerate[Cell]:
    """Cells with the number of their row: the first below the header is row 1."""
    return enumerate(cells, start=1)


def is_empty(cell: Cell) -> bool:
    """Whether a cell says nothing."""
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _read_csv(path: Path, file: BinaryIO) -> Columns:
    """Cells go to their columns at once: a list for each row would take as much memory again."""
    by_name: Columns = {}
    columns: list[list[Cell]] = []
    rows = cells = 0
    try:
        for line in csv.reader(TextIOWrapper(file, encoding="utf-8-sig", newline=""), strict=True):
            cells += len(line)
            _refuse_size(path, rows, cells)
            if not by_name and line:
                by_name = _header(path, line)
                columns = list(by_name.values())
            elif line:
                rows += 1
                if len(line) != len(columns):
                    raise TraceError(
                        f"trace {path}, row {rows}: {len(line)} cells, but the header names {len(columns)} columns. "
                        "Give every row one cell per column; an empty cell is allowed."
                    )
                for column, cell in zip(columns, line, strict=True):
                    column.append(cell)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"trace {path} cannot be read as CSV: {error}.") from error
    if not by_name:
        raise TraceError(f"trace {path} is empty. Give it a header line with at least the column submit_ms.")
    return by_name


def _header(path: Path, line: Sequence[str]) -> Columns:
    columns: Columns = {}
    for name in (cell.strip() for cell in line):
        if name in columns:
            raise TraceError(f"trace {path} has two columns named {name!r}. Remove one of them.")
        columns[name] = []
    return columns


def _read_parquet(path: Path, file: BinaryIO) -> Columns:
    """Texts are read as a dictionary, in which one that is repeated a million times takes its place once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parquet = pq.ParquetFile(file)
        _refuse_size(path, parquet.metadata.num_rows, parquet.metadata.num_rows * parquet.metadata.num_columns)
        schema = parquet.schema_arrow
        texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_binary(field.type)]
        table = pq.ParquetFile(file, read_dictionary=texts).read()
        for name in texts:
            _refuse_text(path, table[name])
        return dict(table.to_pydict())
    except (OSError, ValueError, pa.ArrowException) as error:
        raise TraceError(f"trace {path} cannot be read as Parquet: {error}.") from error


def _refuse_size(path: Path, rows: int, cells: int) -> None:
    if rows > ROWS_MAX or cells > CELLS_MAX:
        raise TraceError(f"trace {path} has more than {ROWS_MAX:,} rows or {CELLS_MAX:,} cells. Cut it into several.")


def _refuse_text(path: Path, column: Any) -> None:
    """A column of texts must fit into memory when each of them is written out."""
    import pyarrow.compute as pc

    total = 0
    for chunk in column.chunks:
        lengths = pc.binary_length(chunk.dictionary)
        total += pc.sum(lengths.take(chunk.indices)).as_py() or 0
    if total > BYTES_MAX:
        raise TraceError(f"trace {path} holds {total:,} bytes of text in one column; {BYTES_MAX:,} are read.")


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
