"""A plot that reads right or wrong: expected values with the band around them, and what the model says.

A point is right where it lies in the band it came with.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

import vl_convert

from endive.report.charts.chart import layer, quantity

_RIGHT: Final = "#1a7f37"
_WRONG: Final = "#cf222e"
_EXPECTED: Final = "#57606a"
_BAND: Final = "#d0d7de"
_PANEL_WIDTH: Final = 190
_PANEL_HEIGHT: Final = 150
_COLUMNS: Final = 4
_FONT: Final = "DejaVu Sans, Verdana, Arial, sans-serif"


def draw_agreement(figure: Any) -> str:
    """Return the plot of an ``endive.verification.Figure`` as SVG, a panel for each group of its points."""
    return str(vl_convert.vegalite_to_svg(agreement_chart(figure)))


def agreement_chart(figure: Any) -> dict[str, Any]:
    """Return the plot as a Vega-Lite document."""
    right, wrong = f"{figure.actual_label}, right", f"{figure.actual_label}, wrong"
    rows = [{**asdict(point), "verdict": right if _is_right(point) else wrong} for point in figure.points]
    x = quantity("x", figure.x_title, scale=_scale(figure.is_x_log), axis={"grid": False, "tickCount": 5})

    def of_figure(name: str) -> dict[str, Any]:
        return quantity(name, figure.y_title, scale=_scale(figure.is_y_log))

    def of_verdicts(*looks: str) -> dict[str, Any]:
        scale = {"domain": [figure.expected_label, right, wrong], "range": list(looks)}
        return {"field": "verdict", "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "top"}}

    ends = {"x": x, "y": of_figure("low"), "y2": {"field": "high"}}
    band = layer("area", ends, color=_BAND, opacity=0.8, interpolate="linear")
    dots = {"color": _EXPECTED, "size": 18}
    line = layer("line", {"x": x, "y": of_figure("expected")}, color=_EXPECTED, strokeWidth=1.5, point=dots)
    looks = {"color": of_verdicts(_EXPECTED, _RIGHT, _WRONG), "shape": of_verdicts("circle", "circle", "cross")}
    marks = layer("point", {"x": x, "y": of_figure("actual"), **looks}, filled=False, size=60, strokeWidth=2)
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
