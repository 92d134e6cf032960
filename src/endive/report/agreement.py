"""A plot that reads right or wrong: expected values with the band around them, and what the model says.

A point is right where it lies in the band it came with.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import vl_convert

_RIGHT: Final = "#1a7f37"
_WRONG: Final = "#cf222e"
_EXPECTED: Final = "#57606a"
_BAND: Final = "#d0d7de"
_PANEL_WIDTH: Final = 190
_PANEL_HEIGHT: Final = 150
_COLUMNS: Final = 4
_FONT: Final = "DejaVu Sans, Verdana, Arial, sans-serif"


def draw_agreement(figure: Any) -> str:
    """The plot of an ``endive.verification.Figure`` as SVG, a panel for each group of its points."""
    return str(vl_convert.vegalite_to_svg(agreement_chart(figure)))


def agreement_chart(figure: Any) -> dict[str, Any]:
    """The plot as a Vega-Lite document."""
    right, wrong = f"{figure.actual_label}, right", f"{figure.actual_label}, wrong"
    rows = [{**asdict(point), "verdict": right if _is_right(point) else wrong} for point in figure.points]
    axis = {"grid": False, "tickCount": 5}
    kind = {"type": "quantitative"}
    x = {"field": "x", **kind, "title": figure.x_title, "scale": _scale(figure.is_x_log), "axis": axis}
    y = {**kind, "title": figure.y_title, "scale": _scale(figure.is_y_log)}
    labels = [figure.expected_label, right, wrong]

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
    panels = list(dict.fromkeys(point.panel for point in figure.points))
    return {
        "title": figure.title,
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "nominal", "title": None, "sort": panels},
        "columns": min(_COLUMNS, len(panels)),
        "spec": {"width": _PANEL_WIDTH, "height": _PANEL_HEIGHT, "layer": [band, line, marks]},
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
        "config": {"font": _FONT, "background": "white"},
    }


def _is_right(point: Any) -> bool:
    return (point.low is None or point.low <= point.actual) and (point.high is None or point.actual <= point.high)


def _scale(is_log: bool) -> dict[str, Any]:
    return {"type": "log", "nice": False, "padding": 8} if is_log else {"zero": True}
