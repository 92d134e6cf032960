"""Metrics and verdicts as text, the same on a terminal, in a notebook and on a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from endive.objectives.certainty import certainty_text
from endive.objectives.duration import duration_text
from endive.objectives.estimate import Estimate
from endive.objectives.fields import DURATION, RATE, SHARE, Field
from endive.objectives.judge import Judged, Verdict

NOTHING: Final = "-"
PER_HOUR_BELOW: Final = 0.01  # per second: rarer than that, people count per hour


def figure_text(field: Field, value: float | None, beside: Sequence[float | None] = ()) -> str:
    """Return a figure in its unit; a rate in that of the largest of those it stands ``beside``."""
    if value is None:
        return NOTHING
    if math.isinf(value):
        return "unbounded"
    if field.unit == SHARE:
        return f"{share_digits(value)} %"
    if field.unit == DURATION:
        return duration_text(value)
    if field.unit != RATE:
        return number_text(value)
    largest = max(abs(each) for each in (value, *beside) if each is not None and math.isfinite(each))
    return f"{number_text(3_600.0 * value)} /h" if 0.0 < largest < PER_HOUR_BELOW else f"{number_text(value)} /s"


def share_digits(*values: float) -> str:
    """Return shares in percent, with as many digits as their distance from 0 and 100 % needs."""
    distances = [min(100.0 * value, 100.0 - 100.0 * value) for value in values]
    nearest = min((distance for distance in distances if distance > 0.0), default=100.0)
    digits = 1 if nearest >= 0.95 else 2 if nearest >= 0.095 else 3
    return ", ".join(_without_zeros(f"{100.0 * value:.{digits}f}") for value in values)


def _without_zeros(text: str) -> str:
    """Return ``100`` for ``100.00`` and ``0`` for ``0.0``; anything else as it is."""
    return text.partition(".")[0] if float(text) in (0.0, 100.0) else text


def number_text(value: float) -> str:
    """Return three digits that matter, or all before the point."""
    size = abs(value)
    digits = 0 if size >= 1000 or value == int(value) else 1 if size >= 100 else 2 if size >= 10 else 3
    return f"{value:,.{digits}f}"


def interval_text(field: Field, estimate: Estimate) -> str:
    """Return the interval in brackets; empty if it is not known."""
    if estimate.low is None or estimate.high is None:
        return ""
    beside = (estimate.low, estimate.value, estimate.high)
    if math.isinf(estimate.high):
        return f"[at least {figure_text(field, estimate.low, beside)}]"
    if field.unit == SHARE:
        return f"[{share_digits(estimate.low, estimate.high)}]"
    return f"[{figure_text(field, estimate.low, beside)}, {figure_text(field, estimate.high, beside)}]"


def estimate_text(field: Field, estimate: Estimate) -> str:
    value = figure_text(field, estimate.value, (estimate.low, estimate.high))
    return f"{value} {interval_text(field, estimate)}".rstrip()


def describe_verdict(part: Judged) -> str:
    """Return one comparison, how sure it is, what was found, and on how many txns."""
    estimate = part.found
    if estimate.value is None:
        return f"{part.comparison}: {certainty_text(part)}"
    on = "" if estimate.txns is None else f" of {estimate.txns:,} txns"
    runs = "" if estimate.runs is None or estimate.runs < 2 else f" in {estimate.runs} runs"
    return f"{part.comparison}: {certainty_text(part)}; it is {estimate_text(part.subject.field, estimate)}{on}{runs}"


def verdict_lines(verdict: Verdict) -> list[str]:
    head = f"objective {verdict.objective.text}: {verdict.outcome}"
    return [head, *(f"  {describe_verdict(part)}" for part in verdict.decisive)]
