"""What a chart is: Vega-Lite specifications, the data set they draw, and what stands around them on the page.

Colours are CSS variables, so that one drawing serves the light page, the dark one and paper; ``THEME`` gives them
values for pictures. The charts themselves are in ``curves``, ``stacks``, ``spread`` and ``comparison``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from endive.report.axes import Axis

Spec = dict[str, Any]

# Okabe and Ito's colours, which stay apart for colour-blind eyes; the page darkens or lightens them per theme.
COLOURS: Final = 9
DASHES: Final = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [5, 2], [1, 3], [12, 3], [4, 2, 1, 2])
SHAPES: Final = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)

THEME: Final[Mapping[str, str]] = {  # of pictures; page.css has the same for the page, and a dark one
    "--paper": "#ffffff",
    "--ink": "#1b1f24",
    "--soft": "#57606a",
    "--grid": "#e3e7ec",
    "--shade": "#eef1f4",
    "--bad": "#b3261e",
    "--c0": "#0072b2",
    "--c1": "#d55e00",
    "--c2": "#009e73",
    "--c3": "#aa4499",
    "--c4": "#b8860b",
    "--c5": "#56b4e9",
    "--c6": "#7a5c3e",
    "--c7": "#5f6670",
    "--c8": "#e39bbf",
}

FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
CONFIG: Final[Spec] = {
    "background": "transparent",
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--soft)",
        "titleColor": "var(--ink)",
        "gridColor": "var(--grid)",
        "domainColor": "var(--soft)",
        "tickColor": "var(--soft)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": 600,
        "titlePadding": 8,
        "labelOverlap": "greedy",
        "labelSeparation": 4,
    },
    "header": {
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "labelFontWeight": 600,
        "title": None,
        "labelPadding": 6,
    },
    "legend": {"labelColor": "var(--ink)", "titleColor": "var(--ink)", "labelFontSize": 12, "titleFontSize": 12},
    "title": {"color": "var(--ink)", "subtitleColor": "var(--soft)", "anchor": "start", "fontSize": 15},
}

GUIDE: Final[Spec] = {"stroke": "var(--soft)", "strokeDash": [2, 3], "strokeWidth": 1.2, "tooltip": None}  # of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How one entry of a legend looks; a swatch if it has no shape."""

    label: str
    colour: str
    dash: tuple[int, ...] = ()
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """Entries that can be switched off: those of one field of the data."""

    field: str
    title: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to draw a chart's data; a reader chooses."""

    label: str
    spec: Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One figure of the page."""

    id: str
    title: str
    reading: str  # one or two sentences: what is drawn, and how to read it
    alt: str  # what a reader sees, for those who do not
    dataset: str
    selected: tuple[str, ...]  # keys of the axes of which one value is drawn
    variants: tuple[Variant, ...]
    columns: tuple[tuple[str, str], ...]  # field and heading, of the table beside it
    legend: Legend | None = None
    facet: str | None = None  # field that splits it into panels
    has_gradient: bool = False  # whether colours are amounts, which the page has no legend of its own for
    height_px: int = 320


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """A chart the data cannot support, and why."""

    title: str
    why: str


# ---- parts of specifications ---------------------------------------------------------------------------


def make_legend(
    field_name: str, title: str, labels: Sequence[str], *, with_shapes: bool, fixed: Sequence[str] = ()
) -> Legend:
    """Return a look for each label: colours first, then dashes and shapes, which differ from one to the next anyway.

    Labels in ``fixed`` look like their place there, whichever of them are drawn.
    """
    places = list(fixed) + [label for label in labels if label not in fixed]
    marks = tuple(
        Mark(
            label=label,
            colour=f"var(--c{index % COLOURS})",
            dash=tuple(DASHES[(index + index // COLOURS) % len(DASHES)]) if with_shapes else (),
            shape=SHAPES[(index + index // COLOURS) % len(SHAPES)] if with_shapes else "",
        )
        for label in labels
        for index in (places.index(label),)
    )
    return Legend(field=field_name, title=title, marks=marks)


def look_of(legend: Legend, look: str = "colour") -> Spec:
    """Return a channel that gives each entry of a legend its own ``colour``, ``dash`` or ``shape``."""
    looks = [getattr(mark, look) for mark in legend.marks]
    return {
        "field": legend.field,
        "type": "nominal",
        "scale": {"domain": [mark.label for mark in legend.marks], "range": looks},
        "legend": {"title": legend.title, "orient": "bottom", "columns": 4, "labelLimit": 260, "symbolOpacity": 1},
    }


def quantity(field_name: str, title: str = "", **more: Any) -> Spec:
    """Return a channel of numbers."""
    return {"field": field_name, "type": "quantitative", **({"title": title} if title else {}), **more}


def layer(mark: str, encoding: Spec, transform: Sequence[Spec] = (), **look: Any) -> Spec:
    """Return marks of one kind."""
    transforms: Spec = {"transform": list(transform)} if transform else {}
    return {**transforms, "mark": {"type": mark, **look}, "encoding": encoding}


def rule_at(level: float, colour: str) -> Spec:
    """Return a dashed line across the page."""
    rule = layer("rule", {"y": quantity("level")}, stroke=colour, strokeDash=[3, 3], tooltip=None)
    return {"data": {"values": [{"level": level}]}, **rule}


def split_into_panels(spec: Spec, field_name: str, axis: Axis | None) -> Spec:
    """Return the same in panels, one for each value of an axis; as it is without one."""
    if axis is None:
        return spec
    header: Spec = {"labelLimit": 320}
    if axis.name and all(label[:1].isdigit() for label in axis.labels):  # words say themselves what they are
        header["labelExpr"] = f"{json.dumps(axis.name + ': ')} + datum.value"
    return {
        "facet": {"field": field_name, "type": "nominal", "sort": list(axis.labels), "header": header, "title": None},
        "columns": 2,
        "spec": spec,
    }


def tooltip(*fields: tuple[str, str, str]) -> list[Spec]:
    """What is shown beside the pointer: (field, heading, format); no format is text, no heading leaves it out."""
    return [
        {"field": name, "title": heading, **({"type": "quantitative", "format": form} if form else {"type": "nominal"})}
        for name, heading, form in fields
        if heading
    ]
