"""Which axis of a study is its load, and which points lie on one curve along it.

Pure values, no Spark. How far along a curve the objective is met is ``endive.tables.sustained``'s.

The load axis is one numeric axis that sets how fast txns arrive. Points that agree in every other axis form a curve.
An axis that the load decides (a derived value, a linked axis, the study's own name for the same thing) does not set
points apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.errors import ConfigError

_PARENTS: Final = ("inter_arrival", "arrivals")
_LEAVES: Final = frozenset(
    {"scale", "mean_ms", "per_s", "ms", "low_ms", "high_ms", "clients", "jobs", "think_ms", "period_ms"}
)
_CLIENTS: Final = "clients"

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPoint:
    """Where one point lies: on which curve, and how much load it stands for."""

    point: int
    curve: int
    load: float | None  # value of the load axis; None if the study has none


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadAxis:
    """The load of one study: its key, if there is one, and every point's place."""

    key: str | None
    series: tuple[str, ...]  # the axes that tell curves apart
    placed: tuple[PlacedPoint, ...]

    @property
    def is_closed_loop(self) -> bool:
        """Whether the load is a number of clients: their offered rate is an outcome, so it cannot order points."""
        return self.key is not None and self.key.rsplit(".", 1)[-1] == _CLIENTS


def find_load_axis(
    points: Mapping[int, Values], axes: Sequence[str], *, wanted: str | None = None, drawn: str | None = None
) -> LoadAxis:
    """The load axis of a study with these points.

    ``wanted`` is the user's choice and must be an axis. Else ``drawn``, what the study draws its figures against, if
    that decides how fast txns arrive; else the arrival key with the most values, the first of equals.
    """
    if wanted is not None:
        if not _is_numeric(wanted, points):
            raise ConfigError(f"--load {wanted} has values that are not numbers, so they cannot be a load.")
        key: str | None = wanted
    elif drawn is not None and drawn in axes and _is_load(drawn, points, axes):
        key = drawn
    else:
        candidates = [axis for axis in axes if _sets_arrivals(axis) and _is_numeric(axis, points)]
        key = max(candidates, key=lambda axis: _value_count(axis, points), default=None)
    series = tuple(axis for axis in axes if axis != key and not _is_decided(axis, key, points))
    curves: dict[tuple[str, ...], int] = {}
    placed = []
    for point, values in sorted(points.items()):
        name = tuple(repr(values.get(axis)) for axis in series)
        load = None if key is None or values.get(key) is None else float(values[key])
        placed.append(PlacedPoint(point=point, curve=curves.setdefault(name, len(curves)), load=load))
    return LoadAxis(key=key, series=series, placed=tuple(placed))


def _sets_arrivals(axis: str) -> bool:
    parts = axis.split(".")
    return len(parts) >= 2 and parts[-2] in _PARENTS and parts[-1] in _LEAVES


def _is_load(axis: str, points: Mapping[int, Values], axes: Sequence[str]) -> bool:
    """Whether an axis is a number that sets arrivals itself, or decides an axis that does."""
    if not _is_numeric(axis, points):
        return False
    others = [other for other in axes if _sets_arrivals(other) and _value_count(other, points) > 1]
    return _sets_arrivals(axis) or any(_is_decided(other, axis, points) for other in others)


def _is_numeric(axis: str, points: Mapping[int, Values]) -> bool:
    values = [values.get(axis) for values in points.values()]
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in given)


def _value_count(axis: str, points: Mapping[int, Values]) -> int:
    return len({repr(values.get(axis)) for values in points.values()})


def _is_decided(axis: str, key: str | None, points: Mapping[int, Values]) -> bool:
    """Whether the value of ``key`` leaves ``axis`` no choice."""
    if key is None:
        return False
    pairs = {(repr(values.get(key)), repr(values.get(axis))) for values in points.values()}
    return len(pairs) == len({pair[0] for pair in pairs})
