"""What a headline cannot be sure of: places that meet the objective by their estimates alone, and what would tell."""

from __future__ import annotations

from collections.abc import Sequence

from endive.objectives import CANNOT_TELL
from endive.report.axis_curve import Curve
from endive.report.material import Material


def add_doubt(material: Material, curves: Sequence[Curve], headline: str) -> str:
    """The headline with where the objective is met by the estimates alone, and what would tell."""
    met = [
        (row["point"], place)
        for curve in curves
        for row, place, meets in zip(curve.rows, curve.places, curve.meets, strict=True)
        if meets
    ]
    unsure = [(point, place) for point, place in met if not material.question.is_told(point)]
    if not unsure:
        return headline
    telling = telling_words(material, [point for point, _ in unsure])
    if unsure == met:
        return f"By the estimates alone, {headline[0].lower()}{headline[1:]}; {CANNOT_TELL}: {telling}"
    where = f"at {unsure[0][1]}" if len(unsure) == 1 else f"at {len(unsure)} of the {len(met)} that meet it"
    return f"{headline}; {CANNOT_TELL} {where}: {telling}"


def telling_words(material: Material, points: Sequence[int]) -> str:
    """What would tell whether configurations meet the objective."""
    most = max((material.question.more_txns(point) or 0 for point in points), default=0)
    each = " each" if len(points) > 1 else ""
    return f"about {most:,} more txns{each} would" if most else "more seeds would"
