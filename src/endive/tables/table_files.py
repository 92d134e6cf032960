"""A table as Parquet, CSV and Markdown, each column with its unit.

Column names carry the unit where they can (``_ms``, ``_per_s``); Markdown's headings and Parquet's field metadata spell
it out. It computes nothing.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from html import escape
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

MARKDOWN_ROWS_MAX: Final = 1_000  # nobody reads on; CSV and Parquet have all

_STATISTICS: Final = ("_stddev", "_ci95_low", "_ci95_high")
_UNITS: Final = {
    "window_length_s": "s",
    "success_rate": "share",
    "success_rate_at_max": "share",
    "share": "share",
    "commit_latency_drift": "share",
    "in_flight_committing_share": "share",
    "retries_mean": "retries/txn",
    "attempts_low": "attempts",
    "attempts_high": "attempts",
    "attempts_mean": "attempts/txn",
    "history_lists_mean": "lists/txn",
    "per_run": "1/run",
    "per_txn": "1/txn",
    "per_committed_txn": "1/committed txn",
    "requests_per_txn": "requests/txn",
    "requests_per_committed_txn": "requests/committed txn",
}
_SUFFIXES: Final = {
    "_ms": "ms",
    "_per_s": "txns/s",
    "_per_committed_txn": "1/committed txn",
    "_per_txn": "1/txn",
}
_PREFIXES: Final = {"txns": "txns", "requests_": "requests", "bytes_": "bytes", "n_behind_": "snapshots"}
_NUMBERS: Final = ("point", "seed", "curve", "bin", "sustained_point", "missed_point")  # names, not amounts
_LABELS: Final = {"ci95": "95 %", "p50": "P50", "p95": "P95", "p99": "P99"}


def unit_of(column: str) -> str:
    """The unit of a column or figure; empty for names, numbers of things and booleans."""
    for statistic in _STATISTICS:
        column = column.removesuffix(statistic)
    if column in _UNITS:
        return _UNITS[column]
    if "." in column:
        return ""  # an axis: its key says it
    for suffix, unit in _SUFFIXES.items():
        if column.endswith(suffix):
            return unit
    for prefix, unit in _PREFIXES.items():
        if column.startswith(prefix):
            return unit
    return ""


def to_parquet(table: pa.Table) -> bytes:
    """One Parquet file, each field with its unit as metadata, and nothing of where a frame of Spark was read from."""
    if not table.num_rows:  # what was filtered down to nothing may have bytes of its past
        table = table.schema.empty_table()
    units = {name: unit_of(name) for name in table.column_names}
    fields = [field.with_metadata({"unit": units[field.name]} if units[field.name] else None) for field in table.schema]
    stream = io.BytesIO()
    pq.write_table(table.cast(pa.schema(fields)), stream, compression="zstd")
    return stream.getvalue()


def to_csv(table: pa.Table) -> bytes:
    """Full precision, column names as headings, nothing for null; no text that a spreadsheet would compute."""
    stream = io.BytesIO()
    pacsv.write_csv(_without_formulas(table), stream, pacsv.WriteOptions(quoting_style="needed"))
    return stream.getvalue()


def to_markdown(table: pa.Table, title: str) -> str:
    """A page with one table: headings with units, four digits that matter, at most ``MARKDOWN_ROWS_MAX`` rows.

    A mean and its interval share a cell; standard deviations are left to the other files.
    """
    is_empty = {name: 0 < table.num_rows == table[name].null_count for name in table.column_names}
    full = table.select([name for name in table.column_names if not is_empty[name]])
    besides = {f"{name}{ending}" for name in full.column_names for ending in _STATISTICS}
    shown = [name for name in full.column_names if name not in besides]
    lines = [
        f"# {title}",
        "",
        _row([heading(name) for name in shown]),
        _row(["---:" if _is_number(full.schema.field(name).type) else "---" for name in shown]),
        *map(_row, zip(*(_texts(full.slice(0, MARKDOWN_ROWS_MAX), name) for name in shown), strict=True)),
    ]
    if table.num_rows > MARKDOWN_ROWS_MAX:
        lines += ["", f"{table.num_rows - MARKDOWN_ROWS_MAX:,} more rows are in the CSV and Parquet files."]
    if full.num_columns < table.num_columns:
        empty = ", ".join(name for name in table.column_names if is_empty[name])
        lines += ["", f"Empty, and left out here: {empty}."]
    return "\n".join(lines) + "\n"


def heading(column: str) -> str:
    """A column's name in words, with its unit."""
    if "." in column:
        return f"`{column.replace('|', '')}`"
    unit = unit_of(column)
    statistic = next((ending for ending in _STATISTICS if column.endswith(ending)), "")
    name = column.removesuffix(statistic)
    if unit in ("ms", "txns/s"):
        name = name.removesuffix("_ms").removesuffix("_per_s")
    words = " ".join(_LABELS.get(word, word) for word in f"{name}{statistic}".split("_"))
    return f"{words} ({unit})" if unit else words


def _texts(table: pa.Table, column: str) -> list[str]:
    """Return the cells of a column, each with its 95 % interval in brackets, if it has one."""
    values = table[column].to_pylist()
    if column in _NUMBERS:
        texts = [cell(None) if value is None else str(value) for value in values]
    else:
        texts = [cell(value) for value in values]
    ends = [f"{column}_ci95_{end}" for end in ("low", "high")]
    if not set(ends) <= set(table.column_names):
        return texts
    return [
        text if low is None or high is None else f"{text} [{cell(low)}, {cell(high)}]"
        for text, low, high in zip(texts, *(table[end].to_pylist() for end in ends), strict=True)
    ]


def cell(value: Any) -> str:
    """A value as text: four digits that matter, thousands separated, a dash for null."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value)
    return escape(str(value), quote=False).replace("|", "\\|").replace("\n", " ")


def _without_formulas(table: pa.Table) -> pa.Table:
    """Texts that a spreadsheet would take for a formula begin with an apostrophe instead."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            safe = pc.replace_substring_regex(table.column(index), r"^([=+\-@\t\r])", r"'\1")
            table = table.set_column(index, field, safe)
    return table


def _number(value: float) -> str:
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}" if digits <= 9 else f"{value:.3e}"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
