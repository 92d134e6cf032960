"""The page of an observed table: commits over time, kinds, gaps, writers, manifest growth.

One HTML file without a script; the charts are pictures inside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from endive.observation.fitting.findings import manifest_growth, per_interval
from endive.observation.history import TableHistory
from endive.report.charts.chart import Spec, layer, quantity
from endive.report.charts.chart_files import to_svg

_STYLE: Final = (Path(__file__).parent / "assets" / "page.css").read_text(encoding="utf-8")
_SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v5.json"
_WIDTH: Final = 620
_HEIGHT: Final = 190


def observed_page(history: TableHistory, seen: Mapping[str, Any]) -> str:
    """Return the whole page."""
    charts = [
        ("Commits per hour", _commits(history)),
        ("Gaps between commits of one source", _gaps(seen)),
        ("Manifests", _manifests(history)),
    ]
    figures = [
        f'<figure class="wide"><figcaption><h3>{escape(title)}</h3></figcaption>{to_svg(spec)}</figure>'
        for title, spec in charts
        if spec is not None
    ]
    off = [rate["text"] for rate in seen.get("rates", {}).values() if not rate["holds"]]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(history.name)} · Endive</title><style>{_STYLE}</style></head>",
            f"<body><header><h1>{escape(history.name)}: what was seen</h1></header><main>",
            f'<div class="answer"><p>{escape(sentence(seen))}</p></div>',
            _list("Read this first", [*seen["notes"], *off]),
            _list("Assumed, not seen", [*seen["assumed"]]),
            _sources(seen["sources"]),
            *figures,
            "</main></body></html>",
        )
    )


def sentence(seen: Mapping[str, Any]) -> str:
    """Return what was seen, in two sentences."""
    kinds = ", ".join(f"{count:,} {name}" for name, count in seen["operations"].items())
    size = seen["size"]
    manifests = "an unknown number of" if size["manifests"] is None else f"{size['manifests']:,}"
    kept = f"The table keeps {size['snapshots']:,} snapshots and has {manifests} manifests."
    if seen.get("format") == "delta":
        kept = f"Its log counts {size['snapshots']:,} commits."
    return (
        f"{seen['commits']:,} commits from {seen['first']} to {seen['last']}, {seen['commits_per_hour']:,.1f} per "
        f"hour: {kinds}. {kept}"
    )


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<div class="cautions"><h3>{escape(title)}</h3><ul>{items}</ul></div>'


_HEADINGS: Final = (
    "source",
    "engine",
    "commits",
    "operations",
    "arrivals",
    "gap P50 s",
    "files per commit",
    "attempts > 1",
)


def _sources(sources: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for source in sources:
        gaps, files, attempts = source["gaps_ms"], source["files_per_commit"], source["attempts"]
        more = sum(count for key, count in (attempts or {}).items() if key != "1")
        known = sum((attempts or {}).values())
        cells = (
            source["name"],
            source["engine"],
            f"{source['commits']:,}",
            ", ".join(source["operations"]),
            source["pattern"],
            "-" if gaps is None else f"{gaps['p50'] / 1000.0:,.1f}",
            "-" if files is None else f"{files['p50']:,.0f}",
            "-" if not known else f"{100.0 * more / known:.1f} %",
        )
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{heading}</th>" for heading in _HEADINGS)
    return f"<h2>Sources</h2><table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _spec(values: Sequence[Mapping[str, Any]], drawn: Spec) -> Spec:
    size = {"width": _WIDTH, "height": _HEIGHT, "background": "white"}
    return {"$schema": _SCHEMA, **size, "data": {"values": list(values)}, **drawn}


_TIME: Final[Spec] = {"field": "time", "type": "temporal", "title": "time (UTC)", "scale": {"type": "utc"}}


def _commits(history: TableHistory) -> Spec:
    operation = {"field": "operation", "type": "nominal", "title": None}
    encoding = {"x": _TIME, "y": quantity("per_hour", "commits per hour"), "color": operation}
    return _spec(per_interval(history), layer("line", encoding, interpolate="step-after", point=True))


def _gaps(seen: Mapping[str, Any]) -> Spec | None:
    values = [
        {"source": source["name"], "quantile": key, "seconds": max(gap, 1e-3) / 1000.0}
        for source in seen["sources"]
        for key, gap in (source["gaps_ms"] or {}).items()
        if key != "mean"
    ]
    x = quantity("seconds", scale={"type": "log"}, title="gap in seconds: P50, P95, P99")
    y = {"field": "source", "type": "nominal", "title": None}
    encoding = {"x": x, "y": y, "shape": {"field": "quantile"}}
    return _spec(values, layer("point", encoding, filled=True, size=70)) if values else None


def _manifests(history: TableHistory) -> Spec | None:
    values = manifest_growth(history)
    encoding = {"x": _TIME, "y": quantity("manifests", "manifests after the commit")}
    return _spec(values, layer("line", encoding, point=True)) if len(values) > 1 else None
