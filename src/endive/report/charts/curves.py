"""Charts of a figure along the load: success, throughput, latency, latency against throughput.

A hollow mark is a configuration that misses the objective; a band is the 95 % interval over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from endive.report.axes import Axis
from endive.report.charts.chart import (
    GUIDE,
    Chart,
    Legend,
    Omission,
    Spec,
    Variant,
    layer,
    look_of,
    quantity,
    rule_at,
    split_into_panels,
    tooltip,
)
from endive.report.material import (
    BANDS,
    FRESHNESS,
    LATENCIES,
    Material,
    ends_text,
    figure_channel,
    figure_columns,
    number_format,
    x_channel,
    y_channel,
)
from endive.report.words import figure_label, figure_words

CONFIGURATIONS: Final = "configurations"
HOLLOW: Final = "A hollow mark misses the objective"


def curve_chart(
    material: Material, chart_id: str, title: str, figures: Sequence[str], reading: str
) -> Chart | Omission:
    """Return one figure, or several to choose from, along x."""
    x = material.layout.x
    if x is None:
        return Omission(title=title, why="only one configuration was simulated, so there is nothing to draw it along.")
    figures = [figure for figure in figures if material.values(CONFIGURATIONS, figure)]
    if not figures:
        return Omission(title=title, why="no configuration has a value to draw.")
    return Chart(
        id=chart_id,
        title=title,
        reading=f"{reading} {HOLLOW}{_band_words(material, figures[0])}".strip(),
        alt=f"{title} along {x.name}. {ends_text(material, figures[0], x)}",
        dataset=CONFIGURATIONS,
        selected=material.keys(x, material.layout.series, material.layout.panel),
        variants=tuple(_curve_variant(material, figure, x) for figure in figures),
        columns=table_columns(figures),
        legend=material.legend if material.has_series else None,
        facet="f" if material.layout.panel else None,
    )


def latency_throughput(material: Material) -> Chart | Omission:
    """Return what a reader of a benchmark looks for first: the price in latency of each commit per second."""
    title = "Latency against throughput"
    x = material.layout.x
    if x is None:
        return Omission(title=title, why="only one configuration was simulated.")
    if not x.is_numeric:
        return Omission(title=title, why=f"{x.key} is not a number, so its points form no curve.")
    order = ("commit_latency_p95_ms", *(figure for figure in LATENCIES if figure != "commit_latency_p95_ms"))
    figures = [figure for figure in order if material.values(CONFIGURATIONS, figure)]
    if not figures:
        return Omission(title=title, why="no txn of any window committed.")
    along = f"Each curve follows its configurations along {x.name}, from {x.labels[0]} to {x.labels[-1]}."
    if material.layout.is_load:
        along = (
            "Each curve follows its configurations from the lowest load to the highest: flat while load is taken, "
            "steep where it is not, bent back where more load means fewer commits."
        )
    return Chart(
        id="latency-throughput",
        title=title,
        reading=f"{along} Percentages are success rates of those that miss the objective. {HOLLOW}"
        f"{_band_words(material, figures[0])}",
        alt=f"{figure_words(figures[0])[0]} against commits per second. {ends_text(material, figures[0], x)}",
        dataset=CONFIGURATIONS,
        selected=material.keys(x, material.layout.series, material.layout.panel),
        variants=tuple(_loop_variant(material, figure) for figure in figures),
        columns=table_columns(["committed_per_s", *figures]),
        legend=material.legend if material.has_series else None,
        facet="f" if material.layout.panel else None,
        height_px=360,
    )


# ---- specifications ------------------------------------------------------------------------------------


def _curve_variant(material: Material, figure: str, x: Axis) -> Variant:
    late_max = material.question.freshness_max(figure)
    has_offered = figure == "committed_per_s" and material.layout.is_load
    more = material.values(CONFIGURATIONS, "offered_per_s") if has_offered else []
    more += [] if late_max is None else [late_max]
    up = figure_channel(material, CONFIGURATIONS, figure, more)
    level = material.question.success_min if figure == "success_rate" else late_max
    layers = curve_layers(material, CONFIGURATIONS, material.legend, figure, x_channel(x), up)
    if level is not None:
        layers.insert(0, rule_at(level, "var(--bad)"))
    if has_offered:  # where commits would be if every txn committed, on the axis of the commits
        offered: Spec = {"x": x_channel(x), "y": {**up, "field": "offered_per_s"}}
        offered["detail"] = {"field": "s", "type": "nominal"}
        layers.insert(0, layer("line", offered, **GUIDE))
    label = figure_words(figure)[0] if figure in FRESHNESS else figure_label(figure)  # its axis has its own unit
    return Variant(label=label, spec=split_into_panels({"layer": layers}, "f", material.layout.panel))


def curve_layers(
    material: Material,
    dataset: str,
    legend: Legend,
    figure: str,
    x: Spec,
    y: Spec,
    *,
    floor: float | None = None,
    is_missed_marked: bool = True,
) -> list[Spec]:
    """Band, line, marks, and larger invisible marks that are easy to point at.

    ``floor`` is where the lower end of an interval is cut; unless it is given, so that a logarithmic axis can show it.
    A band has no order of its own (Vega-Lite would split it by that), so rows have to come in the order of x.
    """
    axis = material.layout.x
    assert axis is not None
    low, high = f"{figure}_ci95_low", f"{figure}_ci95_high"
    colour = look_of(legend)
    dodge = {} if axis.is_numeric else _dodge(legend)
    layers: list[Spec] = []
    has_band = bool(material.values(dataset, low))
    if has_band:
        cut = material.low_end(dataset, figure) if material.is_wide(dataset, figure) else 0.0
        clipped = {"calculate": f"max(datum['{low}'], {cut if floor is None else floor!r})", "as": "low"}
        transform = [{"filter": f"isValid(datum['{low}'])"}, clipped]
        ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": high}}
        if axis.is_numeric:
            area = {**ends, "fill": colour, "order": {"value": None}}
            layers.append(layer("area", area, transform, opacity=0.16, tooltip=None))
        else:
            layers.append(layer("rule", {**ends, "stroke": colour, **dodge}, transform, strokeWidth=1.5))
    if axis.is_numeric:
        line = {"x": x, "y": y, "stroke": colour, "strokeDash": look_of(legend, "dash"), "order": quantity("x")}
        layers.append(layer("line", line, strokeWidth=2))
    fill: Spec = dict(colour)
    if is_missed_marked:
        fill["condition"] = {"test": "datum.missed", "value": "var(--paper)"}
    marks = {"x": x, "y": y, "stroke": colour, "fill": fill, "shape": look_of(legend, "shape"), **dodge}
    layers.append(layer("point", marks, size=55, strokeWidth=2, opacity=1))
    tip = _point_tooltip(legend, figure, axis.title, has_band)
    layers.append(layer("point", {"x": x, "y": y, "tooltip": tip, **dodge}, size=420, opacity=0, filled=True))
    return layers


def _point_tooltip(legend: Legend, figure: str, x_title: str, has_band: bool) -> list[Spec]:
    """Who it is, where it is, what it measures."""
    form = number_format(figure)
    ends = ((f"{figure}_ci95_low", "95 % from", form), (f"{figure}_ci95_high", "to", form)) if has_band else ()
    rest = (("success_rate", "success rate", ".1%"), ("offered_per_s", "offered (txns/s)", ",.4~r"))
    return tooltip(
        (legend.field, legend.title, ""),
        ("xl", x_title, ""),
        (figure, figure_words(figure)[0], form),
        *ends,
        *(entry for entry in rest if entry[0] != figure),
        ("seeds", "seeds", ",d"),
        ("misses", "misses", ""),
    )


def _loop_variant(material: Material, figure: str) -> Variant:
    panel = material.layout.panel
    up = figure_channel(material, CONFIGURATIONS, figure)
    commits = material.values(CONFIGURATIONS, "committed_per_s")
    along = y_channel("committed_per_s", commits, is_log=material.is_wide(CONFIGURATIONS, "committed_per_s"))
    along["axis"]["grid"] = False
    layers = curve_layers(material, CONFIGURATIONS, material.legend, figure, along, up)
    labels = json.dumps([mark.label for mark in material.legend.marks])
    shift = {"expr": f"indexof({labels}, datum.s) % 2 ? 15 : -10"}
    last: Spec = {"joinaggregate": [{"op": "max", "field": "x", "as": "x_last"}], "groupby": ["s", "f"]}
    labelled = [last, {"filter": "datum.x === datum.x_last"}] if panel else []  # panels have room for one each
    text = {"x": along, "y": up, "text": {"field": "success_label"}, "fill": look_of(material.legend)}
    transform = [*labelled, {"filter": "isValid(datum.success_label)"}]
    layers.append(layer("text", text, transform, align="left", dx=5, dy=shift, fontSize=11, tooltip=None))
    return Variant(label=figure_label(figure), spec=split_into_panels({"layer": layers}, "f", panel))


def _dodge(legend: Legend) -> Spec:
    """Beside each other instead of on top, where x is a name."""
    if len(legend.marks) < 2:
        return {}
    return {"xOffset": {"field": legend.field, "type": "nominal", "sort": [mark.label for mark in legend.marks]}}


def _band_words(material: Material, figure: str) -> str:
    if material.values(CONFIGURATIONS, f"{figure}_ci95_low"):
        return f"; {BANDS[material.bands]}."
    return "; there is no interval, because every configuration has a single seed."


def table_columns(figures: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return columns of the table beside a chart of configurations."""
    return ("seeds", "seeds"), *figure_columns(dict.fromkeys([*figures, "success_rate"])), ("misses", "misses")
