"""The answer of advise: whether a change is needed, which is enough, what it requires and what it trades off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from endive.answers.advice.advise import Advice, Advised
from endive.answers.advice.levers import EFFORTS
from endive.answers.answer import RIGHT, UNSURE, Answer, Cell, Column, Fact, Table, make_table
from endive.answers.headline import TONES, describe_part
from endive.answers.run_answer import as_sentences
from endive.config.availability import HYPOTHETICAL
from endive.objectives import CANNOT_TELL, MET
from endive.objectives.certainty import outcome_word
from endive.objectives.fields import SHARE
from endive.objectives.verdict_text import NOTHING, figure_text, share_digits

SHOWN_MAX: Final = 4
COUNTS: Final = ("no", "one", "two", "three", "four", "five")
WORDS_MAX: Final = 52


def advice_answer(found: Advised, file: str = "FILE", *, show_all: bool = False) -> Answer:
    """Return what the renderers show."""
    enough = found.enough
    is_met = found.now.verdict.outcome == MET
    shown = list(
        found.advice if show_all else [] if is_met and not found.helpful else (enough or found.helpful)[:SHOWN_MAX]
    )
    useless = [advice.words for advice in found.advice if advice not in found.helpful and advice not in shown]
    facts = []
    if useless:
        facts.append(
            Fact(
                "no improvement",
                f"{', '.join(useless[:4])}{_more(len(useless) - 4)} ({len(found.advice)} tried; --details)",
            )
        )
    keys = enough[0].keys if enough and not is_met else {}
    sets = " ".join(f"--set '{key}={_text(value)}'" for key, value in keys.items())
    return Answer(
        question="advise",
        headline=headline_of_advice(found),
        tone=UNSURE if found.cases else TONES.get(found.now.verdict.outcome, ""),
        tables=(*(each.table for each in found.cases), *((advice_table(found, shown),) if shown else ())),
        paste=tuple(line for each in found.cases for line in each.paste),
        why="" if found.cases else as_sentences(found.why),
        is_why_first=True,
        facts=tuple(facts),
        next=f"endive run {file} {sets}" if sets and not found.cases else "",
        warnings=found.warnings,
        provenance=f"{found.simulations:,} simulations, {found.seeds} seeds, the same for every change",
        details=(
            replace(advice_table(found, found.advice, with_all=True), title="Every change that was tried"),
            Fact("objective", found.objective),
        ),
    )


def headline_of_advice(found: Advised) -> str:
    """Return how it is now, and whether anything that was tried is enough."""
    now = describe_part(found.now.verdict.decisive[0])
    if found.cases:
        return f"{found.cases[0].sentence.partition('. ')[0]}: set it before you change anything"
    if found.now.verdict.outcome == MET:
        return f"{now}; no change is needed"
    count = len(found.enough)
    if not count:
        best = found.advice[0] if found.advice and found.advice[0].helps else None
        if found.now.verdict.outcome == CANNOT_TELL:
            return f"{now}; give more --seeds than {found.seeds}"
        reached = (
            "" if best is None else f"; most helps: {best.words} ({figure_text(found.subject.field, best.found.value)})"
        )
        return f"{now}; nothing that was tried surely fixes it{reached}"
    least = found.enough[0]
    if len(least.levers) > 1:
        return f"{now}; two changes together fix it"
    kind = EFFORTS[least.effort[1]].removeprefix("a ").removeprefix("another ")
    named = "setting" if kind == "setting" else "change"
    many = COUNTS[count] if count < len(COUNTS) else str(count)
    return f"{now}; {many} {named if count == 1 else 'changes'} {'fixes' if count == 1 else 'fix'} it"


def advice_table(found: Advised, shown: Sequence[Advice], *, with_all: bool = False) -> Table:
    """Return one row per change: its effect, what it requires, and its trade-off below."""
    field = found.subject.field
    is_success = field.path == ("success_rate",)
    are_ordinary = all(advice.verdict.outcome == MET for advice in shown)
    columns = [
        Column(name="change"),
        Column(name="success" if is_success else field.name, align=RIGHT),
        *(() if are_ordinary else (Column(name="objective"),)),
        Column(name="requires", priority=2),
    ]
    if with_all:
        columns += [Column(name="requests per commit", align=RIGHT, priority=1)]
    rows, notes = [], []
    for advice in shown:
        outcome = advice.verdict.outcome
        cells = [
            Cell(advice.words),
            Cell(_effect(found, advice), advice.found.value),
            *(() if are_ordinary else (Cell(outcome_word(outcome), outcome, TONES.get(outcome, "")),)),
            Cell(_requires(advice)),
        ]
        if with_all:
            cells.append(Cell(NOTHING if advice.requests_per_commit is None else f"{advice.requests_per_commit:.1f}"))
        rows.append(cells)
        notes.append(f"trade-off: {advice.gives_up}" if advice.gives_up else "")
    table = make_table(columns, rows)
    return replace(table, rows=tuple(replace(row, note=note) for row, note in zip(table.rows, notes, strict=True)))


def _effect(found: Advised, advice: Advice) -> str:
    """Return the metric before and after: ``0 -> 100 %``."""
    field = found.subject.field
    before, after = found.now.found.value, advice.found.value
    if field.unit == SHARE and before is not None and after is not None:
        return f"{share_digits(before)} -> {share_digits(after)} %"
    return f"{figure_text(field, before)} -> {figure_text(field, after)}"


def _requires(advice: Advice) -> str:
    """Return the kind of change, and the setting or release it needs, as far as there is room."""
    if any(lever.had == HYPOTHETICAL for lever in advice.levers):
        return HYPOTHETICAL
    text = " + ".join(lever.how for lever in advice.levers).partition(";")[0]
    return text if len(text) <= WORDS_MAX else f"{text[: WORDS_MAX - 1]}…"


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _text(value: object) -> str:
    from endive.config.toml_text import value_text

    return value if isinstance(value, str) else value_text(value)
