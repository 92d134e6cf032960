"""A comparison as one HTML page, and the words of a difference.

Terminals and notebooks use the same words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from endive.answers.compare import Comparison, Difference
from endive.objectives import Estimate
from endive.objectives.fields import SHARE, Field
from endive.objectives.verdict_text import NOTHING, figure_text

STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24}"
    "table{border-collapse:collapse;margin:1rem 0}"
    "th,td{padding:.3rem .8rem;border-bottom:1px solid #d0d7de;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}.more{color:#0a5}.less{color:#b30}"
)


def difference_words(row: Difference) -> str:
    """A difference and its interval, with signs; shares in percentage points."""
    return signed_estimate(row.subject.field, row.difference)


def signed_estimate(field: Field, found: Estimate) -> str:
    """An estimate that may be negative."""
    if found.value is None:
        return NOTHING
    if found.low is None or found.high is None:
        return signed(field, found.value)
    all_three = (found.value, found.low, found.high)
    value, low, high = (signed(field, each, all_three) for each in all_three)
    return f"{value} [{low}, {high}]"


def signed(field: Field, value: float, beside: Sequence[float] = ()) -> str:
    """A figure with its sign."""
    sign = "+" if value > 0 else "-" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}unbounded"
    if field.unit == SHARE:
        return f"{sign}{abs(100.0 * value):.2f}"
    return f"{sign}{figure_text(field, abs(value), beside)}"


def comparison_page(found: Comparison) -> str:
    """The whole page."""
    keys = [(key, _shown(ours), _shown(theirs)) for key, ours, theirs in found.keys]
    rows = [difference_cells(row) for row in found.differences]
    title = f"{found.a} and {found.b}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"{html_table(('key', 'A', 'B'), keys, n_text=3) if keys else ''}"
        f"<p>{found.seeds} seeds, the same for both sides. All brackets of the differences, taken seed by seed, "
        "hold 95 times in 100; differences of shares are in percentage points.</p>"
        f"{html_table(('figure', 'A', 'B', 'B less A', 'B is'), rows)}"
        f"{''.join(f'<p>{escape(note)}</p>' for note in (*found.notes, *found.caveats))}</body></html>\n"
    )


def difference_cells(row: Difference) -> tuple[str, ...]:
    """A figure, what it is in A and in B, how far apart they are, and what that says of B."""
    field = row.subject.field
    figures = (figure_text(field, row.a.value), figure_text(field, row.b.value))
    return (str(row.subject), *figures, difference_words(row), row.outcome)


def html_table(heading: Sequence[str], rows: Iterable[Sequence[str]], n_text: int = 1) -> str:
    """A table; cells from the ``n_text``-th on are figures."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    body = "".join(
        "<tr>"
        + "".join(f"<td{'' if n < n_text else ' class=n'}>{escape(cell)}</td>" for n, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: object) -> str:
    return NOTHING if value is None else str(value)
