"""The answer of a limit: the last value that keeps the objective, and the values that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.answers.answer import RIGHT, SOFT, UNSURE, Answer, Cell, Column, Fact, Table, make_table
from endive.answers.headline import TONES
from endive.answers.limit import ANY, LARGEST, NONE, Limit
from endive.answers.limit_search import Point
from endive.answers.run_tables import system_of
from endive.config import SimulationConfig
from endive.objectives import MET, NOT_MET
from endive.objectives.certainty import outcome_word
from endive.objectives.objective import DEFAULT_OBJECTIVE
from endive.objectives.verdict_text import NOTHING, figure_text, interval_text, share_digits

ROWS_MAX: Final = 6
NOUNS: Final = {"clients": "clients", "jobs": "jobs", "per_s": "per second", "load": "times the load", "days": "days"}


def limit_answer(found: Limit, config: SimulationConfig, file: str = "FILE") -> Answer:
    """Return what the renderers show."""
    is_sure = found.doubt is None
    return Answer(
        question="limit",
        headline=headline_of_limit(found),
        tone=TONES[MET] if is_sure and found.which != NONE else TONES[NOT_MET] if is_sure else UNSURE,
        tables=(*(each.table for each in found.cases), _table(found, _shown(found))),
        paste=tuple(line for each in found.cases for line in each.paste),
        notes=(*found.notes, *([found.doubt] if found.doubt else [])),
        next=f"endive advise {file}" if found.which == NONE else "",
        warnings=found.warnings,
        provenance=f"{found.simulations:,} simulations; {system_of(config)}",
        details=(_table(found, found.points, title="Every value that was tried"), Fact("objective", found.objective)),
    )


def headline_of_limit(found: Limit) -> str:
    """Return ``23 clients is the most that keeps success >= 99 % (now 20)``."""
    now = "" if found.now is None else f" (now {found.text_of(found.now)})"
    objective = objective_words(found.objective)
    if found.which == ANY:
        return f"any {found.key} from {found.text_of(found.low)} to {found.text_of(found.high)} keeps {objective}{now}"
    if found.which == NONE:
        return f"no {found.key} from {found.text_of(found.low)} to {found.text_of(found.high)} keeps {objective}{now}"
    most = "most" if found.which == LARGEST else "least"
    about = "" if found.doubt is None else "about "
    unsure = "" if found.doubt is None else ", inconclusive"
    return f"{about}{_value_words(found)} is the {most} that keeps {objective}{now}{unsure}"


def objective_words(text: str) -> str:
    """Return an objective in a clause; the default one in short."""
    return "success >= 99 %" if text == DEFAULT_OBJECTIVE else text


def _value_words(found: Limit) -> str:
    leaf = found.key.rpartition(".")[2]
    value = found.text_of(found.value)
    noun = NOUNS.get(leaf)
    return f"{value} {noun}" if noun else f"{found.key} = {value}"


def _shown(found: Limit) -> list[Point]:
    """Return the values that show the limit: the smallest and the largest, today's, and those next to the limit."""
    points = list(found.points)
    if len(points) <= ROWS_MAX:
        return points
    nearest = sorted(points, key=lambda point: abs(point.value - found.value))[:3]
    ends = [points[0], points[-1]]
    today = [point for point in points if point.value == found.now]
    chosen = {point.value for point in (*nearest, *today, *ends)}
    return [point for point in points if point.value in chosen]


def _table(found: Limit, points: Sequence[Point], title: str = "") -> Table:
    place = decisive_part(found)
    subject = found.points[0].verdict.parts[place].subject
    is_success = subject.field.path == ("success_rate",)
    name = "success" if is_success else str(subject)
    columns = (
        Column(name=found.key.rpartition(".")[2], align=RIGHT),
        Column(name=f"{name} [99 % CI]"),
        Column(name="objective"),
        Column(name="runs", align=RIGHT, priority=2),
        Column(name=" ", priority=3),
    )
    rows = []
    for point in points:
        part = point.verdict.parts[place]
        field = part.subject.field
        value = (
            f"{share_digits(part.found.value)} %"
            if is_success and part.found.value is not None
            else figure_text(field, part.found.value)
        )
        interval = interval_text(field, part.found)
        outcome = point.verdict.outcome
        rows.append(
            (
                Cell(found.text_of(point.value), point.value),
                Cell(f"{value} {interval}".strip() if part.found.value is not None else NOTHING, part.found.value),
                Cell(outcome_word(outcome), outcome, TONES.get(outcome, "")),
                str(point.seeds),
                Cell(_mark(found, point.value), None, SOFT),
            )
        )
    return make_table(columns, rows, title=title)


def _mark(found: Limit, value: float) -> str:
    marks = []
    if found.which not in (ANY, NONE) and value == found.value:
        marks.append("<- limit" if found.low == found.high else f"<- limit, {found.span}")
    if value == found.now:
        marks.append("<- now")
    return " ".join(marks)


def decisive_part(found: Limit) -> int:
    """Return the index of the comparison that decides at the limit: the first that is missed anywhere."""
    failing = [point for point in found.points if point.verdict.outcome == NOT_MET]
    for point in sorted(failing, key=lambda point: abs(point.value - found.value)):
        for place, part in enumerate(point.verdict.parts):
            if part.outcome == NOT_MET:
                return place
    return 0
