"""Heatmaps: a figure over two axes of numbers, one cell per configuration; cells that miss the objective are hatched.

The hatch is a pattern that the page, or the picture, defines.
"""

from __future__ import annotations

from typing import Final

from endive.report.axes import Axis
from endive.report.charts.chart import Chart, Omission, Spec, Variant, layer, quantity, split_into_panels, tooltip
from endive.report.charts.curves import table_columns
from endive.report.material import Material, ends_text, number_format
from endive.report.words import figure_label, figure_words

_CELLS_MAX: Final = 24  # values on one side
_DARK: Final = "#101418"
_LIGHT: Final = "#ffffff"


def heatmap(material: Material) -> Chart | Omission:
    """Return two axes of numbers at once; cells that miss the objective are hatched."""
    title = "Two axes at once"
    numeric = [axis for axis in material.layout.axes if axis.is_numeric and len(axis.labels) <= _CELLS_MAX]
    if len(numeric) < 2:
        return Omission(title=title, why="a heatmap needs two axes of numbers with at most 24 values each.")
    x = material.layout.x if material.layout.x in numeric else numeric[0]
    y = max((axis for axis in numeric if axis is not x), key=lambda axis: len(axis.labels))
    assert x is not None
    split = next((axis for axis in (material.layout.series, material.layout.panel) if axis not in (None, x, y)), None)
    field = None if split is None else ("s" if split is material.layout.series else "f")
    return Chart(
        id="heatmap",
        title=f"{x.name.capitalize()} and {y.name}",
        reading="One cell per configuration. Hatched cells miss the objective.",
        alt=f"Heatmap over {x.title} and {y.title}: " + ends_text(material, "success_rate", x),
        dataset="configurations",
        selected=material.keys(x, y, split),
        variants=tuple(
            Variant(label=figure_label(figure), spec=_heat_spec(material, figure, x, y, field, split))
            for figure in ("success_rate", "committed_per_s", "commit_latency_p95_ms", "requests_per_committed_txn")
            if material.values("configurations", figure)
        ),
        columns=table_columns(["success_rate", "committed_per_s", "commit_latency_p95_ms"]),
        facet=field,
        has_gradient=True,
        height_px=max(120, 34 * len(y.labels)),
    )


def _heat_spec(material: Material, figure: str, x: Axis, y: Axis, field: str | None, split: Axis | None) -> Spec:
    x_name, y_name = (f"a{material.layout.axes.index(axis)}" for axis in (x, y))
    name, unit = figure_words(figure)
    is_share = unit == "%"
    look = {"labelAngle": 0, "labelLimit": 80}
    cell: Spec = {
        "x": {"field": x_name, "type": "ordinal", "sort": list(x.labels), "title": x.title, "axis": look},
        "y": {"field": y_name, "type": "ordinal", "sort": list(reversed(y.labels)), "title": y.title},
    }
    scale: Spec = {"scheme": "cividis"}
    if is_share:
        scale["domain"] = [0, 1]
    elif material.is_wide("configurations", figure):
        scale["type"] = "log"
    if figure not in ("success_rate", "committed_per_s"):
        scale["reverse"] = True  # bright is good
    amounts = ".0%" if is_share else "~s"
    gradient = {"title": figure_label(figure), "orient": "top", "format": amounts, "gradientLength": 160}
    tip = tooltip(
        (field or "", split.title if split else "", ""),
        (x_name, x.title, ""),
        (y_name, y.title, ""),
        (figure, name, number_format(figure)),
        ("success_rate", "success rate", ".1%"),
        ("seeds", "seeds", ",d"),
        ("misses", "misses", ""),
    )
    colour = quantity(figure, scale=scale, legend=gradient)
    text = f"format(100 * datum['{figure}'], '.0f')" if is_share else f"format(datum['{figure}'], '.2~s')"
    words = [{"filter": f"isValid(datum['{figure}'])"}, {"calculate": text, "as": "cell"}]
    dark = f"luminance(scale('color', datum['{figure}'])) < 0.35"
    around = {"condition": {"test": dark, "value": _DARK}, "value": _LIGHT}  # readable on its colour and on hatching
    within = {"condition": {"test": dark, "value": _LIGHT}, "value": _DARK}
    text_look: Spec = {"fontSize": 11, "tooltip": None}
    edge: Spec = {**text_look, "strokeWidth": 2.5, "strokeJoin": "round", "opacity": 0.75}
    layers = [
        layer("rect", {**cell, "color": colour, "tooltip": tip}, stroke="var(--paper)", strokeWidth=1),
        layer("rect", cell, [{"filter": "datum.missed"}], fill="url(#hatch)", tooltip=None, opacity=0.45),
        layer("text", {**cell, "text": {"field": "cell"}, "stroke": around}, words, **edge),
        layer("text", {**cell, "text": {"field": "cell"}, "fill": within}, words, **text_look),
    ]
    return split_into_panels({"layer": layers}, field or "", split)
