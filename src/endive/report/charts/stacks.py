"""Stacked charts: where commit time goes, which requests a commit takes, what they cost, why txns abort.

Prices come from ``endive.report.price``.
"""

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
    colour_of,
    faceted,
    marks,
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
    legend = Legend(
        field="phase_name", title="phase", marks=marks(order, with_shapes=False, fixed=tuple(PHASE_NAMES.values()))
    )
    tip = (("phase_name", "phase", ""), ("mean_ms", "mean (ms)", ",.4~r"), ("share", "share of commit time", ".1%"))
    return _stack_chart(
        material,
        chart_id="phases",
        title=title,
        reading="Mean time that a committed txn spends in each phase of its commit, over all its attempts: lost "
        "attempts "
        "and the pauses between them are part of it. The txn's own work is not.",
        alt=f"Commit time by phase. {_largest(material, 'phases', 'phase_name', 'mean_ms', 'ms')}",
        dataset="phases",
        legend=legend,
        measures=(("mean_ms", "mean commit time (ms)", "zero"), ("mean_ms", "share of mean commit time", "normalize")),
        tip=tip,
        columns=(
            ("phase_name", "phase"),
            ("mean_ms", "mean (ms)"),
            ("mean_ms_ci95_low", "95 % from"),
            ("mean_ms_ci95_high", "to"),
            ("share", "share of commit time"),
        ),
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
    kinds = _kinds(rows)
    summed = _sum(rows, kinds, usd_per_request)
    material.add("requests", summed, ["kind", "per_committed_txn", "usd_per_million"])
    order = [kind for kind in kinds.values() if any(row["kind"] == kind for row in summed)]
    legend = Legend(
        field="kind",
        title="request",
        marks=marks(list(dict.fromkeys(order)), with_shapes=False, fixed=request_colours(rows)),
    )
    measures = [("per_committed_txn", "requests per committed txn", "zero")]
    tip = [("kind", "request", ""), ("per_committed_txn", "per committed txn", ",.4~r")]
    columns = [("kind", "request"), ("per_committed_txn", "requests per committed txn")]
    if usd_per_request:
        measures.append(("usd_per_million", "USD per million committed txns", "zero"))
        tip.append(("usd_per_million", "USD per million committed txns", ",.4~r"))
        columns.append(("usd_per_million", "USD per million committed txns"))
    return _stack_chart(
        material,
        chart_id="requests",
        title=title,
        reading="Requests of all txns that ended, aborted ones too, divided by the txns that committed: what one "
        "commit "
        f"costs the store and its bill. {price_note}",
        alt=f"Requests by kind. {_largest(material, 'requests', 'kind', 'per_committed_txn', 'per committed txn')}",
        dataset="requests",
        legend=legend,
        measures=tuple(measures),
        tip=tuple(tip),
        columns=tuple(columns),
    )


def aborts(material: Material) -> Chart | Omission:
    """The share of txns that end without a commit, by reason."""
    title = f"Why txns{material.whose} abort"
    rows = [
        {**row, "reason": REASON_NAMES[row["counter"]], "share": row["per_txn"]}
        for row in material.subject_rows("conflicts")
        if row["counter"] in REASON_NAMES and row["per_txn"] is not None
    ]
    if not any(row["share"] for row in rows):
        return Omission(title=title, why="no txn of any window aborted.")
    rows = [
        {**row, "share_ci95_low": row["per_txn_ci95_low"], "share_ci95_high": row["per_txn_ci95_high"]} for row in rows
    ]
    order = [name for name in REASON_NAMES.values() if any(row["reason"] == name and row["share"] for row in rows)]
    kept = [row for row in rows if row["reason"] in order]
    material.add("aborts", kept, ["reason", "share", "share_ci95_low", "share_ci95_high"])
    return _stack_chart(
        material,
        chart_id="aborts",
        title=title,
        reading="Of the txns that ended, the share that gave up, and why.",
        alt=f"Aborted txns by reason. {_largest(material, 'aborts', 'reason', 'share', '')}",
        dataset="aborts",
        legend=Legend(
            field="reason", title="reason", marks=marks(order, with_shapes=False, fixed=tuple(REASON_NAMES.values()))
        ),
        measures=(("share", "share of txns that ended", "percent"),),
        tip=(("reason", "reason", ""), ("share", "share of txns", ".2%")),
        columns=(
            ("reason", "reason"),
            ("share", "share of txns that ended"),
            ("share_ci95_low", "95 % from"),
            ("share_ci95_high", "to"),
        ),
    )


# ---- leaves --------------------------------------------------------------------------------------------


def _stack_chart(
    material: Material,
    *,
    chart_id: str,
    title: str,
    reading: str,
    alt: str,
    dataset: str,
    legend: Legend,
    measures: Sequence[tuple[str, str, str]],
    tip: Sequence[tuple[str, str, str]],
    columns: Sequence[tuple[str, str]],
) -> Chart:
    layout = material.layout
    series = layout.series
    who = ((("s", series.title, ""),) if series else ()) + ((("xl", layout.x.title, ""),) if layout.x else ())
    order = [mark.label for mark in legend.marks]
    is_apart = measures[0][2] == "zero" and _are_apart(material, dataset, measures[0][0])
    variants = []
    for field, label, stack in measures:
        y: Spec = {
            "field": field,
            "type": "quantitative",
            "title": label,
            "stack": "normalize" if stack == "normalize" else "zero",
            "axis": {"format": ".2~%" if stack in ("normalize", "percent") else ",~r"},
        }
        spec: Spec = {
            "transform": [{"calculate": f"indexof({json.dumps(order)}, datum['{legend.field}'])", "as": "place"}],
            "mark": {"type": "bar", "stroke": "var(--paper)", "strokeWidth": 1},
            "encoding": {
                "x": x_channel(layout.x, ordinal=True),
                "y": y,
                "color": colour_of(legend),
                "order": {"field": "place", "type": "quantitative"},
                "tooltip": tooltip(*who, *tip),
            },
        }
        split = faceted(spec, "s", series)
        if stack == "zero" and is_apart:
            split["resolve"] = {"scale": {"y": "independent"}, "axis": {"y": "independent"}}
        variants.append(Variant(label=label, spec=split))
    return Chart(
        id=chart_id,
        title=title,
        reading=f"{reading} {_OWN_SCALES}" if is_apart else reading,
        alt=alt,
        dataset=dataset,
        selected=material.keys(layout.x, layout.series),
        variants=tuple(variants),
        columns=tuple(columns),
        legend=legend,
        facet="s" if series else None,
        height_px=260,
    )


def _are_apart(material: Material, dataset: str, field: str) -> bool:
    """Whether stacks of one panel would be too low to be seen on the scale of another."""
    series = material.layout.series
    if series is None:
        return False
    columns = material.datasets[dataset].columns
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
    """The name at each colour: usual kinds at theirs, the more frequent first, rarer ones where one is free."""
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


def _kinds(rows: Sequence[Row]) -> dict[tuple[str, str], str]:
    """(object, operation) -> its name, the rarest ones under one name if colours run out."""
    named = request_colours(rows)
    known = dict.fromkeys((row["object"], row["operation"]) for row in rows)
    return {key: name if (name := _kind_name(*key)) in named else OTHER for key in known}


def _kind_name(obj: str, operation: str) -> str:
    return f"{obj.replace('_', ' ')}: {operation.replace('_', ' ')}"


def _sum(
    rows: Sequence[Row], kinds: Mapping[tuple[str, str], str], usd: Mapping[int, Mapping[str, float]]
) -> list[Row]:
    """One row per point and name; the price is per million committed txns, null where a kind has none."""
    sums: dict[tuple[Any, str], Row] = {}
    for row in rows:
        kind = kinds[row["object"], row["operation"]]
        at = sums.setdefault(
            (row["point"], kind),
            {"point": row["point"], "kind": kind, "per_committed_txn": 0.0, "usd_per_million": None},
        )
        at["per_committed_txn"] += row["per_committed_txn"]
        price = usd.get(row["point"], {}).get(f"{row['object']}.{row['operation']}")
        if price is not None:
            at["usd_per_million"] = (at["usd_per_million"] or 0.0) + 1e6 * price * row["per_committed_txn"]
    return list(sums.values())


def _largest(material: Material, dataset: str, category: str, value: str, unit: str) -> str:
    """The largest part at both ends of x, of the first series."""
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
