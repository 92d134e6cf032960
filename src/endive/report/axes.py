"""Which axis of a study goes where: along the page, into colours, into panels, or into a selector.

The study file's ``[study.report]`` goes first; what it leaves open follows from the grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.objectives.duration import MS_PER_UNIT
from endive.report.reading import Row, Study
from endive.report.words import add_unit, axis_words, value_text

SERIES_MAX: Final = 8  # colours that can be told apart; a study that asks for more gets dashes and shapes too
PANELS_MAX: Final = 6
_AT_MOST: Final = ", at most"  # how the names of some numbers end
_LOG_SPAN_MIN: Final = 8.0  # largest over smallest value, below which a linear axis shows everything
_INTERVAL_KEYS: Final = ("scale", "mean_ms", "period_ms", "ms")  # of arrivals: the more of it, the less load


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One axis of a study, its values in the order they are shown."""

    key: str
    name: str  # in words
    unit: str
    labels: tuple[str, ...]  # one per value, unique
    numbers: tuple[float, ...] | None  # positions, if values are numbers
    label_of: Mapping[str, str]  # repr of a value -> its label

    @property
    def title(self) -> str:
        """Return name and unit."""
        return add_unit(self.name, self.unit)

    @property
    def is_numeric(self) -> bool:
        """Return whether it can be drawn to scale."""
        return self.numbers is not None

    @property
    def is_log(self) -> bool:
        """Return whether a linear axis would crush its lower end."""
        return self.numbers is not None and is_log_spaced(self.numbers)

    def label(self, value: Any) -> str:
        """Return the label of one of its values."""
        return self.label_of[repr(value)]

    def number(self, value: Any) -> float | None:
        """Return the position of one of its values."""
        return None if self.numbers is None else self.numbers[self.labels.index(self.label(value))]

    def place(self, label: str) -> str:
        """Return one of its labels with the unit or, if it has none, the name."""
        if not self.is_numeric:
            return label
        source = self.key.split(".")[1] if self.key.startswith("source.") and self.unit == "txns/s" else ""
        return f"{label} {self.unit}{f' of {source}' if source else ''}" if self.unit else self._count(label)

    def named(self, label: str) -> str:
        """Return one of its labels with the name of the axis, if the label does not say what it is."""
        if self.is_numeric and not self.unit and (self.name.split()[0].endswith("s") or self.name.endswith(_AT_MOST)):
            return self._count(label)
        if not self.is_numeric and label not in ("yes", "no"):
            return label
        return f"{self.name} {label}{f' {self.unit}' if self.unit else ''}"

    def _count(self, label: str) -> str:
        """Return a number of things: "1 table", "20 clients of writers", "at most 4 retries"."""
        first, _, rest = self.name.removesuffix(_AT_MOST).partition(" ")
        things = f"{first.removesuffix('s') if label == '1' else first}{f' {rest}' if rest else ''}"
        return f"{'at most ' if self.name.endswith(_AT_MOST) else ''}{label} {things}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The axes of a study by their roles."""

    axes: tuple[Axis, ...]  # all that set points apart, x first
    x: Axis | None
    series: Axis | None
    panel: Axis | None
    is_load: bool  # whether x is the load

    @property
    def roles(self) -> dict[str, Axis | None]:
        """Return the axis that gives a row of a chart its label along the page, in the legend and above panels."""
        return {"xl": self.x, "s": self.series, "f": self.panel}

    @property
    def others(self) -> tuple[Axis, ...]:
        """Return axes that need a selector in every chart."""
        return tuple(axis for axis in self.axes if axis not in self.roles.values())


def choose_layout(study: Study) -> Layout:
    """Return roles for the axes of a study."""
    points = study.rows("configurations", columns=["point", "scope", *study.axes])
    asked = study.facts.get("report") or {}
    varied = [key for key in study.axes if _count(points, key) > 1]
    x = _choose_x(study, points, varied, asked.get("x"))
    apart = [key for key in varied if key != x and not _is_decided(points, key, (x,) if x else ())]
    series = asked.get("series") if asked.get("series") in varied else None
    if series is None:
        series = _choose(points, [key for key in apart if key != asked.get("panel")], SERIES_MAX)
    left = [key for key in apart if key != series]
    panel = asked.get("panel") if asked.get("panel") in left else None
    if panel is None:
        panel = _choose(points, _undecided(points, left, (x, series)), PANELS_MAX)
    rest = _undecided(points, [key for key in left if key != panel], (x, series, panel))
    made = {key: make_axis(key, [row[key] for row in points]) for key in (x, series, panel, *rest) if key}
    return Layout(
        axes=tuple(made.values()),
        x=made.get(x or ""),
        series=made.get(series or ""),
        panel=made.get(panel or ""),
        is_load=x is not None and x == study.facts.get("load_axis"),
    )


def make_axis(key: str, values: Sequence[Any]) -> Axis:
    """Return an axis from the values it takes: numbers in order, others as they come."""
    distinct = list({repr(value): value for value in values}.values())
    name, unit = axis_words(key)
    is_numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in distinct)
    if is_numeric and _is_interval(key) and all(value > 0 for value in distinct):
        distinct.sort(reverse=True)
        numbers: tuple[float, ...] | None = tuple(1000.0 / value for value in distinct)
        labels = [f"{position:.4g}" for position in numbers or ()]
        name, unit = _rate_name(key), "txns/s"
    else:
        if is_numeric:
            distinct.sort()
        per_unit, unit = _time_unit(distinct) if is_numeric and unit == "ms" else (1, unit)
        numbers = tuple(value / per_unit for value in distinct) if is_numeric else None
        labels = [value_text(value if per_unit == 1 else value / per_unit, key) for value in distinct]
    labels = _unique(labels, distinct)
    return Axis(
        key=key,
        name=name,
        unit=unit,
        labels=tuple(labels),
        numbers=numbers,
        label_of={repr(value): label for value, label in zip(distinct, labels, strict=True)},
    )


def _time_unit(values_ms: Sequence[float]) -> tuple[float, str]:
    """Return milliseconds per unit, and the unit: the largest of which every value is a whole number."""
    for unit in ("h", "min", "s"):
        if all(value > 0 and value % MS_PER_UNIT[unit] == 0 for value in values_ms):
            return MS_PER_UNIT[unit], unit
    return 1, "ms"


def is_log_spaced(numbers: Sequence[float]) -> bool:
    """Return whether values grow by factors rather than by steps, so that they belong on a logarithmic axis."""
    ordered = sorted(set(numbers))
    if len(ordered) < 3 or ordered[0] <= 0 or ordered[-1] / ordered[0] < _LOG_SPAN_MIN:
        return False
    steps = [high - low for low, high in itertools.pairwise(ordered)]
    factors = [math.log(high / low) for low, high in itertools.pairwise(ordered)]
    return max(factors) / min(factors) < max(steps) / min(steps)


def _choose_x(study: Study, points: Sequence[Row], varied: Sequence[str], asked: str | None) -> str | None:
    if asked in varied:
        return asked
    load = study.facts.get("load_axis")
    if load in varied:
        return str(load)
    numeric = [key for key in varied if make_axis(key, [row[key] for row in points]).is_numeric]
    return max(numeric or varied, key=lambda key: _count(points, key), default=None)


def _choose(points: Sequence[Row], keys: Sequence[str], most: int) -> str | None:
    """Return the first axis of names with few enough values, else the first of numbers."""
    fitting = [key for key in keys if _count(points, key) <= most]
    names = [key for key in fitting if not make_axis(key, [row[key] for row in points]).is_numeric]
    return next(iter(names or fitting), None)


def _undecided(points: Sequence[Row], keys: Sequence[str], by: Sequence[str | None]) -> list[str]:
    """Return keys that still have a choice once the others, and those before them, are known."""
    names: list[str] = []
    for key in keys:
        known = (*(name for name in by if name), *names)
        if not _is_decided(points, key, known):
            names.append(key)
    return names


def _is_decided(points: Sequence[Row], key: str, by: Sequence[str]) -> bool:
    """Return whether the values of ``by`` leave ``key`` no choice at any point."""
    if not by:
        return False
    choices: dict[tuple[str, ...], str] = {}
    return all(
        choices.setdefault(tuple(repr(row[name]) for name in by), repr(row[key])) == repr(row[key]) for row in points
    )


def _count(points: Sequence[Row], key: str) -> int:
    return len({repr(row[key]) for row in points})


def _is_interval(key: str) -> bool:
    parts = key.split(".")
    return len(parts) >= 2 and parts[-2] in ("inter_arrival", "arrivals") and parts[-1] in _INTERVAL_KEYS


def _rate_name(key: str) -> str:
    parts = key.split(".")
    return f"offered load of {parts[1]}" if parts[0] == "source" and len(parts) > 3 else "offered load"


def _unique(labels: Sequence[str], values: Sequence[Any]) -> list[str]:
    """Return labels that rounding made equal, written out."""
    return [
        label if list(labels).count(label) == 1 else repr(value) for label, value in zip(labels, values, strict=True)
    ]
