"""Advice in one sentence.

This file defines the words; tables belong to who shows them.
"""

from __future__ import annotations

from endive.answers.advise import Advised
from endive.objectives import MET
from endive.objectives.verdict_text import figure_text


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
    nothing = f"Nothing that was tried surely meets {found.objective}"
    return f"{found.subject} is {now}. {nothing}; most helps: {best.words} ({reached})."
