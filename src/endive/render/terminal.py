"""Answers on a terminal: plain columns, colour only for what is met, missed or inconclusive.

A table never wraps: where it does not fit, its columns of lowest priority are left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rich.console import Console
from rich.text import Text

from endive.answers.answer import BAD, GOOD, RIGHT, SOFT, UNSURE, Answer, Cell, Column, Fact, Table
from endive.answers.warnings import Warned

WARNINGS_SHOWN: Final = 3
GAP: Final = "  "
STYLES: Final = {GOOD: "green", BAD: "red", UNSURE: "yellow", SOFT: "dim", "": ""}
_LABEL_COLUMNS_MIN: Final = 5


def print_answer(console: Console, answer: Answer, *, with_details: bool = False) -> None:
    """Print an answer, the most important line first."""
    for line in answer_lines(answer, console.width, with_details=with_details):
        console.print(line, soft_wrap=True)


def answer_text(answer: Answer, width: int = 100) -> str:
    """Return an answer as plain text."""
    return "\n".join(line.plain for line in answer_lines(answer, width))


def answer_lines(answer: Answer, width: int, *, with_details: bool = False) -> Iterator[Text]:
    """Yield the lines of an answer for a terminal of this width."""
    yield from _wrap(answer.headline, width, f"bold {STYLES[answer.tone]}".strip())
    why = [Fact("why", answer.why)] if answer.why else []
    if why and answer.is_why_first:
        yield Text()
        yield from fact_lines(why, width)
    for table in answer.tables:
        yield Text()
        yield from table_lines(table, width)
    if answer.paste:
        yield Text()
        yield from _labelled("set it:", [Text(line) for line in answer.paste])
    facts = [*answer.facts, *([] if answer.is_why_first else why)]
    if facts:
        yield Text()
        yield from fact_lines(facts, width)
    if answer.notes:
        yield Text()
    for note in answer.notes:
        yield from _wrap(note, width)
    if answer.warnings:
        yield Text()
        yield from warning_lines(answer.warnings, width, shown_max=None if with_details else WARNINGS_SHOWN)
    if with_details:
        yield from _details(answer.details, width)
    if answer.provenance or answer.next:
        yield Text()
    if answer.provenance:
        more = "; --details for more" if answer.details and not with_details else ""
        yield from _wrap(f"{answer.provenance}{more}", width, STYLES[SOFT], indent="")
    if answer.next:
        yield Text(f"next: {answer.next}")


def _details(parts: Iterable[Table | Fact], width: int) -> Iterator[Text]:
    facts: list[Fact] = []
    for part in parts:
        if isinstance(part, Fact):
            facts.append(part)
            continue
        yield Text()
        yield from table_lines(part, width)
    if facts:
        yield Text()
        yield from fact_lines(facts, width)


# --- tables -------------------------------------------------------------------------------------------


def table_lines(table: Table, width: int) -> Iterator[Text]:
    """Yield the lines of a table, at most ``width`` characters each."""
    if table.title:
        yield from _wrap(table.title, width, "bold")
    shown = _fitting(table, width)
    columns = [table.columns[index] for index in shown]
    rows = [[row.cells[index] for index in shown] for row in table.rows]
    widths = _widths(table, shown)
    room = width - sum(widths) - len(GAP) * (len(widths) - 1)
    if room < 0 and table.is_folded:
        widths[-1] = max(20, widths[-1] + room)
    elif room < 0:  # one column is left, and it is still too wide
        widths[0] = max(8, widths[0] + room)
    if table.has_header:
        yield _line([Cell(_head(column)) for column in columns], columns, widths, style="dim")
    for row, cells in zip(table.rows, rows, strict=True):
        if table.is_folded:
            yield from _folded(cells, columns, widths)
        else:
            yield _line(cells, columns, widths)
        if row.note:
            yield from _wrap(row.note, width, indent="  ")
    if table.footer:
        yield from _wrap(table.footer, width)


def _head(column: Column) -> str:
    return f"{column.name} ({column.unit})" if column.unit else column.name


def _fitting(table: Table, width: int) -> list[int]:
    """Return the columns that fit, without those of lowest priority; the first one always stays."""
    shown = list(range(len(table.columns)))
    while (
        not table.is_folded
        and len(shown) > 1
        and sum(widths := _widths(table, shown)) + len(GAP) * (len(widths) - 1) > width
    ):
        shown.remove(min(shown[1:], key=lambda index: (table.columns[index].priority, -index)))
    return shown


def _widths(table: Table, shown: Sequence[int]) -> list[int]:
    heads = [len(_head(table.columns[index])) if table.has_header else 0 for index in shown]
    return [
        max(head, *(len(row.cells[index].text) for row in table.rows)) if table.rows else head
        for head, index in zip(heads, shown, strict=True)
    ]


def _folded(cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int]) -> Iterator[Text]:
    """Yield a row whose last cell may take several lines."""
    parts = textwrap.wrap(cells[-1].text, widths[-1], subsequent_indent="  ") or [""]
    yield _line([*cells[:-1], replace(cells[-1], text=parts[0])], columns, widths)
    for part in parts[1:]:
        yield _line([*(Cell("") for _ in cells[:-1]), Cell(part)], columns, widths)


def _line(cells: Sequence[Cell], columns: Sequence[Column], widths: Sequence[int], style: str = "") -> Text:
    line = Text()
    for place, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        text = cell.text if len(cell.text) <= width else f"{cell.text[: width - 1]}…"
        padded = text.rjust(width) if column.align == RIGHT else text.ljust(width)
        line.append(padded if place == 0 else GAP + padded, STYLES.get(cell.tone, "") or style)
    line.rstrip()
    return line


# --- lines --------------------------------------------------------------------------------------------


def fact_lines(facts: Sequence[Fact], width: int) -> Iterator[Text]:
    """Yield labelled lines, the labels in one column."""
    room = max(_LABEL_COLUMNS_MIN, *(len(fact.label) for fact in facts)) + len(GAP)
    for fact in facts:
        folded = textwrap.wrap(fact.text, max(20, width - room)) or [""]
        for place, part in enumerate(folded):
            yield Text.assemble((fact.label if place == 0 else "").ljust(room), part)


def warning_lines(warnings: Sequence[Warned], width: int, *, shown_max: int | None = None) -> Iterator[Text]:
    """Yield the weightiest warnings: code, sentence, effect, remedy."""
    shown = list(warnings if shown_max is None else warnings[:shown_max])
    for warned in shown:
        room = len(warned.code) + len(GAP)
        for place, part in enumerate(textwrap.wrap(warned.sentence, max(20, width - room))):
            head = (warned.code.ljust(room), "yellow") if place == 0 else (" " * room, "")
            yield Text.assemble(head, part)
    if len(shown) < len(warnings):
        yield Text(f"{len(warnings) - len(shown)} more warnings with --details", STYLES[SOFT])


def _labelled(label: str, lines: Sequence[Text]) -> Iterator[Text]:
    for place, line in enumerate(lines):
        yield Text.assemble((label if place == 0 else " " * len(label)) + GAP, line)


def _wrap(text: str, width: int, style: str = "", indent: str = "") -> Iterator[Text]:
    for line in textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent) or [""]:
        yield Text(line, style)
