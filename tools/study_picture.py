"""One figure of an analysed study as a line chart in a file, such as the pictures in docs/images.

Owns the look of these pictures: colours that colour-blind eyes tell apart, dashes and shapes beside them, a logarithmic
axis for what was swept. Computes nothing: every number stands in DIR/analysis. All charts of a study: endive report.

    python -m tools.study_picture out/mixed overwrites success_rate docs/images/overwrites.svg --name overwrites \
        --title "Success of an overwrite that runs for three minutes" --x "appends per second"
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any, Final

import vl_convert

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5539", "#5F6670")
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
DASHES: Final = ([1, 0], [6, 3], [2, 2], [6, 2, 1, 2], [4, 2], [1, 2], [8, 3], [3, 1, 1, 1])
WIDTH, HEIGHT = 560, 280


def main() -> None:
    """Write the picture; the suffix of the file says whether SVG or PNG."""
    given = _arguments()
    analysis = Path(given.folder) / "analysis"
    report = json.loads((analysis / "index.json").read_text())["studies"][given.study]["report"]
    rows = _rows(analysis, given, report["x"], report["series"])
    spec = _spec(rows, given)
    path = Path(given.file)
    if path.suffix == ".svg":
        path.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
    else:
        path.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("folder", help="a folder that 'endive analyze' has analysed")
    parser.add_argument("study", help="name of a study in it")
    parser.add_argument("figure", help="a figure of the analysis, such as success_rate")
    parser.add_argument("file", help="the picture: a name that ends in .svg or .png")
    parser.add_argument("--name", default="all", help="an operation type or a source, instead of all txns")
    parser.add_argument("--title", default="", help="what the picture shows")
    parser.add_argument("--x", default=None, help="what the axis is called, instead of its key")
    return parser.parse_args()


def _rows(analysis: Path, given: argparse.Namespace, x: str, series: str) -> list[dict[str, Any]]:
    """One row per point: where it lies, its mean and its interval."""
    points = {row["point"]: row for row in _read(analysis / "configurations.csv") if row["study"] == given.study}
    return [
        {
            "x": float(points[row["point"]][x]),
            "series": points[row["point"]][series],
            "mean": float(row["mean"]),
            "low": float(row["ci95_low"] or row["mean"]),
            "high": float(row["ci95_high"] or row["mean"]),
        }
        for row in _read(analysis / "figures.csv")
        if row["study"] == given.study and row["figure"] == given.figure and row["name"] == given.name and row["mean"]
    ]


def _spec(rows: list[dict[str, Any]], given: argparse.Namespace) -> dict[str, Any]:
    """A Vega-Lite chart: a band for the interval, a line and points for the mean."""
    names = list(dict.fromkeys(row["series"] for row in rows))
    count = len(names)
    is_share = given.figure == "success_rate"
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"type": "log"},
        "axis": {"title": given.x or "x", "values": sorted({row["x"] for row in rows}), "grid": False, "format": "~g"},
    }
    y_axis = {"title": given.figure.replace("_", " "), **({"format": ".0%"} if is_share else {})}
    y = {"field": "mean", "type": "quantitative", "axis": y_axis, **({"scale": {"domain": [0, 1]}} if is_share else {})}
    legend = {"title": None, "labelLimit": 260, "symbolSize": 80, "symbolStrokeWidth": 2, "symbolOpacity": 1}
    colour = {"field": "series", "scale": {"domain": names, "range": list(COLOURS[:count])}, "sort": names}
    dash = {"field": "series", "scale": {"domain": names, "range": list(DASHES[:count])}, "legend": legend}
    shape = {"field": "series", "scale": {"domain": names, "range": list(SHAPES[:count])}, "legend": legend}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": given.title, "anchor": "start"},
        "width": WIDTH,
        "height": HEIGHT,
        "background": "white",
        "config": {"font": "sans-serif", "view": {"stroke": None}},
        "data": {"values": rows},
        "encoding": {"x": x, "color": {**colour, "legend": legend}},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.08},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": y, "strokeDash": dash}},
            {"mark": {"type": "point", "size": 60, "filled": True, "opacity": 1}, "encoding": {"y": y, "shape": shape}},
        ],
    }


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
