"""The first line of an answer: who, how much, against which objective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from endive.answers.answer import BAD, GOOD, UNSURE
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Judged, Subject, Verdict
from endive.objectives.certainty import certainty_text, outcome_word
from endive.objectives.fields import SHARE
from endive.objectives.verdict_text import figure_text, share_digits

TONES: Final = {MET: GOOD, NOT_MET: BAD, CANNOT_TELL: UNSURE}
NAMED_MAX: Final = 2
FINE: Final = 0.99  # of transactions that commit, where nothing was asked of a source

_LATENCIES: Final = {"commit_latency_ms": "commit", "total_latency_ms": "total latency"}


def headline_of(verdict: Verdict, sources: Sequence[str], success: Callable[[str], float | None]) -> str:
    """Return the sentence on an objective: what misses it, what cannot be decided, or what is closest to it."""
    if verdict.outcome != MET:
        decisive = sorted(verdict.decisive, key=_is_success, reverse=True)
        parts = [describe_part(part) for part in decisive[:NAMED_MAX]]
        more = len(decisive) - NAMED_MAX
        if more > 0:
            parts.append(f"{more} more part{'s' if more > 1 else ''} {outcome_word(decisive[0].outcome)}")
        elif _are_others_fine(verdict, decisive, sources, success):
            parts.append(f"the other source{'s are' if len(sources) - len({*_names(decisive)}) > 1 else ' is'} fine")
        return "; ".join(parts)
    if len(verdict.parts) == 1 or len({*_names(verdict.parts)}) == 1:
        return "; ".join(describe_part(part) for part in verdict.parts[:NAMED_MAX])
    if _is_about_success(verdict.parts):
        worst = min(verdict.parts, key=lambda part: 2.0 if part.found.value is None else part.found.value)
        who = "both sources" if len(verdict.parts) == 2 else f"all {len(verdict.parts)} sources"
        if worst.found.value == 1.0:
            return f"{who}: every commit succeeds ({_limit_text(worst)}: met)"
        value = _percent(worst.found.value or 0.0)
        lowest = f"lowest for {worst.subject.name}"
        return f"{who}: at least {value} of commits succeed, {lowest} ({_limit_text(worst)}: met)"
    return "; ".join(describe_part(part) for part in verdict.parts[:NAMED_MAX]) + (
        f"; {len(verdict.parts) - NAMED_MAX} more met" if len(verdict.parts) > NAMED_MAX else ""
    )


def describe_part(part: Judged) -> str:
    """Return one comparison as ``merge: no commit succeeds (objective >= 99 %: missed)``."""
    who = f"{part.subject.name}: " if part.subject.name else ""
    certainty = certainty_text(part).replace(" (", ", ").removesuffix(")")
    return f"{who}{describe_value(part.subject, part.found.value)} ({_limit_text(part)}: {certainty})"


def describe_value(subject: Subject, value: float | None) -> str:
    """Return a metric as a clause: ``99.5 % of commits succeed``, ``P99 of commits is 824 ms``."""
    field = subject.field
    if value is None:
        return f"{field.name} has no value"
    if field.path == ("success_rate",):
        if value in (0.0, 1.0):
            return "every commit succeeds" if value else "no commit succeeds"
        return f"{_percent(value)} of commits succeed"
    if field.path == ("committed_per_s",):
        return figure_text(field, value).replace(" /", " commits/")
    if field.path[0] in _LATENCIES:
        percentile = field.path[1].upper() if field.path[1] != "mean" else "mean"
        return f"{percentile} of {_LATENCIES[field.path[0]]} is {figure_text(field, value)}"
    if field.path[0] == "freshness_ms":
        return f"data are {figure_text(field, value)} old at {field.path[1].upper()}"
    return f"{field.name.replace('_', ' ')} is {figure_text(field, value)}"


def _percent(value: float) -> str:
    """Return a share with as many digits as keep it apart from 0 and 100 %."""
    text = f"{100.0 * value:.1f}"
    return f"{share_digits(value) if text in ('100.0', '0.0') and value not in (0.0, 1.0) else text} %"


def _limit_text(part: Judged) -> str:
    comparison = part.comparison
    if part.limit is None:
        return f"objective {comparison}"
    sign, field = comparison.sign, part.subject.field
    if part.found is part.right and part.right is not part.left:
        sign = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}[sign]
    limit = f"{100 * part.limit:g} %" if field.unit == SHARE else figure_text(field, part.limit)
    return f"objective {sign} {limit}"


def _is_success(part: Judged) -> bool:
    return part.subject.field.path == ("success_rate",)


def _is_about_success(parts: Sequence[Judged]) -> bool:
    return all(_is_success(part) for part in parts)


def _names(parts: Sequence[Judged]) -> list[str]:
    return [part.subject.name for part in parts]


def _are_others_fine(
    verdict: Verdict, decisive: Sequence[Judged], sources: Sequence[str], success: Callable[[str], float | None]
) -> bool:
    """Return whether every source that is not named commits, and meets what is asked of it."""
    named = set(_names(decisive))
    others = [name for name in sources if name not in named]
    if not others or not named & set(sources):
        return False
    judged = {part.subject.name: part.outcome for part in verdict.parts}
    return all(judged.get(name, MET) == MET and (success(name) or 0.0) >= FINE for name in others)
