"""Charts of a figure along the load: success, throughput, latency, latency against throughput.

A hollow mark is a configuration that misses the objective; a band is the 95 % interval over seeds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from endive.report.charts.chart import (
    Chart,
    Legend,
    Omission,
    Spec,
    Variant,
    colour_of,
    dash_of,
    faceted,
    shape_of,
    tooltip,
)
from endive.report.material import (
    BANDS,
    FRESHNESS,
    LATENCIES,
    Material,
    drawn_values,
    ends_text,
    figure_columns,
    number_format,
    x_channel,
    y_channel,
)
from endive.report.words import figure_label, figure_words

_HOLLOW: Final = "A hollow mark misses the objective"


def curve_chart(
    material: Material, chart_id: str, title: str, figures: Sequence[str], reading: str
) -> Chart | Omission:
    """One figure, or several to choose from, along x."""
    layout = material.layout
    if layout.x is None:
        return Omission(title=title, why="only one configuration was simulated, so there is nothing to draw it along.")
    figures = [figure for figure in figures if material.values("configurations", figure)]
    if not figures:
        return Omission(title=title, why="no configuration has a value to draw.")
    selected = material.keys(layout.x, layout.series, layout.panel)
    return Chart(
        id=chart_id,
        title=title,
        reading=f"{reading} {_HOLLOW}{_band_words(material, figures[0])}".strip(),
        alt=f"{title} along {layout.x.name}. "
        + ends_text(material, "configurations", figures[0], material.keys(layout.x, layout.series)),
        dataset="configurations",
        selected=selected,
        variants=tuple(_curve_variant(material, figure) for figure in figures),
        columns=table_columns(figures),
        legend=material.legend if material.has_series else None,
        facet="f" if layout.panel else None,
    )


def latency_throughput(material: Material) -> Chart | Omission:
    """What a reader of a benchmark looks for first: the price in latency of each commit per second."""
    title = "Latency against throughput"
    layout = material.layout
    if layout.x is None:
        return Omission(title=title, why="only one configuration was simulated.")
    if not layout.x.is_numeric:
        return Omission(title=title, why=f"{layout.x.key} is not a number, so its points form no curve.")
    figures = [figure for figure in LATENCIES if material.values("configurations", figure)]
    if not figures:
        return Omission(title=title, why="no txn of any window committed.")
    order = ("commit_latency_p95_ms", "commit_latency_p50_ms", "commit_latency_p99_ms", "commit_latency_mean_ms")
    chosen = [figure for figure in order if figure in figures]
    return Chart(
        id="latency-throughput",
        title=title,
        reading=f"{_along_words(material)} Percentages are success rates of those that miss the objective. {_HOLLOW}"
        f"{_band_words(material, chosen[0])}",
        alt=f"{figure_words(chosen[0])[0]} against commits per second. "
        + ends_text(material, "configurations", chosen[0], material.keys(layout.x, layout.series)),
        dataset="configurations",
        selected=material.keys(layout.x, layout.series, layout.panel),
        variants=tuple(_loop_variant(material, figure) for figure in chosen),
        columns=table_columns(["committed_per_s", *chosen]),
        legend=material.legend if material.has_series else None,
        facet="f" if layout.panel else None,
        height_px=360,
    )


# ---- specifications ------------------------------------------------------------------------------------


def _curve_variant(material: Material, figure: str) -> Variant:
    layout = material.layout
    x = layout.x
    assert x is not None
    has_offered = figure == "committed_per_s" and layout.is_load
    values = drawn_values(material, "configurations", figure)
    if has_offered:
        values += material.values("configurations", "offered_per_s")
    late_max = material.question.freshness_max(figure)
    if late_max is not None:
        values.append(late_max)
    up = y_channel(figure, values, is_log=material.is_wide("configurations", figure))
    layers = curve_layers(
        material.legend,
        x_channel(x),
        up,
        figure,
        has_band=bool(material.values("configurations", f"{figure}_ci95_low")),
        floor=_floor(material, figure),
        is_line=x.is_numeric,
        x_title=x.title,
    )
    level = material.question.success_min
    if figure == "success_rate" and level is not None:
        layers.insert(0, _rule(level))
    if late_max is not None:
        layers.insert(0, _rule(late_max))
    if has_offered:
        layers.insert(0, _offered(material, up))
    label = figure_words(figure)[0] if figure in FRESHNESS else figure_label(figure)  # its axis has its own unit
    return Variant(label=label, spec=faceted({"layer": layers}, "f", layout.panel))


def curve_layers(
    legend: Legend,
    x: Spec,
    y: Spec,
    figure: str,
    *,
    has_band: bool,
    floor: float,
    is_line: bool,
    x_title: str,
    is_missed_marked: bool = True,
) -> list[Spec]:
    """Band, line, marks, and larger invisible marks that are easy to point at.

    A band has no order of its own (Vega-Lite would split it by that), so rows have to come in the order of x.
    """
    low, high = f"{figure}_ci95_low", f"{figure}_ci95_high"
    colour = colour_of(legend)
    order = {"order": {"field": "x", "type": "quantitative"}} if is_line else {}
    dodge = {} if is_line else _dodge(legend)
    layers: list[Spec] = []
    if has_band:
        ends = {"y": {**y, "field": "low"}, "y2": {"field": high}}
        clipped = {"calculate": f"max(datum['{low}'], {floor!r})", "as": "low"}
        if is_line:
            mark: Spec = {"type": "area", "opacity": 0.16, "tooltip": None}
            look: Spec = {"fill": colour, "order": {"value": None}}
        else:
            mark, look = {"type": "rule", "strokeWidth": 1.5}, {"stroke": colour, **dodge}
        valid = {"filter": f"isValid(datum['{low}'])"}
        layers.append({"transform": [valid, clipped], "mark": mark, "encoding": {"x": x, **ends, **look}})
    if is_line:
        layers.append(
            {
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "stroke": colour, "strokeDash": dash_of(legend), **order},
            }
        )
    fill: Spec = dict(colour)
    if is_missed_marked:
        fill["condition"] = {"test": "datum.missed", "value": "var(--paper)"}
    layers.append(
        {
            "mark": {"type": "point", "size": 55, "strokeWidth": 2, "opacity": 1},
            "encoding": {"x": x, "y": y, "stroke": colour, "fill": fill, "shape": shape_of(legend), **dodge},
        }
    )
    layers.append(
        {
            "mark": {"type": "point", "size": 420, "opacity": 0, "filled": True},
            "encoding": {"x": x, "y": y, "tooltip": point_tooltip(legend, figure, x_title, has_band), **dodge},
        }
    )
    return layers


def point_tooltip(legend: Legend, figure: str, x_title: str, has_band: bool) -> list[Spec]:
    """Who it is, where it is, what it measures."""
    name = figure_words(figure)[0]
    form = number_format(figure)
    ends = ((f"{figure}_ci95_low", "95 % from", form), (f"{figure}_ci95_high", "to", form)) if has_band else ()
    who = ((legend.field, legend.title, ""),) if legend.title else ()
    rest = (("success_rate", "success rate", ".1%"), ("offered_per_s", "offered (txns/s)", ",.4~r"))
    return tooltip(
        *who,
        ("xl", x_title, ""),
        (figure, name, form),
        *ends,
        *(entry for entry in rest if entry[0] != figure),
        ("seeds", "seeds", ",d"),
        ("misses", "misses", ""),
    )


def _loop_variant(material: Material, figure: str) -> Variant:
    layout = material.layout
    x = layout.x
    assert x is not None
    legend = material.legend
    is_log = material.is_wide("configurations", figure)
    up = y_channel(figure, drawn_values(material, "configurations", figure), is_log=is_log)
    commits = material.values("configurations", "committed_per_s")
    along = y_channel("committed_per_s", commits, is_log=material.is_wide("configurations", "committed_per_s"))
    along["axis"]["grid"] = False
    layers = curve_layers(
        legend,
        along,
        up,
        figure,
        has_band=bool(material.values("configurations", f"{figure}_ci95_low")),
        floor=_floor(material, figure),
        is_line=True,
        x_title=x.title,
    )
    labels = json.dumps([mark.label for mark in legend.marks])
    shift = {"expr": f"indexof({labels}, datum.s) % 2 ? 15 : -10"}
    last = {"joinaggregate": [{"op": "max", "field": "x", "as": "x_last"}], "groupby": ["s", "f"]}
    labelled = [last, {"filter": "datum.x === datum.x_last"}] if layout.panel else []  # panels have room for one each
    layers.append(
        {
            "transform": [*labelled, {"filter": "isValid(datum.success_label)"}],
            "mark": {"type": "text", "align": "left", "dx": 5, "dy": shift, "fontSize": 11, "tooltip": None},
            "encoding": {"x": along, "y": up, "text": {"field": "success_label"}, "fill": colour_of(legend)},
        }
    )
    return Variant(label=figure_label(figure), spec=faceted({"layer": layers}, "f", layout.panel))


def _dodge(legend: Legend) -> Spec:
    """Beside each other instead of on top, where x is a name."""
    if len(legend.marks) < 2:
        return {}
    return {"xOffset": {"field": legend.field, "type": "nominal", "sort": [mark.label for mark in legend.marks]}}


def _rule(level: float) -> Spec:
    return {
        "data": {"values": [{"level": level}]},
        "mark": {"type": "rule", "stroke": "var(--bad)", "strokeDash": [3, 3], "tooltip": None},
        "encoding": {"y": {"field": "level", "type": "quantitative"}},
    }


def _offered(material: Material, up: Spec) -> Spec:
    """Where commits would be if every txn committed, on the axis of the commits."""
    x = material.layout.x
    return {
        "mark": {"type": "line", "stroke": "var(--soft)", "strokeDash": [2, 3], "strokeWidth": 1.2, "tooltip": None},
        "encoding": {
            "x": x_channel(x),
            "y": {**up, "field": "offered_per_s"},
            "detail": {"field": "s", "type": "nominal"},
        },
    }


def _floor(material: Material, figure: str) -> float:
    """Where the lower end of an interval is cut, so that a logarithmic axis can show it."""
    values = [value for value in material.values("configurations", figure) if value > 0]
    return min(values) / 2 if values and material.is_wide("configurations", figure) else 0.0


def _along_words(material: Material) -> str:
    x = material.layout.x
    assert x is not None
    if not material.layout.is_load:
        return f"Each curve follows its configurations along {x.name}, from {x.labels[0]} to {x.labels[-1]}."
    return (
        "Each curve follows its configurations from the lowest load to the highest: flat while load is taken, steep "
        "where it is not, bent back where more load means fewer commits."
    )


def _band_words(material: Material, figure: str) -> str:
    has_band = bool(material.values("configurations", f"{figure}_ci95_low"))
    return (
        f"; {BANDS[material.bands]}."
        if has_band
        else "; there is no interval, because every configuration has a single seed."
    )


def table_columns(figures: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return ("seeds", "seeds"), *figure_columns(dict.fromkeys([*figures, "success_rate"])), ("misses", "misses")
