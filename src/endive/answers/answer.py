"""An answer as a value: headline, tables, reason, next command, warnings, provenance.

Every question returns one. The renderers (``endive.render``) decide how it looks on a terminal, on a page and as JSON;
nothing here knows about layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.answers.warnings import Warned

LEFT: Final = "left"
RIGHT: Final = "right"
GOOD: Final = "good"
BAD: Final = "bad"
UNSURE: Final = "unsure"
SOFT: Final = "soft"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table: its text, the value behind it, and a tone that says what it means."""

    text: str
    value: Any = None
    tone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table; the lowest priority is left out first where there is no room for all."""

    name: str
    unit: str = ""
    align: str = LEFT
    priority: int = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table, and a note that belongs below it."""

    cells: tuple[Cell, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with named columns; a footer of one line at most."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    title: str = ""
    footer: str = ""
    has_header: bool = True
    is_folded: bool = False  # whether the last column may take several lines


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled line: ``failed  197 transactions ran out of retries``."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a question found out."""

    question: str
    headline: str
    tone: str = ""
    tables: tuple[Table, ...] = ()
    facts: tuple[Fact, ...] = ()
    why: str = ""
    is_why_first: bool = False  # whether the reason stands before the tables
    notes: tuple[str, ...] = ()
    paste: tuple[str, ...] = ()  # lines for the configuration file that settle what the answer depends on
    next: str = ""
    warnings: tuple[Warned, ...] = ()
    provenance: str = ""
    details: tuple[Table | Fact, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "question": self.question,
            "headline": self.headline,
            "tables": [_table_dict(table) for table in self.tables],
            "facts": {fact.label: fact.text for fact in self.facts},
            "why": self.why,
            "notes": list(self.notes),
            "paste": list(self.paste),
            "next": self.next,
            "warnings": [warned.to_dict() for warned in self.warnings],
            "provenance": self.provenance,
        }


def _table_dict(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": [{"name": column.name, "unit": column.unit} for column in table.columns],
        "rows": [
            {
                "cells": [{"text": cell.text, "value": cell.value} for cell in row.cells],
                **({"note": row.note} if row.note else {}),
            }
            for row in table.rows
        ],
    }


def make_table(columns: Sequence[str | Column], rows: Iterable[Sequence[str | Cell]], **more: Any) -> Table:
    """Return a table; a column whose name starts with ``>`` is aligned to the right."""
    return Table(
        columns=tuple(_column(each) for each in columns),
        rows=tuple(Row(cells=tuple(each if isinstance(each, Cell) else Cell(each) for each in row)) for row in rows),
        **more,
    )


def _column(column: str | Column) -> Column:
    if isinstance(column, Column):
        return column
    return Column(name=column.removeprefix(">"), align=RIGHT if column.startswith(">") else LEFT)
