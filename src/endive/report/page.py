"""The page: one HTML file that needs nothing but itself.

Style, data, Vega's bundle and the script that draws are inlined.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from endive.answers.answer import Answer
from endive.pipeline.dataset.files import Place, place_errors, place_of
from endive.pipeline.dataset.seal import seal_page
from endive.render.html import STYLE, answer_html
from endive.report.axes import Axis
from endive.report.cautions import Caution
from endive.report.charts.chart import CONFIG, Chart, Legend, Mark, Variant
from endive.report.charts.chart_rows import pack_columns
from endive.report.charts.chart_script import bundle
from endive.report.comparison import Comparison
from endive.report.material import Material
from endive.report.report import Report, Section
from endive.report.simulated import configuration_text, simulated_lines
from endive.report.words import count_words

# The charts that are open: success, latency, staleness, and where the time goes.
FIRST: Final = ("by-source", "success", "success-rate", "latency", "freshness", "phases")
FIRST_MAX: Final = 4
ASSETS: Final = Path(__file__).parent / "assets"
HATCH: Final = (
    '<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="7" height="7" fill="none"/><line x1="0" y1="0" x2="0" y2="7" stroke="#ffffff" stroke-width="3"/>'
    '<line x1="3" y1="0" x2="3" y2="7" stroke="#101418" stroke-width="1.6"/></pattern>'
)


def render(report: Report) -> str:
    """Return the whole page."""
    sections = [*(_section(index, section, report) for index, section in enumerate(report.sections))]
    if report.comparison is not None:  # one that cannot be drawn does not come first
        sections.insert(0 if report.comparison.charts else len(sections), _comparison(report, report.comparison))
    data: dict[str, Any] = {
        "config": CONFIG,
        "studies": [study_data(section.material, section.charts) for section in report.sections],
    }
    if report.comparison is not None and report.comparison.material is not None:
        data["studies"].append(study_data(report.comparison.material, report.comparison.charts))
    parts = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline' 'unsafe-eval'; img-src data: blob:\">",
        f"<title>{escape(report.title)} · Endive</title>",
        f"<style>{_asset('page.css')}{STYLE}</style>",
        "</head>",
        "<body>",
        '<a class="skip" href="#main">Skip to the answer</a>',
        f'<svg width="0" height="0" class="defs" aria-hidden="true"><defs>{HATCH}</defs></svg>',
        _header(report),
        '<main id="main" tabindex="-1">',
        '<noscript><p class="note">The charts and tables of this page are drawn by a script, which is switched '
        "off here. The answers below do not need it; the tables are also in the folder <code>analysis</code>.</p>"
        "</noscript>",
        *(f'<p class="note">{escape(note)}</p>' for note in report.notes),
        *sections,
        "</main>",
        _footer(report),
        f'<script id="report-data" type="application/json">{to_script(data)}</script>',
        f"<script>{bundle()}</script>",
        f"<script>{_asset('page.js')}</script>",
        "</body>",
        "</html>",
    )
    return "\n".join(parts) + "\n"


def write_report(report: Report, path: Place | Path) -> int:
    """Write the page, with its digest at the end; return its size in bytes. Folders on the way are made."""
    content = seal_page(render(report).encode())
    place = place_of(path)
    with place_errors(place):
        place.parent.mkdir()
        place.write(content)
    return len(content)


def study_data(material: Material, charts: Sequence[Chart]) -> dict[str, Any]:
    """Return what the script needs of one study."""
    axes = material.layout.axes
    index = {axis.key: place for place, axis in enumerate(axes)}
    roles = {name: None if axis is None else index[axis.key] for name, axis in material.layout.roles.items()}
    used = {chart.dataset for chart in charts}
    return {
        "axes": [{"key": axis.key, "title": axis.title, "labels": list(axis.labels)} for axis in axes],
        "roles": roles,
        "selection": [material.selection[axis.key] for axis in axes],
        "points": material.points.to_json(),
        "datasets": {name: pack_columns(columns) for name, columns in material.datasets.items() if name in used},
        "charts": [_chart_data(chart, index) for chart in charts],
    }


def _chart_data(chart: Chart, index: dict[str, int]) -> dict[str, Any]:
    return {
        "id": chart.id,
        "title": chart.title,
        "alt": chart.alt,
        "dataset": chart.dataset,
        "selected": [index[key] for key in chart.selected],
        "legend": None if chart.legend is None else chart.legend.field,
        "variants": [spec_for_page(chart, variant) for variant in chart.variants],
        "columns": [list(column) for column in chart.columns],
        "facet": chart.facet,
        "height": chart.height_px,
    }


def spec_for_page(chart: Chart, variant: Variant) -> Any:
    """Return what the page draws: it shows legends itself, but none of amounts."""
    return variant.spec if chart.has_gradient else without_legends(variant.spec)


def without_legends(spec: Any) -> Any:
    """Return the same specification, for a page that shows the legend itself."""
    if isinstance(spec, list):
        return [without_legends(part) for part in spec]
    if isinstance(spec, dict):
        return {key: None if key == "legend" else without_legends(part) for key, part in spec.items()}
    return spec


def to_script(data: Any) -> str:
    """Return JSON that may stand inside a script element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


# ---- parts of the page -----------------------------------------------------------------------------------


def _header(report: Report) -> str:
    links = [(f"study-{index}", section.material.study.title) for index, section in enumerate(report.sections)]
    if report.comparison is not None:
        links.insert(0 if report.comparison.charts else len(links), ("comparison", "Comparison"))
    nav = ""
    if len(links) > 1:
        items = "".join(f'<li><a href="#{anchor}">{escape(title)}</a></li>' for anchor, title in links)
        nav = f'<nav aria-label="Studies"><ul>{items}</ul></nav>'
    return (
        '<header><div class="top"><p class="brand">Endive <span>report</span></p>'
        '<button type="button" id="theme" aria-pressed="false">Dark</button></div>'
        f"<h1>{escape(report.title)}</h1>{nav}</header>"
    )


def _section(index: int, section: Section, report: Report) -> str:
    material = section.material
    facts = material.study.facts
    hidden = ' class="only-alone"' if len(report.sections) == 1 else ""
    parts = [
        f'<section class="study" id="study-{index}" data-study="{index}" aria-labelledby="study-{index}-title">',
        f'<h2 id="study-{index}-title"{hidden}>{escape(material.study.title)}</h2>',
    ]
    parts.append(_answer(section.answer))
    if facts.get("look_for"):
        parts.append(f'<p class="look"><b>What to look for:</b> {escape(facts["look_for"])}.</p>')
    if section.cautions:
        parts += [
            '<div class="cautions" role="note" aria-label="Warnings"><h3>Warnings</h3><ul>',
            *map(_caution, section.cautions),
            "</ul></div>",
        ]
    parts += [*_simulated(material), _controls(index, material), *_figures(index, section.charts, material)]
    if section.omissions:
        reasons = [f"<li><b>{escape(one.title)}:</b> {escape(one.why)}</li>" for one in section.omissions]
        parts += ['<div class="left-out"><h3>Not drawn</h3><ul>', *reasons, "</ul></div>"]
    return "\n".join([*parts, "</section>"])


def _answer(answer: Answer) -> str:
    """Return headline and table first, then what was simulated."""
    return f'<div class="answer">{answer_html(answer)}</div>'


def _caution(caution: Caution) -> str:
    places = ""
    if caution.places:
        items = "".join(f"<li>{escape(place)}</li>" for place in caution.places)
        more = f"<li>and {caution.more:,} more, in warnings.md</li>" if caution.more else ""
        places = f"<details><summary>Where</summary><ul>{items}{more}</ul></details>"
    words = f"<b>{escape(caution.name)}.</b> {escape(caution.text)}"
    return f'<li data-warning="{escape(caution.kind)}">{words}{places}</li>'


def _simulated(material: Material) -> Iterator[str]:
    """Yield what was simulated, closed on a screen and open on paper."""
    lines = simulated_lines(material.study, material.layout)
    if not lines:
        return
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in lines)
    yield '<details class="simulated"><summary>What was simulated</summary>'
    yield f"<table><caption>What was simulated</caption><tbody>{rows}</tbody></table>"
    yield "<h4>The first configuration, with defaults</h4>"
    yield f'<pre tabindex="0">{escape(configuration_text(material.study))}</pre></details>'


def _controls(index: int, material: Material) -> str:
    """Selectors of the axes that every chart has to hold fixed."""
    selects = "".join(_select(index, material, axis, "page") for axis in material.layout.others)
    bar = '<div class="bar" role="group" aria-label="Which configurations are drawn"><span>Drawn for</span>'
    return f"{bar}{selects}</div>" if selects else ""


def _select(index: int, material: Material, axis: Axis, where: str) -> str:
    place = material.layout.axes.index(axis)
    first = material.selection[axis.key]
    options = "".join(
        f'<option value="{escape(label)}"{" selected" if label == first else ""}>{escape(label)}</option>'
        for label in axis.labels
    )
    return (
        f'<label>{escape(axis.title)} <select data-study="{index}" data-axis="{place}" '
        f'aria-label="{escape(f"{axis.title}, {where}")}">{options}</select></label>'
    )


def _figures(index: int, charts: Sequence[Chart], material: Material) -> Iterator[str]:
    """Yield the charts that answer first; the others are collapsed."""
    first = [place for name in FIRST for place, chart in enumerate(charts) if chart.id == name][:FIRST_MAX]
    first = sorted(first) or list(range(len(charts)))[:FIRST_MAX]
    rest = [place for place in range(len(charts)) if place not in first]
    yield '<div class="charts">'
    yield from (_figure(index, place, charts[place], material) for place in first)
    yield "</div>"
    if rest:
        yield f'<details class="more"><summary>{count_words(len(rest), "more chart")}</summary><div class="charts">'
        yield from (_figure(index, place, charts[place], material) for place in rest)
        yield "</div></details>"


def _figure(index: int, place: int, chart: Chart, material: Material) -> str:
    title = escape(chart.title)
    controls = ""
    if len(chart.variants) > 1:
        labels = enumerate(variant.label for variant in chart.variants)
        options = "".join(f'<option value="{number}">{escape(label)}</option>' for number, label in labels)
        controls = f'<label>Show <select data-variant aria-label="Figure, {title}">{options}</select></label>'
    for axis in material.layout.axes:
        if axis.key in chart.selected and axis not in material.layout.others:
            controls += _select(index, material, axis, chart.title)
    tools = f'<div class="tools">{controls}</div>' if controls else ""
    legend = _legend(chart.legend) if chart.legend is not None else ""
    return (
        f'<figure id="chart-{index}-{chart.id}" data-study="{index}" data-chart="{place}">'
        f"<figcaption><h3>{title}</h3><p>{escape(chart.reading)}</p></figcaption>{tools}{legend}"
        f'<div class="plot" role="img" aria-label="{escape(chart.alt)}" style="min-height:{chart.height_px}px"></div>'
        '<p class="empty" hidden>No configuration of the study has this combination.</p>'
        '<div class="data"><details><summary>Data as a table</summary><div class="scroll" tabindex="0" role="region" '
        f'aria-label="Data of {title}"></div></details>'
        f'<button type="button" data-csv aria-label="Download the data of {title} as CSV">Download CSV</button></div>'
        "</figure>"
    )


def legend_html(legend: Legend) -> str:
    """Return entries with the look of each, for a page that has no switches."""
    items = (f"<li>{_swatch(mark)}{escape(mark.label)}</li>" for mark in legend.marks)
    return f"<ul>{''.join(items)}</ul>"


def _legend(legend: Legend) -> str:
    """Return entries that switch what they name off and on."""
    items = "".join(
        f'<li><button type="button" aria-pressed="true" data-entry="{escape(mark.label)}">{_swatch(mark)}'
        f"{escape(mark.label)}</button></li>"
        for mark in legend.marks
    )
    title = f"<span>{escape(legend.title)}</span>" if legend.title else ""
    name = escape(f"{legend.title}: show or hide")
    return f'<div class="legend" role="group" aria-label="{name}">{title}<ul>{items}</ul></div>'


_SHAPES: Final = {
    "circle": '<circle cx="15" cy="7" r="4"/>',
    "square": '<rect x="11" y="3" width="8" height="8"/>',
    "triangle-up": '<path d="M15 2 20 11 10 11Z"/>',
    "diamond": '<path d="M15 2 20 7 15 12 10 7Z"/>',
    "cross": '<path d="M13.5 2h3v3.5H20v3h-3.5V12h-3V8.5H10v-3h3.5Z"/>',
    "triangle-down": '<path d="M15 12 20 3 10 3Z"/>',
    "triangle-right": '<path d="M20 7 11 12 11 2Z"/>',
    "triangle-left": '<path d="M10 7 19 12 19 2Z"/>',
}


def _swatch(mark: Mark) -> str:
    if not mark.shape:
        inner = f'<rect x="9" y="1" width="12" height="12" rx="2" fill="{mark.colour}"/>'
    else:
        dashes = "" if mark.dash == (1, 0) else f' stroke-dasharray="{" ".join(map(str, mark.dash))}"'
        line = f'<path d="M0 7H30" stroke="{mark.colour}" stroke-width="2"{dashes}/>'
        inner = f'{line}<g fill="{mark.colour}">{_SHAPES[mark.shape]}</g>'
    return f'<svg viewBox="0 0 30 14" width="30" height="14" aria-hidden="true">{inner}</svg>'


def _comparison(report: Report, comparison: Comparison) -> str:
    parts = [
        '<section class="study" id="comparison" aria-labelledby="comparison-title">',
        '<h2 id="comparison-title">Comparison</h2>',
        f'<div class="answer"><p>{escape(comparison.paragraph)}</p></div>',
    ]
    if comparison.material is not None:
        index = len(report.sections)  # of its data: after the studies
        parts += [_controls(index, comparison.material), *_figures(index, comparison.charts, comparison.material)]
    return "\n".join([*parts, "</section>"])


def _footer(report: Report) -> str:
    runs = sum(int(section.material.study.facts["runs"]) for section in report.sections)
    seeds = "95 % intervals are two-sided, of the mean over seeds, by Student's t; with few seeds they are wide."
    return (
        f"<footer><p>{count_words(runs, 'run')} of Endive {escape(report.version)}, model version "
        f"{report.model_version}. {seeds} A txn counts if it was submitted in the window between warm-up and "
        "cool-down. Every number of this page stands in the folder <code>analysis</code>, as Parquet and CSV."
        "</p></footer>"
    )
