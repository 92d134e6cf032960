"""A plot that reads right or wrong: expected values with the band around them, and what the model says.

A point is right where it lies in the band it came with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import altair as alt
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
    x = alt.X("x:Q", title=style.x_title, scale=_scale(style.is_x_log), axis=alt.Axis(grid=False, tickCount=5))
    y_scale = _scale(style.is_y_log)
    verdicts = alt.Scale(domain=[style.expected_label, right, wrong], range=[_EXPECTED, _RIGHT, _WRONG])
    base = alt.Chart()
    band = base.mark_area(color=_BAND, opacity=0.8, interpolate="linear").encode(
        x=x, y=alt.Y("low:Q", title=style.y_title, scale=y_scale), y2="high:Q"
    )
    line = base.mark_line(color=_EXPECTED, strokeWidth=1.5, point=alt.OverlayMarkDef(color=_EXPECTED, size=18)).encode(
        x=x, y=alt.Y("expected:Q", title=style.y_title, scale=y_scale)
    )
    marks = base.mark_point(filled=False, size=60, strokeWidth=2).encode(
        x=x,
        y=alt.Y("actual:Q", title=style.y_title, scale=y_scale),
        color=alt.Color("verdict:N", scale=verdicts, legend=alt.Legend(title=None, orient="top")),
        shape=alt.Shape(
            "verdict:N",
            scale=alt.Scale(domain=[style.expected_label, right, wrong], range=["circle", "circle", "cross"]),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )
    panels = list(dict.fromkeys(point.panel for point in points))
    chart = (
        alt.layer(band, line, marks, data=alt.InlineData(values=rows))
        .properties(width=_PANEL_WIDTH, height=_PANEL_HEIGHT)
        .facet(facet=alt.Facet("panel:N", title=None, sort=panels), columns=min(style.columns, len(panels)))
        .resolve_scale(y="independent", x="independent")
        .properties(title=style.title)
        .configure(font=_FONT, background="white")
    )
    return dict(chart.to_dict())


def _is_right(point: HeldPoint) -> bool:
    return (point.low is None or point.low <= point.actual) and (point.high is None or point.actual <= point.high)


def _scale(is_log: bool) -> alt.Scale:
    return alt.Scale(type="log", nice=False, padding=8) if is_log else alt.Scale(zero=True)
