"""A plot that reads right or wrong: expected values with the band around them, and what the model says.

A point is right where it lies in the band it came with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import vl_convert

_RIGHT: Final = "#1a7f37"
_WRONG: Final = "#cf222e"
_EXPECTED: Final = "#57606a"
_BAND: Final = "#d0d7de"
_PANEL_WIDTH: Final = 190
_PANEL_HEIGHT: Final = 150
_FONT: Final = "DejaVu Sans, Verdana, Arial, sans-serif"


class HeldPoint(Protocol):
    """What a point must tell."""

    @property
    def panel(self) -> str: ...
    @property
    def x(self) -> float: ...
    @property
    def expected(self) -> float: ...
    @property
    def actual(self) -> float: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementStyle:
    """Words and scales of a plot."""

    title: str
    x_title: str
    y_title: str
    expected_label: str
    actual_label: str
    is_x_log: bool = False
    is_y_log: bool = False
    columns: int = 4


def draw_agreement(points: Sequence[HeldPoint], style: AgreementStyle) -> str:
    """The plot as SVG, a panel for each group of points."""
    return str(vl_convert.vegalite_to_svg(agreement_chart(points, style)))


def agreement_chart(points: Sequence[HeldPoint], style: AgreementStyle) -> dict[str, Any]:
    """The plot as a Vega-Lite document."""
    right, wrong = f"{style.actual_label}, right", f"{style.actual_label}, wrong"
    rows = [
        {
            "panel": point.panel,
            "x": point.x,
            "expected": point.expected,
            "actual": point.actual,
            "low": point.low,
            "high": point.high,
            "verdict": right if _is_right(point) else wrong,
        }
        for point in points
    ]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": style.x_title,
        "scale": _scale(style.is_x_log),
        "axis": {"grid": False, "tickCount": 5},
    }
    y = {"type": "quantitative", "title": style.y_title, "scale": _scale(style.is_y_log)}
    labels = [style.expected_label, right, wrong]

    def of_verdicts(*looks: str) -> dict[str, Any]:
        scale = {"domain": labels, "range": list(looks)}
        return {"field": "verdict", "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "top"}}

    band = {
        "mark": {"type": "area", "color": _BAND, "opacity": 0.8, "interpolate": "linear"},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "mark": {"type": "line", "color": _EXPECTED, "strokeWidth": 1.5, "point": {"color": _EXPECTED, "size": 18}},
        "encoding": {"x": x, "y": {**y, "field": "expected"}},
    }
    marks = {
        "mark": {"type": "point", "filled": False, "size": 60, "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {**y, "field": "actual"},
            "color": of_verdicts(_EXPECTED, _RIGHT, _WRONG),
            "shape": of_verdicts("circle", "circle", "cross"),
        },
    }
    panels = list(dict.fromkeys(point.panel for point in points))
    return {
        "title": style.title,
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "nominal", "title": None, "sort": panels},
        "columns": min(style.columns, len(panels)),
        "spec": {"width": _PANEL_WIDTH, "height": _PANEL_HEIGHT, "layer": [band, line, marks]},
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
        "config": {"font": _FONT, "background": "white"},
    }


def _is_right(point: HeldPoint) -> bool:
    return (point.low is None or point.low <= point.actual) and (point.high is None or point.actual <= point.high)


def _scale(is_log: bool) -> dict[str, Any]:
    return {"type": "log", "nice": False, "padding": 8} if is_log else {"zero": True}
