"""The answer of a comparison: which side is better in what, and whether an unset input turns that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.answers.answer import BAD, GOOD, UNSURE, Answer, Cell, Column, Fact, Table, make_table
from endive.answers.compare import LESS, MORE, Comparison, Difference, Variation, signed_text
from endive.config.problems import show
from endive.objectives.fields import SHARE
from endive.objectives.verdict_text import NOTHING, figure_text

NAMES: Final = {
    "success_rate": "success",
    "committed_per_s": "commits",
    "p50_commit": "commit P50",
    "p95_commit": "commit P95",
    "p99_commit": "commit P99",
    "retries_mean": "retries per transaction",
    "requests_per_commit": "requests per commit",
    "p50_freshness": "staleness P50",
    "p95_freshness": "staleness P95",
    "p99_freshness": "staleness P99",
    "lost_share": "data lost",
}
GOOD_IF_MORE: Final = ("success_rate", "committed_per_s")
NEUTRAL: Final = ("requests_per_commit", "retries_mean")
RANKED: Final = ("success_rate", "p50_commit", "p95_commit", "p50_freshness", "committed_per_s")


def compare_answer(found: Comparison) -> Answer:
    """Return what the renderers show."""
    differing = [row for row in found.differences if row.outcome in (MORE, LESS)]
    same = len(found.differences) - len(differing)
    footer = ""
    if same and differing:
        footer = f"{same} more metric{'s show' if same > 1 else ' shows'} no significant difference (--details)"
    return Answer(
        question="compare",
        headline=headline_of_comparison(found),
        tone=UNSURE if found.variation is not None else "",
        tables=(comparison_table(found, differing, footer),) if differing else (),
        paste=() if found.variation is None else found.variation.paste,
        notes=found.notes,
        warnings=found.warnings,
        provenance=f"{found.seeds} seeds, the same for both sides; brackets hold for all metrics together at 95 %",
        details=(
            *((_keys(found),) if found.keys else ()),
            comparison_table(found, found.differences, "", title="Every metric", with_intervals=True),
            Fact("A", found.a),
            Fact("B", found.b),
        ),
    )


def headline_of_comparison(found: Comparison) -> str:
    """Return which side is better, by the first metric of weight in which they differ."""
    best = leading_difference(found.differences)
    if best is None:
        both = "A and B" if found.a == found.b else f"{found.a} and {found.b}"
        return f"no significant difference between {both} ({found.seeds} seeds)"
    unless = "" if found.variation is None else f", unless {found.variation.words} (not set)"
    return f"{_who_is_better(best, found.b)}{unless}"


def leading_difference(differences: Sequence[Difference]) -> Difference | None:
    """Return the difference that ranks the sides: success first, then latency."""
    for name in RANKED:
        rows = [row for row in differences if row.subject.field.name == name and row.outcome in (MORE, LESS)]
        if rows:
            return max(rows, key=lambda row: abs(row.difference.value or 0.0))
    return None


def is_b_better(row: Difference) -> bool:
    """Return whether B is on the good side of a difference."""
    return (row.outcome == MORE) == (row.subject.field.name in GOOD_IF_MORE)


def _who_is_better(row: Difference, name: str) -> str:
    field, who = row.subject.field, f"B ({name})"
    part = f" for {row.subject.name}" if row.subject.name else ""
    a, b = (figure_text(field, side.value) for side in (row.a, row.b))
    if field.name == "success_rate":
        return f"{who} commits {'more' if row.outcome == MORE else 'less'} often{part}: {b} instead of {a}"
    if field.name == "committed_per_s":
        return f"{who} commits {'more' if row.outcome == MORE else 'less'}{part}: {b} instead of {a}"
    better = "faster" if field.name.endswith("commit") else "fresher"
    worse = "slower" if field.name.endswith("commit") else "staler"
    return f"{who} is {better if row.outcome == LESS else worse}{part}: {NAMES[field.name]} {b} instead of {a}"


def comparison_table(
    found: Comparison,
    rows: Sequence[Difference],
    footer: str,
    *,
    title: str = "",
    with_intervals: bool = False,
) -> Table:
    """Return one row per metric: both sides, the change, and the change at another end of an unset input."""
    columns = [
        Column(name="metric"),
        Column(name=f"A {_short(found.a)}", align="right"),
        Column(name=f"B {_short(found.b)}", align="right"),
        Column(name="B - A", align="right"),
    ]
    other = {} if found.variation is None else {row.subject: row for row in found.variation.differences}
    if found.variation is not None:
        columns.append(Column(name=f"B, if {found.variation.short}", align="right"))
    is_single = len({row.subject.name for row in found.differences if row.subject.name}) <= 1
    cells = []
    for row in rows:
        field = row.subject.field
        name = NAMES.get(field.name, field.name)
        part = "" if is_single and row.subject.name else f"{row.subject.name or 'all'}: "
        line = [
            Cell(f"{part}{name}"),
            Cell(figure_text(field, row.a.value), row.a.value),
            Cell(figure_text(field, row.b.value), row.b.value),
            Cell(_change(row, with_intervals), row.difference.value, _tone(row)),
        ]
        if found.variation is not None:
            turned = other.get(row.subject)
            text = NOTHING if turned is None else f"{figure_text(field, turned.b.value)}  {_change(turned, False)}"
            line.append(Cell(text, None if turned is None else turned.b.value, "" if turned is None else _tone(turned)))
        cells.append(line)
    return make_table(columns, cells, title=title, footer=footer)


def _change(row: Difference, with_interval: bool) -> str:
    """Return a change: in points for shares, in percent for everything else."""
    field, found = row.subject.field, row.difference
    if found.value is None:
        return NOTHING
    if with_interval and found.low is not None and found.high is not None:
        return f"{signed_text(field, found.value)} [{signed_text(field, found.low)}, {signed_text(field, found.high)}]"
    if row.outcome not in (MORE, LESS):
        return "~"
    if field.unit == SHARE:
        return f"{100.0 * found.value:+.2g} pp"
    if not row.a.value:
        return signed_text(field, found.value)
    return f"{100.0 * found.value / row.a.value:+.0f} %"


def _tone(row: Difference) -> str:
    if row.outcome not in (MORE, LESS) or row.subject.field.name in NEUTRAL:
        return ""
    return GOOD if is_b_better(row) else BAD


def _keys(found: Comparison) -> Table:
    rows = [
        (key, NOTHING if ours is None else show(ours), NOTHING if theirs is None else show(theirs))
        for key, ours, theirs in found.keys
    ]
    return make_table(("key", "A", "B"), rows, title="Keys that differ")


def _short(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:23]}…"


def ranking_turns(differences: Sequence[Difference], variation: Variation) -> bool:
    """Return whether another end of an unset input reverses the leading difference."""
    best = leading_difference(differences)
    if best is None:
        return leading_difference(variation.differences) is not None
    turned = next((row for row in variation.differences if row.subject == best.subject), None)
    return turned is not None and turned.outcome in (MORE, LESS) and turned.outcome != best.outcome
