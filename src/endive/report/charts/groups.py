"""Charts that look inside a run: its operation types, its sources, its conflicts.

Colour tells the groups apart, panels the series.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.report.charts.chart import Chart, Legend, Omission, Spec, Variant, faceted, marks
from endive.report.charts.curves import curve_layers
from endive.report.material import Material, drawn_values, figure_columns, with_ends, x_channel, y_channel
from endive.report.reading import Row
from endive.report.words import KIND_NAMES, figure_label, show

_FIGURES: Final = ("success_rate", "commit_latency_p95_ms", "committed_per_s", "requests_per_committed_txn")
_COUNTER_NAMES: Final = {
    "false_conflicts": "false conflicts",
    "real_conflicts": "real conflicts",
    "history_lists": "history lists read",
    "restarts": "restarts",
}


def by_scope(material: Material, scope: str, title: str) -> Chart | Omission:
    """Operation types or sources, each with its own success, latency and throughput."""
    noun = {"operation": "operation type", "source": "source"}[scope]
    rows = _name_rows(material, scope)
    names = list(dict.fromkeys(row["name"] for row in rows))
    if len(names) < 2:
        return Omission(title=title, why=f"every txn has the same {noun}.")
    if material.layout.x is None and len(rows) == len(names):
        return _bars(material, scope, title, noun, names)
    columns = [column for figure in _FIGURES for column in with_ends(figure)]
    dataset = f"by_{scope}"
    for row in rows:
        row["missed"] = row["meets_objective"] is False
    material.add(dataset, rows, ["name", "seeds", "missed", "misses", "offered_per_s", *columns])
    legend = Legend(field="name", title=noun, marks=marks(names, with_shapes=True, fixed=_fixed(material, scope)))
    figures = [figure for figure in _FIGURES if material.values(dataset, figure)]
    return _lines_chart(
        material,
        chart_id=f"by-{scope}",
        title=title,
        reading=f"The same runs, each {noun} by itself. A hollow mark misses what the objective asks of it.",
        alt=f"{title}. {_ends(material, dataset, figures[0], names)}",
        dataset=dataset,
        legend=legend,
        figures=figures,
    )


def _name_rows(material: Material, scope: str) -> list[Row]:
    """Configurations of each group, kinds by their names in words."""
    rows = material.study.rows("configurations", scope=scope)
    return [{**row, "name": KIND_NAMES.get(row["name"], row["name"])} for row in rows] if scope == "operation" else rows


def _fixed(material: Material, scope: str) -> tuple[str, ...]:
    """The order that gives each group its colour in every report."""
    return tuple(KIND_NAMES.values()) if scope == "operation" else tuple(material.study.facts["sources"])


def conflicts(material: Material) -> Chart | Omission:
    """What got in each other's way: every counter that moved, per committed txn."""
    title = f"Conflicts{material.whose}"
    rows = [
        {**row, "name": _COUNTER_NAMES.get(row["counter"], row["counter"].replace("_", " "))}
        for row in material.subject_rows("conflicts")
        if not _is_other(row["counter"]) and row["per_committed_txn"] is not None
    ]
    moved = {row["name"] for row in rows if row["per_committed_txn"]}
    rows = [row for row in rows if row["name"] in moved]
    if not rows or material.layout.x is None:
        why = "only one configuration was simulated; the table conflicts.md has them." if rows else "there were none."
        return Omission(title=title, why=why)
    material.add("conflicts", rows, ["name", "seeds", *with_ends("per_committed_txn")])
    names = list(dict.fromkeys(row["name"] for row in rows))
    return _lines_chart(
        material,
        chart_id="conflicts",
        title=f"Conflicts and other counters{material.whose}",
        reading="Counted over all txns that ended, divided by those that committed. A false conflict costs a new "
        "attempt; "
        "a real one is data that both wrote.",
        alt=f"Counters per committed txn. {_ends(material, 'conflicts', 'per_committed_txn', names)}",
        dataset="conflicts",
        legend=Legend(field="name", title="counter", marks=marks(names, with_shapes=True)),
        figures=["per_committed_txn"],
    )


def _is_other(counter: str) -> bool:
    """Counters with a chart of their own, and those that count what went well."""
    return counter.startswith("aborted_") or counter.endswith("_success")


def _lines_chart(
    material: Material,
    *,
    chart_id: str,
    title: str,
    reading: str,
    alt: str,
    dataset: str,
    legend: Legend,
    figures: Sequence[str],
) -> Chart:
    layout = material.layout
    x, series = layout.x, layout.series
    assert x is not None
    variants = []
    for figure in figures:
        is_log = (
            material.is_wide(dataset, figure) and figure != "success_rate" and min(material.values(dataset, figure)) > 0
        )
        values = [value for value in material.values(dataset, figure) if value > 0]
        layers: list[Spec] = curve_layers(
            legend,
            x_channel(x),
            y_channel(figure, drawn_values(material, dataset, figure), is_log=is_log),
            figure,
            has_band=bool(material.values(dataset, f"{figure}_ci95_low")),
            floor=min(values) / 2 if is_log else 0.0,
            is_line=x.is_numeric,
            x_title=x.title,
            is_missed_marked=dataset != "conflicts",
        )
        variants.append(Variant(label=figure_label(figure), spec=faceted({"layer": layers}, "s", series)))
    return Chart(
        id=chart_id,
        title=title,
        reading=reading,
        alt=alt,
        dataset=dataset,
        selected=material.keys(x, series),
        variants=tuple(variants),
        columns=(("name", legend.title), ("seeds", "seeds"), *figure_columns(figures)),
        legend=legend,
        facet="s" if series else None,
        height_px=280,
    )


def _bars(material: Material, scope: str, title: str, noun: str, names: Sequence[str]) -> Chart:
    """One configuration: a bar for each group."""
    dataset = f"by_{scope}"
    columns = [column for figure in _FIGURES for column in with_ends(figure)]
    material.add(dataset, _name_rows(material, scope), ["name", "seeds", *columns])
    figures = [figure for figure in _FIGURES if material.values(dataset, figure)]
    variants = []
    for figure in figures:
        spec: Spec = {
            "mark": {"type": "bar", "fill": "var(--c0)", "tooltip": True},
            "encoding": {
                "y": {"field": "name", "type": "nominal", "sort": list(names), "title": noun},
                "x": {**y_channel(figure)},
            },
        }
        variants.append(Variant(label=figure_label(figure), spec=spec))
    return Chart(
        id=f"by-{scope}",
        title=title,
        reading=f"The same run, each {noun} by itself.",
        alt=f"{title}: {_ends(material, dataset, figures[0], names)}",
        dataset=dataset,
        selected=(),
        variants=tuple(variants),
        columns=(("name", noun), ("seeds", "seeds"), *figure_columns(figures)),
        height_px=60 + 34 * len(names),
    )


def _ends(material: Material, dataset: str, figure: str, names: Sequence[str]) -> str:
    """From where to where each group goes, for the first series."""
    rows, who = material.first_series(dataset)
    rows = [row for row in rows if row[figure] is not None]
    told = []
    for name in names[:4]:
        own = [row for row in rows if row["name"] == name]
        if own:
            first, last = own[0], own[-1]
            there = f", {show(figure, last[figure])} at {last['xl']}" if last is not first else ""
            told.append(f"{name}: {show(figure, first[figure])} at {first['xl']}{there}")
    return f"{who}{'; '.join(told)}."
