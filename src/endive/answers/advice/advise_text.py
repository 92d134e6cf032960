"""Advice in one sentence; tables belong to who shows them."""

from __future__ import annotations

from typing import Final

from endive.answers.advice.advise import Advised
from endive.objectives import CANNOT_TELL, MET
from endive.objectives.certainty import certainty_text
from endive.objectives.verdict_text import describe_verdict, figure_text

NAMED: Final = 3


def advice_sentence(found: Advised) -> str:
    """Whether anything has to change, and what would do it."""
    field = found.subject.field
    now = figure_text(field, found.now.found.value)
    if found.now.verdict.outcome == MET:
        return f"{found.objective} is met as it is: {found.subject} is {now}."
    if found.enough:
        least, *others = [advice.words for advice in found.enough[:NAMED]]
        also = f" So would: {'; or '.join(others)}." if others else ""
        return f"{found.subject} is {now}. The least that meets {found.objective}: {least}.{also}"
    best = found.advice[0]
    reached = figure_text(field, best.found.value)
    if found.now.verdict.outcome == CANNOT_TELL:
        said = describe_verdict(found.now.verdict.decisive[0])
        more = f"Simulate longer (simulation.duration_ms) or give more --seeds than {found.seeds}"
        helps = f" Most helps: {best.words} ({reached})." if best.helps else ""
        return f"{said}. {more}.{helps}"
    nothing = f"Nothing that was tried surely meets {found.objective}"
    told = certainty_text(best.verdict.decisive[0])
    helps = f"most helps: {best.words} ({reached}, {told})" if best.helps else "and nothing surely helps"
    return f"{found.subject} is {now}. {nothing}; {helps}."
