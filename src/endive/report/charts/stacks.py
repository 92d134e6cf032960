"""Stacked charts: where commit time goes, which requests a commit takes, what they cost, why txns abort."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.report.charts.chart import (
    COLOURS,
    Chart,
    Legend,
    Omission,
    Spec,
    Variant,
    layer,
    look_of,
    make_legend,
    quantity,
    split_into_panels,
    tooltip,
)
from endive.report.material import Material, x_channel
from endive.report.reading import Row
from endive.report.words import PHASE_NAMES, REASON_NAMES, number, percent

OTHER: Final = "other requests"
# One colour for each usual kind in every report. Two of a line share a colour: few commits need both.
_USUAL: Final = (
    ("manifest_list.read",),
    ("manifest_list.write", "manifest_list.append"),
    ("manifest.read",),
    ("manifest.write", "manifest_list.head"),
    ("metadata.read", "log.head"),
    ("metadata.write",),
    ("catalog.read",),
    ("catalog.cas", "log.append"),
)
_APART: Final = 10.0
_OWN_SCALES: Final = "Each panel has a scale of its own."


def phases(material: Material) -> Chart | Omission:
    """Mean commit latency of committed txns, split by phase."""
    title = f"Where commit time{material.whose} goes"
    rows = [
        {**row, "phase_name": PHASE_NAMES[row["phase"]]}
        for row in material.subject_rows("phases")
        if row["phase"] in PHASE_NAMES and row["mean_ms"]
    ]
    if not rows:
        return Omission(title=title, why="no txn of any window committed.")
    order = [name for name in PHASE_NAMES.values() if any(row["phase_name"] == name for row in rows)]
    material.add("phases", rows, ["phase_name", "mean_ms", "mean_ms_ci95_low", "mean_ms_ci95_high", "share"])
    return _stack_chart(
        material,
        "phases",
        title,
        reading="Mean time that a committed txn spends in each phase of its commit, over all its attempts: lost "
        "attempts and the pauses between them are part of it. The txn's own work is not.",
        about="Commit time by phase.",
        unit="ms",
        legend=make_legend("phase_name", "phase", order, with_shapes=False, fixed=tuple(PHASE_NAMES.values())),
        measures=[("mean_ms", "mean commit time (ms)", "zero"), ("mean_ms", "share of mean commit time", "normalize")],
        tip=[("mean_ms", "mean (ms)", ",.4~r"), ("share", "share of commit time", ".1%")],
        columns=[
            ("mean_ms", "mean (ms)"),
            ("mean_ms_ci95_low", "95 % from"),
            ("mean_ms_ci95_high", "to"),
            ("share", "share of commit time"),
        ],
    )


def requests(
    material: Material, usd_per_request: Mapping[int, Mapping[str, float]], price_note: str
) -> Chart | Omission:
    """Requests per committed txn by object and operation; a variant with their price where every kind has one.

    ``usd_per_request`` is point -> operation -> price; ``price_note`` says where it comes from, or why there is none.
    """
    title = f"Requests per committed txn{material.whose}"
    rows = [row for row in material.subject_rows("requests") if row["per_committed_txn"]]
    if not rows:
        return Omission(title=title, why="no txn of any window committed.")
    names = request_colours(rows)
    summed = _sum(rows, names, usd_per_request)
    material.add("requests", summed, ["kind", "per_committed_txn", "usd_per_million"])
    usd = ("usd_per_million", "USD per million committed txns")
    priced = [usd] if usd_per_request else []
    return _stack_chart(
        material,
        "requests",
        title,
        reading="Requests of all txns that ended, aborted ones too, divided by the txns that committed: what one "
        f"commit costs the store and its bill. {price_note}",
        about="Requests by kind.",
        unit="per committed txn",
        legend=make_legend(
            "kind", "request", list(dict.fromkeys(row["kind"] for row in summed)), with_shapes=False, fixed=names
        ),
        measures=[("per_committed_txn", "requests per committed txn", "zero"), *((*pair, "zero") for pair in priced)],
        tip=[("per_committed_txn", "per committed txn", ",.4~r"), *((*pair, ",.4~r") for pair in priced)],
        columns=[("per_committed_txn", "requests per committed txn"), *priced],
    )


def aborts(material: Material) -> Chart | Omission:
    """Return the share of txns that end without a commit, by reason."""
    title = f"Why txns{material.whose} abort"
    rows = [
        {"point": row["point"], "reason": REASON_NAMES[row["counter"]]}
        | {f"share{end}": row[f"per_txn{end}"] for end in ("", "_ci95_low", "_ci95_high")}
        for row in material.subject_rows("conflicts")
        if row["counter"] in REASON_NAMES and row["per_txn"] is not None
    ]
    happened = {row["reason"] for row in rows if row["share"]}
    if not happened:
        return Omission(title=title, why="no txn of any window aborted.")
    order = [name for name in REASON_NAMES.values() if name in happened]
    kept = [row for row in rows if row["reason"] in happened]
    material.add("aborts", kept, ["reason", "share", "share_ci95_low", "share_ci95_high"])
    return _stack_chart(
        material,
        "aborts",
        title,
        reading="Of the txns that ended, the share that gave up, and why.",
        about="Aborted txns by reason.",
        unit="",
        legend=make_legend("reason", "reason", order, with_shapes=False, fixed=tuple(REASON_NAMES.values())),
        measures=[("share", "share of txns that ended", "percent")],
        tip=[("share", "share of txns", ".2%")],
        columns=[("share", "share of txns that ended"), ("share_ci95_low", "95 % from"), ("share_ci95_high", "to")],
    )


# ---- leaves --------------------------------------------------------------------------------------------


def _stack_chart(
    material: Material,
    dataset: str,
    title: str,
    *,
    reading: str,
    about: str,
    unit: str,
    legend: Legend,
    measures: Sequence[tuple[str, str, str]],
    tip: Sequence[tuple[str, str, str]],
    columns: Sequence[tuple[str, str]],
) -> Chart:
    """Bars of the entries of a legend; a measure is a field, its label, and how it is stacked."""
    x, series = material.layout.x, material.layout.series
    order = json.dumps([mark.label for mark in legend.marks])
    is_apart = measures[0][2] == "zero" and _are_apart(material, dataset, measures[0][0])
    variants = []
    for field, label, stack in measures:
        form = ".2~%" if stack in ("normalize", "percent") else ",~r"
        encoding = {
            "x": x_channel(x, ordinal=True),
            "y": quantity(field, label, stack="normalize" if stack == "normalize" else "zero", axis={"format": form}),
            "color": look_of(legend),
            "order": quantity("place"),
            "tooltip": tooltip(*material.whose_tip(x), (legend.field, legend.title, ""), *tip),
        }
        placed: Spec = {"calculate": f"indexof({order}, datum['{legend.field}'])", "as": "place"}
        split = split_into_panels(layer("bar", encoding, [placed], stroke="var(--paper)", strokeWidth=1), "s", series)
        if stack == "zero" and is_apart:
            split["resolve"] = {"scale": {"y": "independent"}, "axis": {"y": "independent"}}
        variants.append(Variant(label=label, spec=split))
    return Chart(
        id=dataset,
        title=title,
        reading=f"{reading} {_OWN_SCALES}" if is_apart else reading,
        alt=f"{about} {_largest(material, dataset, legend.field, measures[0][0], unit)}",
        dataset=dataset,
        selected=material.keys(x, series),
        variants=tuple(variants),
        columns=((legend.field, legend.title), *columns),
        legend=legend,
        facet="s" if series else None,
        height_px=260,
    )


def _are_apart(material: Material, dataset: str, field: str) -> bool:
    """Return whether stacks of one panel would be too low to be seen on the scale of another."""
    series = material.layout.series
    if series is None:
        return False
    columns = material.datasets[dataset]
    heights: dict[int, float] = {}
    for place, value in zip(columns["p"], columns[field], strict=True):
        heights[place] = heights.get(place, 0.0) + float(value or 0.0)
    tops: dict[str, float] = {}
    for place, height in heights.items():
        label = material.points.labels[series.key][place]
        tops[label] = max(tops.get(label, 0.0), height)
    known = [top for top in tops.values() if top > 0]
    return len(known) > 1 and max(known) >= _APART * min(known)


def request_colours(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the name at each colour: usual kinds at theirs, the more frequent first, rarer ones where one is free."""
    totals: dict[tuple[str, str], float] = {}
    for row in rows:
        key = (row["object"], row["operation"])
        totals[key] = totals.get(key, 0.0) + float(row["per_committed_txn"])
    ordered = sorted(totals, key=lambda key: -totals[key])
    places = {key: place for key in ordered for place, usual in enumerate(_USUAL) if ".".join(key) in usual}
    colours: dict[int, tuple[str, str]] = {}
    for key, place in places.items():
        colours.setdefault(place, key)
    left = [key for key in ordered if key not in colours.values()]
    free = [place for place in range(COLOURS) if place not in colours]
    colours.update(zip(free if len(left) <= len(free) else free[:-1], left, strict=False))
    names = [_kind_name(*colours[place]) if place in colours else f"{OTHER} {place}" for place in range(COLOURS)]
    if len(left) > len(free):
        names[free[-1]] = OTHER
    return tuple(names)


def _kind_name(obj: str, operation: str) -> str:
    return f"{obj.replace('_', ' ')}: {operation.replace('_', ' ')}"


def _sum(rows: Sequence[Row], names: Sequence[str], usd: Mapping[int, Mapping[str, float]]) -> list[Row]:
    """One row per point and name, the rarest under one name; the price is per million committed txns, or null."""
    sums: dict[tuple[Any, str], Row] = {}
    for row in rows:
        kind = _kind_name(row["object"], row["operation"])
        kind = kind if kind in names else OTHER
        begin: Row = {"point": row["point"], "kind": kind, "per_committed_txn": 0.0, "usd_per_million": None}
        at = sums.setdefault((row["point"], kind), begin)
        at["per_committed_txn"] += row["per_committed_txn"]
        price = usd.get(row["point"], {}).get(f"{row['object']}.{row['operation']}")
        if price is not None:
            at["usd_per_million"] = (at["usd_per_million"] or 0.0) + 1e6 * price * row["per_committed_txn"]
    return list(sums.values())


def _largest(material: Material, dataset: str, category: str, value: str, unit: str) -> str:
    """Return the largest part at both ends of x, of the first series."""
    layout = material.layout
    rows, who = material.first_series(dataset)
    if not rows:
        return ""
    labels = [label for label in (layout.x.labels if layout.x else ("all",)) if any(row["xl"] == label for row in rows)]
    told = []
    for label in dict.fromkeys((labels[0], labels[-1])):
        most = max((row for row in rows if row["xl"] == label), key=lambda row: row[value] or 0.0)
        amount = f"{number(most[value])} {unit}" if unit else percent(most[value])
        told.append(f"{f'at {label} ' if layout.x else ''}the largest part is {most[category]}, {amount}")
    return f"{who}{'; '.join(told)}."
