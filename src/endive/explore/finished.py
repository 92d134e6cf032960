"""A study that has been swept and analysed: its charts with axes to choose, and its points as places to begin.

The charts are the report's, made from the study's own analysis. A point's configuration is the one the sweep ran.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from endive.errors import ConfigError
from endive.explore.charts import chart_event
from endive.explore.starting_points import Start, start_from
from endive.report.axes import Axis, Layout, choose_layout, make_axis
from endive.report.price import point_configs
from endive.report.reading import Row, Study, open_analysis
from endive.report.report import make_section

POINTS_MAX: Final = 2_000  # that are listed
POINT_DIGITS_MAX: Final = 9
ROLES: Final = ("x", "series", "panel")


@dataclass(frozen=True)
class Finished:
    """One study of a folder."""

    study: Study

    @cached_property
    def _points(self) -> list[Row]:
        rows = self.study.rows("configurations", columns=["point", "scope", *self.study.axes])
        return sorted(rows, key=lambda row: int(row["point"]))

    @cached_property
    def _configs(self) -> dict[int, dict[str, Any]]:
        return point_configs(self.study)

    @property
    def place(self) -> str:
        """How ids of its points begin."""
        return f"point/{self.study.name}/"

    @cached_property
    def _axes(self) -> list[Axis]:
        """The axes that were varied, in the order of the study."""
        columns = {key: [row[key] for row in self._points] for key in self.study.axes}
        return [make_axis(key, values) for key, values in columns.items() if len({repr(each) for each in values}) > 1]

    def label(self) -> dict[str, Any]:
        """What the page needs to offer axes, filters and points."""
        return {
            "name": self.study.name,
            "title": self.study.title,
            "question": self.study.facts.get("question") or "",
            "axes": [{"key": axis.key, "title": axis.title, "labels": list(axis.labels)} for axis in self._axes],
            "roles": _roles(choose_layout(self.study)),
            "points": [
                {"id": f"{self.place}{row['point']}", "labels": [axis.label(row[axis.key]) for axis in self._axes]}
                for row in self._points[:POINTS_MAX]
            ],
            "left_out": max(0, len(self._points) - POINTS_MAX),
        }

    def charts(self, roles: Mapping[str, Any], chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The report's charts with these axes in these roles, for the chosen values of the others."""
        keys = [axis.key for axis in self._axes]
        for role, key in roles.items():
            if role not in ROLES or (key is not None and key not in keys):
                raise ConfigError(f"{role} = {key!r} is no axis of the study. Axes are: {', '.join(keys)}.")
        asked = {**dict(self.study.facts.get("report") or {}), **{role: key for role, key in roles.items() if key}}
        section = make_section(replace(self.study, facts={**self.study.facts, "report": asked}))
        material = section.material
        layout = material.layout
        labels = {axis.key: axis.labels for axis in layout.axes}
        selection = {str(key): str(label) for key, label in chosen.items() if label in labels.get(str(key), ())}
        kept = {f"a{place}": selection[axis.key] for place, axis in enumerate(layout.axes) if axis.key in selection}
        return {
            "headline": section.answer.headline,
            "paragraph": section.answer.paragraph,
            "roles": _roles(layout),
            "axes": [axis.key for axis in layout.axes],
            "selection": {**material.selection, **selection},
            "held": selection,
            "charts": [_filter(chart_event(chart, material, selection), kept) for chart in section.charts],
        }

    def start(self, place: str) -> Start | None:
        """The configuration of a point, by the end of its id."""
        is_number = place.isascii() and place.isdecimal() and len(place) <= POINT_DIGITS_MAX
        plain = self._configs.get(int(place)) if is_number else None
        if plain is None:
            return None
        row = next((row for row in self._points if row["point"] == int(place)), None)
        values = ", ".join(f"{axis.name} {axis.label(row[axis.key])}" for axis in self._axes) if row else ""
        title = f"{self.study.title}: {values or f'point {int(place)}'}"
        return start_from(plain, id=f"{self.place}{place}", title=title, group="Points")


def _roles(layout: Layout) -> dict[str, str | None]:
    """The key of the axis in each role."""
    return {role: None if axis is None else axis.key for role, axis in zip(ROLES, layout.roles.values(), strict=True)}


def _filter(event: dict[str, Any], kept: Mapping[str, str]) -> dict[str, Any]:
    """A chart with only those rows that have these labels; a row that knows nothing of an axis stays."""
    rows = [row for row in event["rows"] if all(row.get(name, label) == label for name, label in kept.items())]
    return {**event, "rows": rows}


def finished_in(folder: Path) -> tuple[Finished, ...]:
    """The studies of a folder that ``endive analyze`` has read; OutputError with what to do if there are none."""
    return tuple(Finished(study) for study in open_analysis(folder).studies)


def start_of_point(studies: Sequence[Finished], id: str) -> Start | None:
    """The point with an id, of whichever study it is."""
    for study in studies:
        if id.startswith(study.place):
            return study.start(id.removeprefix(study.place))
    return None
