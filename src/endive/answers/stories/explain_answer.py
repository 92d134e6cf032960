"""The answer of explain: what happened to a transaction, step by step, and which commits cost whom how much time."""

from __future__ import annotations

from endive.answers.answer import BAD, GOOD, RIGHT, UNSURE, Answer, Cell, Column, Table, make_table
from endive.answers.stories.explain import Explanation
from endive.answers.stories.story import Story
from endive.objectives import duration_text

TONES = {"committed": GOOD, "aborted": BAD}


def explain_answer(found: Explanation) -> Answer:
    """Return what the renderers show."""
    first, *others = found.stories
    tables: list[Table] = [_steps(first)]
    tables += [_steps(story, title=story.headline) for story in others]
    if found.blame:
        rows = [
            (row.victim, row.rival, Cell(f"{row.attempts:,}", row.attempts), duration_text(row.lost_ms))
            for row in found.blame
        ]
        title = "Time lost to conflicting commits, over the whole run"
        tables.append(make_table(("transaction", "lost to", ">attempts", ">time lost"), rows, title=title))
    return Answer(
        question="explain",
        headline=first.headline,
        tone=TONES.get(first.record["status"], UNSURE),
        tables=tuple(tables),
        notes=tuple(line for story in found.stories for line in story.phase_lines),
        warnings=found.warnings,
        provenance=f"one run, seed {found.seed}",
    )


def _steps(story: Story, title: str = "") -> Table:
    columns = (Column(name="time", align=RIGHT), Column(name="event"))
    return make_table(columns, story.steps, title=title, has_header=False, is_folded=True)
