"""The rows behind a page of ``docs/validation``, as CSV: what is too long to read, in a form that can be searched.

A page keeps short tables, and of long ones whatever is wrong. The site shows a CSV as a table with a filter
(``tools/table_pages.py``); so does GitHub.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

from endive.verification.suite import Check, Outcome, Table, Value
from endive.verification.texts import allowed_text, error_text, value_text

ROWS_ON_PAGE: Final = 16


def is_long(rows: Sequence[object]) -> bool:
    """Whether a page leaves these rows to a file."""
    return len(rows) > ROWS_ON_PAGE


def has_file(table: Table) -> bool:
    """Whether a page leaves the rows of this table to a file."""
    return table.is_filed or is_long(table.rows)


def checks_name(suite: str) -> str:
    """The file with the checks of a suite."""
    return f"{suite}.csv"


def table_name(suite: str, table: Table) -> str:
    """The file with the rows of one table."""
    return f"{suite}-{re.sub(r'[^a-z0-9]+', '-', table.title.lower()).strip('-')}.csv"


def row_files(suite: str, parts: Sequence[Outcome]) -> dict[str, str]:
    """Every file of a suite: all its checks if one of its parts has too many for a page, and each long table."""
    files = {
        table_name(suite, table): csv_text((table.headings, *(map(_cell, row) for row in table.rows)))
        for part in parts
        for table in part.tables
        if has_file(table)
    }
    checks = [(part.part, check) for part in parts for check in part.checks]
    if any(is_long(part.checks) for part in parts):
        files[checks_name(suite)] = csv_text(_check_rows(checks))
    return files


def csv_text(rows: Iterable[Iterable[str]]) -> str:
    """Comma separated, one line per row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _check_rows(checks: Sequence[tuple[str, Check]]) -> list[list[str]]:
    labels = list(dict.fromkeys(label for _, check in checks for label in check.what))
    rows = [["part", "compared", *labels, "expected", "actual", "unit", "error", "allowed", "verdict", "note"]]
    for part, check in checks:
        cells = [_cell(check.what[label]) if label in check.what else "" for label in labels]
        pair = [_cell(check.expected), _cell(check.actual), check.unit]
        verdict = [error_text(check), allowed_text(check), check.verdict, check.note]
        rows.append([part, check.name, *cells, *pair, *verdict])
    return rows


def _cell(value: Value) -> str:
    return value if isinstance(value, str) else value_text(value).replace(",", "")
