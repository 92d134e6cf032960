"""Two or more studies side by side: the same figures in one chart, and how far they differ.

Studies can be compared if they vary the same axes. They are compared seed by seed, because runs with one seed draw the
same arrivals. Ratios are geometric means over seeds, success is a difference; intervals are Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from endive.objectives.intervals import mean_estimate
from endive.objectives.student import CONFIDENCE
from endive.report.axes import Axis, Layout, make_axis
from endive.report.charts.chart import Chart, Omission, Spec, Variant, make_legend, quantity, rule_at, split_into_panels
from endive.report.charts.chart_rows import Points
from endive.report.charts.curves import curve_chart, curve_layers, latency_throughput
from endive.report.material import (
    FIGURES,
    Material,
    drawn_values,
    figure_columns,
    scale,
    success_label,
    with_ends,
    x_channel,
)
from endive.report.reading import Row
from endive.report.words import figure_words, join_words, number

STUDY: Final = "study"
_COMPARED: Final = ("success_rate", "committed_per_s", "commit_latency_p95_ms", "requests_per_committed_txn")
_SHORT: Final = {"commit_latency_p95_ms": "P95", "success_rate": "success", "committed_per_s": "commits/s"}
_PANELS_MAX: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What the page says about studies side by side."""

    paragraph: str
    lines: tuple[str, ...] = ()
    material: Material | None = None
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure of one configuration, in another study instead of the first."""

    value: float  # a ratio; a difference for the success rate
    low: float | None
    high: float | None
    seeds: int


def compare(materials: Sequence[Material]) -> Comparison | None:
    """Return a comparison with the first study; None if there is only one."""
    if len(materials) < 2:
        return None
    names = _names(materials)
    sets = [frozenset(axis.key for axis in material.layout.axes) for material in materials]
    if len(set(sets)) > 1 or not sets[0]:
        varied = [f"{name}: {', '.join(sorted(keys)) or 'none'}" for name, keys in zip(names, sets, strict=True)]
        text = (
            f"The studies vary different axes ({'; '.join(varied)}), so they are not drawn over each other; each has "
        )
        return Comparison(paragraph=f"{text}its section.")
    merged = _merge(materials, names)
    changes = _add_changes(merged, materials, names)
    shares = "Committed txns as a share of those that committed or aborted."
    rates = "The dotted line is what was offered." if merged.layout.is_load else "Commits per second of the window."
    drawn = [
        latency_throughput(merged),
        curve_chart(merged, "success-rate", "Success, side by side", ["success_rate"], shares),
        curve_chart(merged, "committed-per-s", "Throughput, side by side", ["committed_per_s"], rates),
        _change_chart(merged, names),
    ]
    paragraph, line = _words(merged, names, changes)
    return Comparison(
        paragraph=paragraph,
        lines=(line,) if line else (),
        material=merged,
        charts=tuple(chart for chart in drawn if isinstance(chart, Chart)),
    )


def change(figure: str, first: dict[int, Any], second: dict[int, Any]) -> Change | None:
    """Return how a figure changes from one set of runs to another, paired by seed; None if no seed has both."""
    pairs = [(first[seed], second[seed]) for seed in sorted(first.keys() & second.keys())]
    pairs = [(a, b) for a, b in pairs if a is not None and b is not None]
    is_difference = figure == "success_rate"
    if not is_difference:
        pairs = [(a, b) for a, b in pairs if a > 0 and b > 0]
    if not pairs:
        return None
    steps = [b - a if is_difference else math.log(b / a) for a, b in pairs]
    estimate = mean_estimate(steps, CONFIDENCE)
    assert estimate.value is not None
    back = (lambda value: value) if is_difference else math.exp
    low, high = (None if end is None else back(end) for end in (estimate.low, estimate.high))
    return Change(value=back(estimate.value), low=low, high=high, seeds=len(steps))


# ---- one material out of many ----------------------------------------------------------------------------


def _names(materials: Sequence[Material]) -> list[str]:
    titles = [material.study.title for material in materials]
    longer = [f"{material.study.title} ({material.study.folder.name})" for material in materials]
    numbered = [f"{title} ({number})" for number, title in enumerate(titles, 1)]
    return next((names for names in (titles, longer) if len(set(names)) == len(names)), numbered)


def _merge(materials: Sequence[Material], names: Sequence[str]) -> Material:
    """Return all points of all studies, with the study as the axis of colours."""
    layout = _merge_layouts(materials, names)
    labels: dict[str, list[str]] = {axis.key: [] for axis in layout.axes}
    positions: list[float | None] = []
    rows: list[Row] = []
    for material, name in zip(materials, names, strict=True):
        figures = {row["point"]: row for row in material.subject_rows()}
        for point in _raw_points(material):
            if point["point"] in figures:
                row = figures[point["point"]]
                judged = {"success_label": success_label(row), "missed": row["meets_objective"] is False}
                rows.append({**row, **judged, "point": len(positions)})
            for axis in layout.axes:
                labels[axis.key].append(name if axis.key == STUDY else axis.label(point[axis.key]))
            positions.append(None if layout.x is None else layout.x.number(point[layout.x.key]))
    merged = Material(
        study=replace(materials[0].study, name="comparison"),
        question=materials[0].question,
        layout=layout,
        points=Points(
            numbers=tuple(range(len(positions))),
            labels={key: tuple(values) for key, values in labels.items()},
            x=tuple(positions),
            layout=layout,
        ),
        legend=make_legend("s", "study", names, with_shapes=True),
        selection={axis.key: materials[0].selection.get(axis.key, axis.labels[0]) for axis in layout.axes},
    )
    columns = [column for figure in FIGURES for column in with_ends(figure)]
    merged.add("configurations", rows, ["seeds", "missed", "misses", "success_label", *columns])
    return merged


def _merge_layouts(materials: Sequence[Material], names: Sequence[str]) -> Layout:
    """Return the axes of the first study with the values of all, and the study."""
    first = materials[0].layout
    points = [row for material in materials for row in _raw_points(material)]
    axes = {axis.key: make_axis(axis.key, [row[axis.key] for row in points]) for axis in first.axes}
    study = Axis(
        key=STUDY,
        name="study",
        unit="",
        labels=tuple(names),
        numbers=None,
        label_of={repr(name): name for name in names},
    )
    x = axes.pop(first.x.key) if first.x else None
    old = first.series or first.panel
    panel = axes.pop(old.key) if old is not None and len(axes[old.key].labels) <= _PANELS_MAX else None
    placed = [axis for axis in (x, study, panel) if axis is not None]
    return Layout(axes=(*placed, *axes.values()), x=x, series=study, panel=panel, is_load=first.is_load)


def _raw_points(material: Material) -> list[Row]:
    keys = [axis.key for axis in material.layout.axes]
    return material.study.rows("configurations", columns=["point", "scope", *keys])


# ---- the difference --------------------------------------------------------------------------------------


def _add_changes(merged: Material, materials: Sequence[Material], names: Sequence[str]) -> list[Row]:
    """Return one row per configuration of the later studies that the first one has too."""
    keys = [axis.key for axis in materials[0].layout.axes]
    runs = [_runs(material, keys) for material in materials]
    place = 0
    rows: list[Row] = []
    for material, own, name in zip(materials, runs, names, strict=True):
        for point in _raw_points(material):
            here = tuple(repr(point[key]) for key in keys)
            if material is not materials[0] and here in runs[0]:
                row: Row = {"point": place, "name": name}
                for figure in _COMPARED:
                    made = change(figure, runs[0][here].get(figure, {}), own.get(here, {}).get(figure, {}))
                    if made is not None:
                        row[f"{figure}_change"], row["seeds"] = made.value, made.seeds
                        row[f"{figure}_change_ci95_low"], row[f"{figure}_change_ci95_high"] = made.low, made.high
                rows.append(row)
            place += 1
    columns = [column for figure in _COMPARED for column in with_ends(f"{figure}_change")]
    merged.add("changes", rows, ["name", "seeds", *columns])
    return rows


def _runs(material: Material, keys: Sequence[str]) -> dict[tuple[str, ...], dict[str, dict[int, Any]]]:
    """Configuration -> figure -> seed -> value."""
    runs: dict[tuple[str, ...], dict[str, dict[int, Any]]] = {}
    question = material.question
    table = {"all": "runs", "source": "sources", "operation": "operations"}[question.scope]
    for row in material.study.rows(table, columns=["seed", "status", question.scope, *keys, *_COMPARED]):
        if row.get("status", "ok") == "ok" and (question.is_of_all or row[question.scope] == question.name):
            here = runs.setdefault(tuple(repr(row[key]) for key in keys), {})
            for figure in _COMPARED:
                here.setdefault(figure, {})[row["seed"]] = row[figure]
    return runs


def _change_chart(merged: Material, names: Sequence[str]) -> Chart | Omission:
    title = f"How far from {names[0]}"
    x, panel = merged.layout.x, merged.layout.panel
    figures = [figure for figure in _COMPARED if merged.values("changes", f"{figure}_change")]
    if x is None or not figures:
        return Omission(title=title, why="the studies have no configuration in common.")
    legend = make_legend("name", "study", names[1:], with_shapes=True, fixed=names)
    variants = []
    for figure in sorted(figures, key=lambda name: name != "commit_latency_p95_ms"):
        label = _change_label(figure)
        layers = curve_layers(
            merged,
            "changes",
            legend,
            f"{figure}_change",
            x_channel(x),
            _change_channel(figure, label, drawn_values(merged, "changes", f"{figure}_change")),
            floor=-1.0 if figure == "success_rate" else 0.0,
            is_missed_marked=False,
        )
        layers.insert(0, rule_at(0.0 if figure == "success_rate" else 1.0, "var(--soft)"))
        variants.append(Variant(label=label, spec=split_into_panels({"layer": layers}, "f", panel)))
    changes = figure_columns([f"{figure}_change" for figure in figures], _change_label)
    return Chart(
        id="changes",
        title=title,
        reading=f"Each configuration against the same one of {names[0]}, seed by seed, because equal seeds draw the "
        "same arrivals. A band that crosses the dashed line is no difference these seeds can show.",
        alt=f"{title}, along {x.name}.",
        dataset="changes",
        selected=merged.keys(x, merged.layout.series, panel),
        variants=tuple(variants),
        columns=(("name", "study"), ("seeds", "seeds in common"), *changes),
        legend=legend,
        facet="f" if panel else None,
        height_px=280,
    )


def _change_channel(figure: str, label: str, values: Sequence[float]) -> Spec:
    if figure == "success_rate":
        return quantity(f"{figure}_change", label, scale={"zero": True}, axis={"format": "+.0%"})
    return quantity(f"{figure}_change", label, **scale([*values, 0.8, 1.25], is_log=True))


def _change_label(figure: str) -> str:
    figure = figure.removesuffix("_change")
    if figure == "success_rate":
        return "success rate, difference in points"
    return f"{' '.join(figure_words(figure)).removesuffix(' ms').removesuffix(' txns/s')}, as a multiple"


def _words(merged: Material, names: Sequence[str], changes: Sequence[Row]) -> tuple[str, str]:
    """Return a paragraph, and a line for the terminal: where the studies differ most in P95, and in success."""
    if not changes:
        text = f"The studies vary the same axes but have no configuration in common with {names[0]}."
        return text, ""
    sentences, line = [], ""
    for name in names[1:]:
        own = [row for row in changes if row["name"] == name]
        facts = []
        for figure in _SHORT:
            known = [row for row in own if row.get(f"{figure}_change") is not None]
            if known:
                facts.append(_range_words(merged, figure, known))
        if facts:
            sentences.append(
                f"{name} against {names[0]}, over {len(own)} configurations in common: {join_words(facts)}."
            )
            line = line or f"{name} against {names[0]}: {'; '.join(facts[:2])}"
    return " ".join(sentences), line


def _range_words(merged: Material, figure: str, rows: Sequence[Row]) -> str:
    low = min(rows, key=lambda row: float(row[f"{figure}_change"]))
    high = max(rows, key=lambda row: float(row[f"{figure}_change"]))
    places = [merged.points.words(row["point"], " \u00b7 ", but=STUDY) for row in (low, high)]
    ends = [f"{_change_text(figure, row)} ({place})" for row, place in zip((low, high), places, strict=True)]
    return f"{_SHORT[figure]} {ends[0]}" if low is high else f"{_SHORT[figure]} from {ends[0]} to {ends[1]}"


def _change_text(figure: str, row: Row) -> str:
    is_share = figure == "success_rate"
    value, *ends = (
        "" if row[column] is None else f"{100 * row[column]:+.1f}" if is_share else number(row[column])
        for column in with_ends(f"{figure}_change")
    )
    text = f"{value} points" if is_share else f"\u00d7 {value}"
    return f"{text} [{', '.join(ends)}]" if all(ends) else text
