"""Many curves in one sentence: along the axis that decides the most, instead of a list of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from endive.report.axis_curve import Curve
from endive.report.words import join_words, quote

_VALUES_TOLD: Final = 4


def along_deciding_axis(curves: Sequence[Curve], met_share: Callable[[Curve], float]) -> str:
    """Where the objective is met for each value of the axis that decides the most, and what else moves it."""
    place = max(range(len(curves[0].values)), key=lambda place: _explain(curves, place, met_share))
    groups = _group(curves, place)
    others = [name for index, (name, _) in enumerate(curves[0].values) if index != place]
    ordered = sorted(groups, key=lambda value: -_mean([met_share(curve) for curve in groups[value]]))
    values = ordered if len(ordered) <= _VALUES_TOLD else [ordered[0], ordered[-1]]
    parts = [f"{_span(groups[value], met_share)} with {quote(value)}" for value in values]
    is_moved = any(len({curve.where_met() for curve in groups[value]}) > 1 for value in values)
    ending = f", depending on {join_words(others)}" if is_moved else f", whatever {join_words(others)}"
    left = f"; {len(ordered) - 2} other values of {curves[0].values[place][0]} lie between" if values != ordered else ""
    return f"{'; '.join(parts)}{ending}{left}"


def _explain(curves: Sequence[Curve], place: int, met_share: Callable[[Curve], float]) -> float:
    """How much of the differences between curves the values of one axis account for."""
    whole = _mean([met_share(curve) for curve in curves])
    groups = _group(curves, place).values()
    return sum(len(group) * (_mean([met_share(curve) for curve in group]) - whole) ** 2 for group in groups)


def _group(curves: Sequence[Curve], place: int) -> dict[str, list[Curve]]:
    groups: dict[str, list[Curve]] = {}
    for curve in curves:
        groups.setdefault(curve.values[place][1], []).append(curve)
    return groups


def _span(group: Sequence[Curve], met_share: Callable[[Curve], float]) -> str:
    """From the worst of several curves to the best."""
    worst, best = min(group, key=met_share), max(group, key=met_share)
    low, high = worst.where_met(), best.where_met()
    return low if low == high else f"{low} at worst and {high} at best"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
