"""The rows that charts draw: one compact data set per table, shared by the charts of a study.

Every number stands in the analysis, except prices (``endive.report.price``).

A row carries the number of its point; the page joins it with the point's labels, as ``joined`` does here for pictures:
``x`` (a number), ``xl``, ``s`` and ``f`` (labels of x, series and panel) and ``a0``, ``a1``, ... (labels of all axes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.report.axes import Layout
from endive.report.reading import Row, Study

DIGITS: Final = 5  # that matter; intervals are wider than that
ALONE: Final = "all"  # the label of a series or panel that is the only one


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Columns of equal length; ``p`` is the index of the row's point in the study's list of points."""

    columns: Mapping[str, list[Any]]

    def __len__(self) -> int:
        return len(self.columns["p"])

    def to_json(self) -> dict[str, Any]:
        """As the page reads it: texts by number, floats rounded, columns of nothing left out."""
        return {name: _pack(values) for name, values in self.columns.items() if any(v is not None for v in values)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The configurations of a study, and the labels of each on every axis."""

    numbers: tuple[int, ...]  # of the grid
    labels: Mapping[str, tuple[str, ...]]  # axis key -> label per point
    x: tuple[float | None, ...]
    layout: Layout

    def index(self) -> dict[int, int]:
        """Number of the grid -> place in the list."""
        return {number: place for place, number in enumerate(self.numbers)}

    def row(self, place: int) -> Row:
        """What a chart may use of a point."""
        layout = self.layout
        row: Row = {f"a{i}": self.labels[axis.key][place] for i, axis in enumerate(layout.axes)}
        for name, axis in (("xl", layout.x), ("s", layout.series), ("f", layout.panel)):
            row[name] = ALONE if axis is None else self.labels[axis.key][place]
        row["x"] = self.x[place]
        return row

    def to_json(self) -> dict[str, Any]:
        """As the page reads it."""
        return {
            "number": list(self.numbers),
            "x": [_round(value) for value in self.x],
            "labels": [_pack(list(self.labels[axis.key])) for axis in self.layout.axes],
        }


def list_points(study: Study, layout: Layout) -> Points:
    """All configurations that were measured."""
    rows = study.rows("configurations", columns=["point", "scope", *study.axes])
    rows.sort(key=lambda row: int(row["point"]))
    return Points(
        numbers=tuple(row["point"] for row in rows),
        labels={axis.key: tuple(axis.label(row[axis.key]) for row in rows) for axis in layout.axes},
        x=tuple(None if layout.x is None else layout.x.number(row[layout.x.key]) for row in rows),
        layout=layout,
    )


def make_dataset(points: Points, rows: Iterable[Row], columns: Sequence[str]) -> Dataset:
    """A data set from rows of a table of the analysis; rows of points without figures are dropped."""
    index = points.index()
    kept = [row for row in rows if row["point"] in index]
    values: dict[str, list[Any]] = {"p": [index[row["point"]] for row in kept]}
    for name in columns:
        values[name] = [row.get(name) for row in kept]
    return Dataset(columns=values)


def joined(points: Points, dataset: Dataset, selection: Mapping[str, str]) -> list[Row]:
    """Rows with the labels of their points, in the order of x.

    ``selection`` (axis key -> label) says which points; an axis that is not in it is free.
    """
    wanted = [
        all(points.labels[key][place] == label for key, label in selection.items())
        for place in range(len(points.numbers))
    ]
    names = [name for name in dataset.columns if name != "p"]
    labels = {place: points.row(place) for place in range(len(points.numbers)) if wanted[place]}
    rows = [
        {**labels[place], **{name: dataset.columns[name][row] for name in names}}
        for row, place in enumerate(dataset.columns["p"])
        if wanted[place]
    ]
    return sorted(rows, key=lambda row: 0.0 if row["x"] is None else row["x"])


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
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short
