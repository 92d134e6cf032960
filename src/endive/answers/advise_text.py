"""Advice in one sentence.

This file defines the words; tables belong to who shows them.
"""

from __future__ import annotations

from endive.answers.advise import Advised
from endive.objectives import CANNOT_TELL, MET
from endive.objectives.verdict_text import figure_text, judged_text


def advice_sentence(found: Advised) -> str:
    """Whether anything has to change, and what would do it."""
    field = found.subject.field
    now = figure_text(field, found.now.found.value)
    if found.now.verdict.outcome == MET:
        return f"{found.objective} is met as it is: {found.subject} is {now}."
    best = found.advice[0]
    reached = figure_text(field, best.found.value)
    if best.verdict.outcome == MET:
        enough = [
            advice.words for advice in found.advice if advice.verdict.outcome == MET and " + " not in advice.words
        ]
        what = ", or ".join(enough[:3]) or best.words
        return f"{found.subject} is {now}. {found.objective} would be met by: {what}."
    if found.now.verdict.outcome == CANNOT_TELL:
        said = judged_text(found.now.verdict.decisive[0])
        more = f"Simulate longer (simulation.duration_ms) or give more --seeds than {found.seeds}"
        helps = f" Most helps: {best.words} ({reached})." if best.helps else ""
        return f"{said}. {more}.{helps}"
    nothing = f"Nothing that was tried surely meets {found.objective}"
    helps = f"most helps: {best.words} ({reached})" if best.helps else "and nothing surely helps"
    return f"{found.subject} is {now}. {nothing}; {helps}."
