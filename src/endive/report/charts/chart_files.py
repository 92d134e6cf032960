"""``--figures DIR``: every chart as PNG and SVG, and its data as a Markdown table.

Files are named ``STUDY-CHART[-VARIANT].png``. A chart is drawn as the page shows it first, in light colours, with its
legend.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from endive.report.charts.chart import CONFIG, THEME, Chart, Spec, Variant
from endive.report.material import Material
from endive.report.page import HATCH, without_legends
from endive.report.report import Report
from endive.report.words import figure_words
from endive.results.writer import output_errors, write_atomically

_WIDTH_PX: Final = 680
_PANEL_WIDTH_PX: Final = 320
_SCALE: Final = 2.0
_ROWS_MAX: Final = 500


def write_figures(report: Report, folder: Path) -> list[Path]:
    """Write them all; the files that were written."""
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in _files(report):
        write_atomically(folder / name, content)
        written.append(folder / name)
    return written


def _files(report: Report) -> Iterator[tuple[str, bytes]]:
    import vl_convert

    for name, material, chart in _charts(report):
        stem = f"{_slug(name)}-{chart.id}"
        for number, variant in enumerate(chart.variants):
            picture = f"{stem}-{_slug(variant.label)}" if number else stem
            svg = to_svg(picture_spec(material, chart, variant))
            yield f"{picture}.svg", svg.encode()
            yield f"{picture}.png", bytes(vl_convert.svg_to_png(svg, scale=_SCALE))
        yield f"{stem}.md", markdown(material, chart).encode()


def _charts(report: Report) -> Iterator[tuple[str, Material, Chart]]:
    for section in report.sections:
        yield from ((section.material.study.name, section.material, chart) for chart in section.charts)
    if report.comparison is not None and report.comparison.material is not None:
        material = report.comparison.material
        yield from (("comparison", material, chart) for chart in report.comparison.charts)


def picture_spec(material: Material, chart: Chart, variant: Variant) -> Spec:
    """Return a specification that stands alone: data, size, colours, legend and title inside."""
    rows = material.rows(chart.dataset, chart.selected)
    is_plain = chart.legend is None and not chart.has_gradient  # one series: nothing to tell apart
    spec = json.loads(json.dumps(without_legends(variant.spec) if is_plain else variant.spec))
    spec["data"] = {"values": rows}
    inner = spec.get("spec", spec)
    inner["height"] = chart.height_px
    inner["width"] = _PANEL_WIDTH_PX if chart.facet else _WIDTH_PX
    if chart.facet and len({row[chart.facet] for row in rows}) % 2:  # else axes are drawn for a panel that is not there
        spec["resolve"] = {**spec.get("resolve", {}), "axis": {"x": "independent", "y": "independent"}}
    held = [
        f"{axis.name} {material.selection[axis.key]}" for axis in material.layout.axes if axis.key in chart.selected
    ]
    spec["title"] = {"text": chart.title, "subtitle": ", ".join([*held, variant.label])}
    spec["config"] = {**CONFIG, "background": "var(--paper)", "padding": 12}
    text = json.dumps(spec, allow_nan=False)
    return dict(json.loads(re.sub(r"var\((--[a-z0-9]+)\)", lambda match: THEME[match[1]], text)))


def to_svg(spec: Spec) -> str:
    """Return the picture, with the pattern that hatched cells refer to."""
    import vl_convert

    svg = str(vl_convert.vegalite_to_svg(spec))
    return re.sub(r"(<svg[^>]*>)", rf"\1<defs>{HATCH}</defs>", svg, count=1) if "url(#hatch)" in svg else svg


def markdown(material: Material, chart: Chart) -> str:
    """Return the rows a chart draws, as a table."""
    rows = material.rows(chart.dataset, chart.selected)
    shown = [(f"a{place}", axis.title) for place, axis in enumerate(material.layout.axes)]
    columns = [
        (field, title) for field, title in [*shown, *chart.columns] if any(row.get(field) is not None for row in rows)
    ]
    lines = [f"# {chart.title}", "", chart.reading, ""]
    lines.append(f"| {' | '.join(title for _, title in columns)} |")
    lines.append(f"|{'---|' * len(columns)}")
    lines += [f"| {' | '.join(_cell(row.get(field), field) for field, _ in columns)} |" for row in rows[:_ROWS_MAX]]
    if len(rows) > _ROWS_MAX:
        lines += ["", f"{len(rows) - _ROWS_MAX:,} more rows are in the analysis."]
    return "\n".join(lines) + "\n"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]


def _cell(value: Any, field: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        if figure_words(field.split("_ci95")[0])[1] == "%" or field.startswith("share"):
            return f"{100 * value:.2f} %"
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value).replace("|", "\\|")
