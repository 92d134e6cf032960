"""The report's charts as the live page draws them: specification and rows, ready for Vega-Lite.

The charts are made in ``endive.report``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.report.charts.chart import Chart
from endive.report.charts.marks import XMark, with_marks
from endive.report.material import Material
from endive.report.page import legend_html, without_legends
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


def section_event(section: Section, marks: Sequence[XMark] = ()) -> dict[str, Any]:
    """The charts and the answer in words."""
    made = {chart.id: chart for chart in section.charts}
    charts = [made[name] for name in ORDER if name in made]
    return {
        "headline": section.answer.headline,
        "paragraph": section.answer.paragraph,
        "charts": [
            chart_event(with_marks(chart, marks) if chart.id in ALONG else chart, section.material) for chart in charts
        ],
    }


def chart_event(chart: Chart, material: Material, selection: Mapping[str, str] | None = None) -> dict[str, Any]:
    """One chart: what it shows, how to read it, and everything needed to draw it."""
    chosen = {**material.selection, **(selection or {})}
    material.selection.update({key: chosen[key] for key in chart.selected})
    rows = material.rows(chart.dataset, chart.selected)
    return {
        "id": chart.id,
        "title": chart.title,
        "reading": chart.reading,
        "alt": chart.alt,
        "variants": [
            {"label": variant.label, "spec": variant.spec if chart.has_gradient else without_legends(variant.spec)}
            for variant in chart.variants
        ],
        "legend": legend_html(chart.legend) if chart.legend is not None else "",
        "facet": chart.facet,
        "height": chart.height_px,
        "rows": rows,
    }
