"""The points that rows of charts belong to, and the compact form in which both travel to the page.

A row carries the number of its point; the page joins it with the point's labels, as ``Material.rows`` does for
pictures: ``x`` (a number), ``xl``, ``s`` and ``f`` (labels of x, series and panel) and ``a0``, ... (of all axes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from endive.report.axes import Layout
from endive.report.reading import Row, Study

_DIGITS: Final = 5  # that matter; intervals are wider than that


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The configurations of a study, and the labels of each on every axis."""

    numbers: tuple[int, ...]  # of the grid
    labels: Mapping[str, tuple[str, ...]]  # axis key -> label per point
    x: tuple[float | None, ...]
    layout: Layout

    def index(self) -> dict[int, int]:
        """Return number of the grid -> place in the list."""
        return {number: place for place, number in enumerate(self.numbers)}

    def row(self, place: int) -> Row:
        """Return what a chart may use of a point."""
        row: Row = {f"a{i}": self.labels[axis.key][place] for i, axis in enumerate(self.layout.axes)}
        for name, axis in self.layout.roles.items():
            row[name] = "all" if axis is None else self.labels[axis.key][place]
        row["x"] = self.x[place]
        return row

    def words(self, place: int, between: str = ", ", but: str = "") -> str:
        """Return what sets a point apart; ``but`` is the key of an axis to leave out."""
        labels = [(axis, self.labels[axis.key][place]) for axis in self.layout.axes if axis.key != but]
        return between.join(f"{label} {axis.unit}" if axis.unit else axis.named(label) for axis, label in labels)

    def to_json(self) -> dict[str, Any]:
        """Return as the page reads it."""
        return {
            "number": list(self.numbers),
            "x": [_round(value) for value in self.x],
            "labels": [_pack(list(self.labels[axis.key])) for axis in self.layout.axes],
        }


def list_points(study: Study, layout: Layout) -> Points:
    """Return all configurations that were measured."""
    rows = study.rows("configurations", columns=["point", "scope", *study.axes])
    rows.sort(key=lambda row: int(row["point"]))
    return Points(
        numbers=tuple(row["point"] for row in rows),
        labels={axis.key: tuple(axis.label(row[axis.key]) for row in rows) for axis in layout.axes},
        x=tuple(None if layout.x is None else layout.x.number(row[layout.x.key]) for row in rows),
        layout=layout,
    )


def pack_columns(columns: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return a data set as the page reads it: texts by number, floats rounded, columns of nothing left out."""
    return {name: _pack(values) for name, values in columns.items() if any(value is not None for value in values)}


def _pack(values: list[Any]) -> Any:
    """Texts as their numbers in a list of the different ones, numbers rounded."""
    if any(isinstance(value, str) for value in values):
        levels = list(dict.fromkeys(value for value in values if value is not None))
        code = {level: place for place, level in enumerate(levels)}
        return {"levels": levels, "codes": [None if value is None else code[value] for value in values]}
    return [_round(value) for value in values]


def _round(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, float):
        return value
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short
