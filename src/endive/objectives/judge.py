"""The verdict on an objective: how estimates with intervals decide a comparison, and how comparisons join.

A comparison is met if it holds wherever in their intervals the figures lie, not met if it holds nowhere, and cannot be
told otherwise. ``and`` and ``or`` join the three outcomes as Kleene's logic does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from endive.objectives.certainty import CANNOT_TELL, MET, NOT_MET
from endive.objectives.estimate import Estimate
from endive.objectives.names import Subject
from endive.objectives.objective import Objective
from endive.objectives.tree import AND, Comparison, Constant, Junction, Node, Quantity

T = TypeVar("T")
Lookup = Callable[[Subject], Estimate]

_SIGNS: Final = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}


@dataclass(frozen=True, slots=True)
class Judged:
    """One comparison with what was found."""

    comparison: Comparison
    left: Estimate
    right: Estimate
    outcome: str
    holds: bool | None  # at the estimates themselves, whatever their doubt; None if one is missing

    @property
    def subject(self) -> Subject:
        """Return the figure the comparison is about: its left one, if that is a figure."""
        for side in (self.comparison.left, self.comparison.right):
            if not isinstance(side, Constant) and isinstance(side.of, Subject):
                return side.of
        raise AssertionError("a comparison has a figure")

    @property
    def found(self) -> Estimate:
        return self.right if isinstance(self.comparison.left, Constant) else self.left

    @property
    def limit(self) -> float | None:
        """Return the number that figure is held against; None if it is another figure."""
        sides = (self.comparison.left, self.comparison.right)
        return next((side.value for side in sides if isinstance(side, Constant)), None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an objective."""

    objective: Objective
    outcome: str
    holds: bool | None  # what the estimates say if their doubt is left aside
    parts: tuple[Judged, ...]

    @property
    def decisive(self) -> tuple[Judged, ...]:
        """Return the comparisons to show first: those that are not met, else those that cannot be told, else all."""
        for outcome in (NOT_MET, CANNOT_TELL):
            decisive = tuple(part for part in self.parts if part.outcome == outcome)
            if decisive and self.outcome != MET:
                return decisive
        return self.parts


def judge(objective: Objective, lookup: Lookup) -> Verdict:
    """Return the verdict from the estimates that ``lookup`` gives for each figure."""
    parts: list[Judged] = []
    outcome, holds = _judge(objective.tree, lookup, parts)
    return Verdict(objective, outcome, holds, tuple(parts))


def _judge(node: Node, lookup: Lookup, parts: list[Judged]) -> tuple[str, bool | None]:
    if isinstance(node, Comparison):
        judged = _compare(node, lookup)
        parts.append(judged)
        return judged.outcome, judged.holds
    verdicts = [_judge(part, lookup, parts) for part in node.parts]
    outcomes, holds = [outcome for outcome, _ in verdicts], [held for _, held in verdicts]
    return _join(node, outcomes, NOT_MET, MET, CANNOT_TELL), _join(node, holds, False, True, None)


def _join(node: Junction, found: list[T], no: T, yes: T, unknown: T) -> T:
    """Kleene's and, or."""
    decides, otherwise = (no, yes) if node.word == AND else (yes, no)
    if decides in found:
        return decides
    return unknown if unknown in found else otherwise


def _compare(node: Comparison, lookup: Lookup) -> Judged:
    left, right = _estimate(node.left, lookup), _estimate(node.right, lookup)
    holds_at = _SIGNS[node.sign]
    holds = None
    if left.value is not None and right.value is not None:
        holds = bool(holds_at(left.value, right.value))
    outcome = CANNOT_TELL
    if left.low is not None and left.high is not None and right.low is not None and right.high is not None:
        is_upward = node.sign[0] == ">"
        best, worst = (left.high, left.low) if is_upward else (left.low, left.high)
        easiest, hardest = (right.low, right.high) if is_upward else (right.high, right.low)
        if holds_at(worst, hardest):
            outcome = MET
        elif not holds_at(best, easiest):
            outcome = NOT_MET
    return Judged(node, left, right, outcome, holds)


def _estimate(side: Quantity, lookup: Lookup) -> Estimate:
    if isinstance(side, Constant):
        return Estimate.exactly(side.value)
    assert isinstance(side.of, Subject)
    return lookup(side.of).times(side.factor)
