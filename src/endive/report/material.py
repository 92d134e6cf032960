"""What all charts of one study start from: its axes, its points, the data sets made so far, what is selected first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from endive.config.capabilities import BUILT_IN
from endive.report.axes import Axis, Layout, choose_layout
from endive.report.charts.chart import Legend, Spec, make_legend, quantity
from endive.report.charts.chart_rows import Points, list_points
from endive.report.question import Question, find_question
from endive.report.reading import Row, Study
from endive.report.words import (
    PERCENT_FIGURES,
    S_PER_H,
    STORE_NAMES,
    clock_unit,
    figure_label,
    figure_words,
    is_per_hour,
    log_ticks,
    round_ticks,
    show,
)

LATENCIES: Final = tuple(f"commit_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean"))
FRESHNESS: Final = tuple(f"freshness_{name}_ms" for name in ("p95", "p50", "p99", "max"))
FIGURES: Final = (
    "success_rate",
    "committed_per_s",
    "offered_per_s",
    *LATENCIES,
    *FRESHNESS,
    "retries_mean",
    "requests_per_committed_txn",
)
CONFIDENCE: Final = "interval"
BANDS: Final = {
    CONFIDENCE: "a band is the 95 % interval over seeds",
    "stddev": "a band is one standard deviation over seeds to either side",
}
_LOG_SPAN_MIN: Final = 20.0
_SERIES_TOLD: Final = 4  # in the text beside a chart


@dataclass(slots=True, kw_only=True)
class Material:
    """One study, ready to be drawn."""

    study: Study
    question: Question
    layout: Layout
    points: Points
    legend: Legend
    selection: dict[str, str]  # axis key -> label shown first; of every axis
    bands: str = CONFIDENCE
    datasets: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

    @property
    def has_series(self) -> bool:
        """Return whether colours tell anything apart."""
        return self.layout.series is not None

    def subject_rows(self, table: str = "configurations") -> list[Row]:
        """Return rows of a table about the txns that the study asks about."""
        question = self.question
        rows = self.study.rows(table, scope=question.scope)
        return [row for row in rows if row["name"] == question.name]

    @property
    def whose(self) -> str:
        """Whose txns charts are about, as part of a title; nothing if they are about all."""
        return "" if self.question.is_of_all else f" of {self.question.who}"

    def whose_tip(self, *axes: Axis | None) -> tuple[tuple[str, str, str], ...]:
        """Series, and x if it is asked for, as the first entries of a tooltip."""
        series = self.layout.series
        return ("s", series.title if series else "", ""), *(("xl", axis.title if axis else "", "") for axis in axes)

    def keys(self, *axes: Axis | None) -> tuple[str, ...]:
        """Return keys of the axes that are not among these: one value of each has to be selected."""
        placed = {axis.key for axis in axes if axis is not None}
        return tuple(axis.key for axis in self.layout.axes if axis.key not in placed)

    def add(self, name: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
        """Make a data set that charts can name; rows of points without figures are dropped."""
        index = self.points.index()
        kept = [row for row in rows if row["point"] in index]
        places = {"p": [index[row["point"]] for row in kept]}  # of the rows' points in the list of points
        self.datasets[name] = places | {column: [row.get(column) for row in kept] for column in columns}

    def rows(self, dataset: str, selected: Sequence[str]) -> list[Row]:
        """Return the rows a chart draws first, with the labels of their points, in the order of x."""
        labels, columns = self.points.labels, self.datasets[dataset]
        points = {
            place: self.points.row(place)
            for place in range(len(self.points.numbers))
            if all(labels[key][place] == self.selection[key] for key in selected)
        }
        rows = [
            {**points[place], **{name: values[number] for name, values in columns.items() if name != "p"}}
            for number, place in enumerate(columns["p"])
            if place in points
        ]
        return sorted(rows, key=lambda row: 0.0 if row["x"] is None else row["x"])

    def values(self, dataset: str, column: str) -> list[float]:
        """Return all values of a column, of every point."""
        return [value for value in self.datasets[dataset].get(column, []) if value is not None]

    def is_wide(self, dataset: str, column: str) -> bool:
        """Whether a linear axis would crush the lower values of a column; a logarithmic one has no place for zero."""
        values = self.values(dataset, column)
        return bool(values) and min(values) > 0 and max(values) / min(values) >= _LOG_SPAN_MIN

    def low_end(self, dataset: str, column: str) -> float:
        """How far down a logarithmic axis goes for the end of an interval: to half of the least value above zero."""
        return min((value for value in self.values(dataset, column) if value > 0), default=0.0) / 2

    def first_series(self, dataset: str) -> tuple[list[Row], str]:
        """The rows of a data set along x, of the first series only; and whose they are, to begin a sentence with."""
        series = self.layout.series
        rows = self.rows(dataset, self.keys(self.layout.x, series))
        if series is None:
            return rows, ""
        return [row for row in rows if row["s"] == series.labels[0]], f"For {series.labels[0]}: "


def prepare(study: Study, bands: str = CONFIDENCE) -> Material:
    """Return axes, points and the data set of the txns that are asked about, ``configurations``."""
    layout = choose_layout(study)
    points = list_points(study, layout)
    question = find_question(study)
    material = Material(
        study=study,
        question=question,
        layout=layout,
        points=points,
        legend=_series_legend(layout),
        selection={},
        bands=bands,
    )
    rows = [row for row in material.subject_rows() if row["success_rate"] is not None or row["offered_per_s"]]
    extra = [metric for metric in asked_metrics(study) if metric not in FIGURES]
    _add_metrics(material, rows, extra)
    material.selection = _first_selection(layout, points, rows)
    figures = (*FIGURES, *extra)
    drawn = []
    for row in rows:
        judged = {"success_label": success_label(row), "missed": row["meets_objective"] is False}
        drawn.append({**row, **judged, **({} if bands == CONFIDENCE else _deviations(row, figures))})
    columns = dict.fromkeys(column for figure in figures for column in with_ends(figure))
    material.add("configurations", drawn, ["seeds", "missed", "misses", "success_label", *columns])
    return material


def _deviations(row: Row, figures: Sequence[str]) -> Row:
    """Return bands of one standard deviation over seeds, as the experiment plan draws them."""
    bands: Row = {}
    for figure in figures:
        mean, deviation = row.get(figure), row.get(f"{figure}_stddev")
        ends = (None, None)
        if mean is not None and deviation is not None:
            most = 1.0 if figure in PERCENT_FIGURES else math.inf
            ends = (max(0.0, mean - deviation), min(most, mean + deviation))
        bands |= dict(zip(with_ends(figure)[1:], ends, strict=True))
    return bands


def with_ends(figure: str) -> tuple[str, str, str]:
    """Return a figure's columns: mean and both ends of its interval."""
    return figure, f"{figure}_ci95_low", f"{figure}_ci95_high"


def figure_columns(figures: Iterable[str], label: Callable[[str], str] = figure_label) -> list[tuple[str, str]]:
    """Return columns of a table beside a chart: each figure and both ends of its interval, with headings."""
    return [pair for name in figures for pair in zip(with_ends(name), (label(name), "95 % from", "to"), strict=True)]


def asked_metrics(study: Study) -> tuple[str, ...]:
    """Return figures that the study file asks for."""
    return tuple((study.facts.get("report") or {}).get("metrics") or ())


def ends_text(material: Material, figure: str, x: Axis) -> str:
    """From where to where a figure of the configurations goes along x, series by series, in words."""
    rows = material.rows("configurations", material.keys(x, material.layout.series))
    parts = []
    for mark in material.legend.marks:
        own = [row for row in rows if row["s"] == mark.label and row.get(figure) is not None]
        own.sort(key=lambda row: row["x"] if row["x"] is not None else 0.0)
        ends = [f"{show(figure, row[figure])} at {row['xl']}" for row in (*own[:1], *own[1:][-1:])]
        if len(ends) == 1:
            ends = [show(figure, own[0][figure])]
        if own:
            parts.append(f"{f'{mark.label}: ' if material.has_series else ''}{', '.join(ends)}")
    more = len(parts) - _SERIES_TOLD
    text = "; ".join(parts[:_SERIES_TOLD])
    return f"{text}; and {more} more." if more > 0 else f"{text}."


def x_channel(axis: Axis | None, *, ordinal: bool = False) -> Spec:
    """Return the channel along the page: to scale for numbers, a logarithmic one where they grow by factors."""
    if axis is None:
        return {"field": "xl", "type": "ordinal", "title": None, "axis": {"labels": False, "ticks": False}}
    if ordinal or not axis.is_numeric:
        angle = 0 if max(len(label) for label in axis.labels) <= 9 else -40
        return {
            "field": "xl",
            "type": "ordinal",
            "sort": list(axis.labels),
            "title": axis.title,
            "axis": {"labelAngle": angle, "labelLimit": 140},
        }
    channel: Spec = {
        "field": "x",
        "type": "quantitative",
        "title": axis.title,
        "scale": {"type": "log", "padding": 14, "nice": False} if axis.is_log else {"zero": False, "padding": 14},
        "axis": {"format": ",~r", "grid": False},
    }
    if axis.numbers is not None and len(axis.numbers) <= 12:
        channel["axis"] |= {"values": list(axis.numbers), "format": ",.3~r"}
    return channel


def scale(values: Sequence[float], *, is_log: bool) -> Spec:
    """Scale and axis for values that are no shares: from zero, or by factors with few ticks."""
    if not is_log:
        return {"scale": {"zero": True, "nice": True}, "axis": {"format": ",~r", "tickCount": 6}}
    known = [value for value in values if value > 0]
    ticks = log_ticks(min(known), max(known))
    return {"scale": {"type": "log", "nice": False, "padding": 10}, "axis": {"format": ",.3~r", "values": ticks}}


def figure_channel(material: Material, dataset: str, figure: str, more: Sequence[float] = ()) -> Spec:
    """The channel up the page for everything a chart of a figure shows: means, ends of intervals, and ``more``."""
    return y_channel(figure, [*drawn_values(material, dataset, figure), *more], material.is_wide(dataset, figure))


def drawn_values(material: Material, dataset: str, figure: str) -> list[float]:
    """Means, and ends of intervals as far as a logarithmic axis has them."""
    least = material.low_end(dataset, figure)
    ends = [value for end in with_ends(figure)[1:] for value in material.values(dataset, end)]
    return [*material.values(dataset, figure), *(max(value, least) for value in ends)]


def y_channel(figure: str, values: Sequence[float] = (), is_log: bool = False) -> Spec:
    """Return the channel up the page, for a figure with these values."""
    name, unit = figure_words(figure)
    if unit == "%":
        return quantity(figure, name, scale={"domain": [0, 1]}, axis={"format": ".0%", "tickCount": 5})
    if unit == "txns/s" and values and is_per_hour(max(values)):
        return quantity(figure, f"{name} (per hour)", **_relabelled(values, is_log, S_PER_H))
    if figure in FRESHNESS and values:  # ages are in seconds, minutes or hours, as people say them
        unit_us, unit = clock_unit(1000.0 * max(values))
        return quantity(figure, f"{name} ({unit})", **_relabelled(values, is_log, 1000.0 / unit_us))
    return quantity(figure, figure_label(figure), **scale(values, is_log=is_log))


def _relabelled(values: Sequence[float], is_log: bool, factor: float) -> Spec:
    """Return the same for figures that people count in another unit: data stay, the labels are so many times that."""
    spec = scale([factor * value for value in values], is_log=is_log)
    ticks = spec["axis"].get("values") or round_ticks(factor * max(values))
    expression = f"format({factor!r} * datum.value, ',.3~r')"
    spec["axis"] |= {"values": [tick / factor for tick in ticks], "labelExpr": expression}
    return spec


def number_format(figure: str) -> str:
    """Return how a tooltip writes a figure."""
    return ".1%" if figure_words(figure)[1] == "%" else ",.4~r"


# ---- leaves --------------------------------------------------------------------------------------------


def _series_legend(layout: Layout) -> Legend:
    if layout.series is None:
        return make_legend("s", "", ["all"], with_shapes=True)
    fixed = [STORE_NAMES.get(name, name) for name in BUILT_IN] if layout.series.key == "storage.provider" else []
    return make_legend("s", layout.series.title, layout.series.labels, with_shapes=True, fixed=fixed)


def success_label(row: Row) -> str | None:
    """Return what stands beside a mark that misses the objective: the share that committed."""
    if row["success_rate"] is None or row["meets_objective"] is not False:
        return None
    return f"{100 * row['success_rate']:.0f} %"


def _first_selection(layout: Layout, points: Points, rows: Sequence[Row]) -> dict[str, str]:
    """For every axis the value shown first: where the grid is fullest, and at the first load that is too much."""
    x = layout.x
    keys = [axis.key for axis in layout.axes if axis is not x]
    combinations = Counter(tuple(points.labels[key][place] for key in keys) for place in range(len(points.numbers)))
    fullest = max(combinations, key=lambda labels: combinations[labels], default=())
    selection = dict(zip(keys, fullest, strict=False))
    if x is not None:
        place_of = points.index()
        missed = {points.labels[x.key][place_of[row["point"]]] for row in rows if row["meets_objective"] is False}
        selection[x.key] = next((label for label in x.labels if label in missed), x.labels[-1])
    return selection


def _add_metrics(material: Material, rows: Sequence[Row], metrics: Sequence[str]) -> None:
    """Columns for figures that only the long table has."""
    by_point: dict[Any, Row] = {row["point"]: row for row in rows}
    for figure in (
        material.study.figure_rows(metrics, material.question.scope, material.question.name) if metrics else ()
    ):
        name, row = figure["figure"], by_point.get(figure["point"], {})
        row[name] = figure["mean"]
        row |= {f"{name}_{part}": figure[part] for part in ("ci95_low", "ci95_high", "stddev")}
