"""Charts that look inside a run: its operation types, its sources, its conflicts.

Colour tells the groups apart, panels the series.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.report.charts.chart import Chart, Legend, Omission, Spec, Variant, layer, make_legend, split_into_panels
from endive.report.charts.curves import curve_layers
from endive.report.material import Material, figure_channel, figure_columns, with_ends, x_channel, y_channel
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
    rows = [
        {**row, "missed": row["meets_objective"] is False} for row in material.study.rows("configurations", scope=scope)
    ]
    fixed = tuple(material.study.facts["sources"])  # the order that gives each group its colour in every report
    if scope == "operation":
        rows = [{**row, "name": KIND_NAMES.get(row["name"], row["name"])} for row in rows]
        fixed = tuple(KIND_NAMES.values())
    names = list(dict.fromkeys(row["name"] for row in rows))
    if len(names) < 2:
        return Omission(title=title, why=f"every txn has the same {noun}.")
    dataset = f"by_{scope}"
    columns = [column for figure in _FIGURES for column in with_ends(figure)]
    if material.layout.x is None and len(rows) == len(names):
        material.add(dataset, rows, ["name", "seeds", *columns])
        return _bars(material, scope, title, noun, names)
    material.add(dataset, rows, ["name", "seeds", "missed", "misses", "offered_per_s", *columns])
    return _lines_chart(
        material,
        dataset,
        title,
        reading=f"The same runs, each {noun} by itself. A hollow mark misses what the objective asks of it.",
        about=f"{title}.",
        legend=make_legend("name", noun, names, with_shapes=True, fixed=fixed),
        figures=[figure for figure in _FIGURES if material.values(dataset, figure)],
    )


def conflicts(material: Material) -> Chart | Omission:
    """Return what got in each other's way: every counter that moved, per committed txn."""
    title = f"Conflicts{material.whose}"
    rows = [
        {**row, "name": _COUNTER_NAMES.get(row["counter"], row["counter"].replace("_", " "))}
        for row in material.subject_rows("conflicts")
        if not row["counter"].startswith("aborted_")  # they have a chart of their own
        and not row["counter"].endswith("_success")
        and row["per_committed_txn"] is not None
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
        "conflicts",
        f"Conflicts and other counters{material.whose}",
        reading="Counted over all txns that ended, divided by those that committed. A false conflict costs a new "
        "attempt; a real one is data that both wrote.",
        about="Counters per committed txn.",
        legend=make_legend("name", "counter", names, with_shapes=True),
        figures=["per_committed_txn"],
    )


def _lines_chart(
    material: Material,
    dataset: str,
    title: str,
    *,
    reading: str,
    about: str,
    legend: Legend,
    figures: Sequence[str],
) -> Chart:
    x, series = material.layout.x, material.layout.series
    assert x is not None
    variants = []
    for figure in figures:
        layers = curve_layers(
            material,
            dataset,
            legend,
            figure,
            x_channel(x),
            figure_channel(material, dataset, figure),
            floor=0.0 if figure == "success_rate" else None,
            is_missed_marked=dataset != "conflicts",
        )
        variants.append(Variant(label=figure_label(figure), spec=split_into_panels({"layer": layers}, "s", series)))
    return Chart(
        id=dataset.replace("_", "-"),
        title=title,
        reading=reading,
        alt=f"{about} {_ends(material, dataset, figures[0], [mark.label for mark in legend.marks])}",
        dataset=dataset,
        selected=material.keys(x, series),
        variants=tuple(variants),
        columns=(("name", legend.title), ("seeds", "seeds"), *figure_columns(figures)),
        legend=legend,
        facet="s" if series else None,
        height_px=280,
    )


def _bars(material: Material, scope: str, title: str, noun: str, names: Sequence[str]) -> Chart:
    """Return one configuration: a bar for each group."""
    dataset = f"by_{scope}"
    figures = [figure for figure in _FIGURES if material.values(dataset, figure)]
    up: Spec = {"field": "name", "type": "nominal", "sort": list(names), "title": noun}
    bars = {
        figure: layer("bar", {"y": up, "x": y_channel(figure)}, fill="var(--c0)", tooltip=True) for figure in figures
    }
    return Chart(
        id=f"by-{scope}",
        title=title,
        reading=f"The same run, each {noun} by itself.",
        alt=f"{title}: {_ends(material, dataset, figures[0], names)}",
        dataset=dataset,
        selected=(),
        variants=tuple(Variant(label=figure_label(figure), spec=spec) for figure, spec in bars.items()),
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
