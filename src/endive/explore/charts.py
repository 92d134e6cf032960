"""The report's charts as the live page draws them: specification and rows, and marks where a configuration stands now
and where a limit was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from endive.report.charts.chart import Chart, Spec, layer, quantity
from endive.report.material import Material
from endive.report.page import legend_html, spec_for_page
from endive.report.report import Section

ALONG: Final = ("success", "throughput", "latency", "freshness", "by-source")  # charts that marks stand on
ORDER: Final = (
    "success",
    "freshness",
    "latency",
    "throughput",
    "phases",
    "requests",
    "by-source",
    "aborts",
    "conflicts",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class XMark:
    """A line across a chart at one x, with a word; a shade to both sides where the place is in doubt."""

    x: float
    label: str
    colour: str
    low: float | None = None
    high: float | None = None
    is_dashed: bool = False
    is_left: bool = False  # whether its word stands to the left, so that marks close to each other can both be read


def with_marks(chart: Chart, marks: Sequence[XMark]) -> Chart:
    """Return the chart with marks, if it is one along x without panels."""
    if chart.facet is not None or not marks or not all("layer" in variant.spec for variant in chart.variants):
        return chart
    added = [each for mark in marks for each in _layers(mark)]
    specs = [{**variant.spec, "layer": [*variant.spec["layer"], *added]} for variant in chart.variants]
    return replace(
        chart, variants=tuple(replace(variant, spec=spec) for variant, spec in zip(chart.variants, specs, strict=True))
    )


def _layers(mark: XMark) -> list[Spec]:
    x = quantity("mark_x")
    layers: list[Spec] = []
    if mark.low is not None and mark.high is not None and mark.low < mark.high:
        ends = {"x": quantity("mark_low"), "x2": {"field": "mark_high"}}
        layers.append(layer("rect", ends, fill=mark.colour, opacity=0.12, tooltip=None))
    dash: Spec = {"strokeDash": [6, 4]} if mark.is_dashed else {}
    layers.append(layer("rule", {"x": x}, stroke=mark.colour, strokeWidth=2, tooltip=None, **dash))
    side: Spec = {"align": "right" if mark.is_left else "left", "baseline": "top", "dx": -6 if mark.is_left else 6}
    font: Spec = {"dy": 4, "fontSize": 12, "fontWeight": 600, "fill": mark.colour}
    word = {"x": x, "y": {"value": 0}, "text": {"field": "word"}}
    layers.append(layer("text", word, **side, **font, tooltip=None))
    data = {"values": [{"mark_x": mark.x, "mark_low": mark.low, "mark_high": mark.high, "word": mark.label}]}
    return [{"data": data, **each} for each in layers]


def section_event(section: Section, marks: Sequence[XMark] = ()) -> dict[str, Any]:
    """Return the charts and the answer in words."""
    made = {chart.id: chart for chart in section.charts}
    first = next((chart.id for chart in section.charts if chart.id in ORDER), "")  # the objective's metric
    charts = [made[name] for name in dict.fromkeys((first, *ORDER)) if name in made]
    return {
        "charts": [
            chart_event(with_marks(chart, marks) if chart.id in ALONG else chart, section.material) for chart in charts
        ],
    }


def chart_event(chart: Chart, material: Material) -> dict[str, Any]:
    """Return one chart: what it shows, how to read it, and everything needed to draw it."""
    rows = material.rows(chart.dataset, chart.selected)
    return {
        "id": chart.id,
        "title": chart.title,
        "reading": chart.reading,
        "alt": chart.alt,
        "variants": [{"label": variant.label, "spec": spec_for_page(chart, variant)} for variant in chart.variants],
        "legend": legend_html(chart.legend) if chart.legend is not None else "",
        "facet": chart.facet,
        "height": chart.height_px,
        "rows": rows,
    }
