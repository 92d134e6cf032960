"""A limit in one sentence; tables and charts belong to who shows it."""

from __future__ import annotations

from endive.answers.limit import LARGEST, Limit
from endive.objectives import duration_text
from endive.objectives.verdict_text import number_text


def limit_sentence(found: Limit) -> str:
    """What the answer is, how sure, and where the configuration stands now."""
    bound = "at most" if found.which == LARGEST else "at least"
    doubt = doubt_text(found)
    now = "" if found.now is None else f" It is {value_text(found, found.now)} now."
    if found.doubt is not None:
        return (
            f"{found.key}: by the estimates {bound} {value_text(found, found.value)} meets {found.objective}, "
            f"{doubt} as far as was tried. {found.doubt}{now}"
        )
    return f"{found.key}: {bound} {value_text(found, found.value)} ({doubt}) meets {found.objective}.{now}"


def doubt_text(found: Limit) -> str:
    """How far the answer can be told."""
    if found.low == found.high:
        return "exactly"
    return f"between {value_text(found, found.low)} and {value_text(found, found.high)}"


def value_text(found: Limit, value: float) -> str:
    """A value of the key, in its unit."""
    if found.is_whole:
        return f"{value:,.0f}"
    return duration_text(value) if found.key.endswith("_ms") else number_text(value)
