"""Charts of what happens within a configuration: its commits over time, its attempts, its convoy.

They need single txns, so a sweep with ``--detail runs`` has none of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from endive.report.charts.chart import (
    GUIDE,
    Chart,
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
from endive.report.material import Material, with_ends
from endive.report.reading import Row
from endive.report.words import number

_NO_TXNS: Final = "the sweep kept no single txns (--detail runs)."
TIMELINE_ROWS_MAX: Final = 36_000  # bins that travel to the page: about 1.5 MB
_S: Final = 1e-3  # s per ms
ENDED: Final = "share of txns that ended"


def timeline(material: Material) -> Chart | Omission:
    """Commits per second of simulated time."""
    title = f"Commits{material.whose} over simulated time"
    if not material.study.has("timeline"):
        return Omission(title=title, why=_NO_TXNS)
    rows, coarser = _bins(material)
    if not any(row["committed_per_s"] for row in rows):
        return Omission(title=title, why="nothing committed." if rows else "no configuration has a timeline.")
    if len(rows) > TIMELINE_ROWS_MAX:
        why = f"{len(material.points.numbers):,} configurations have too many bins for one page; see timeline.csv."
        return Omission(title=title, why=why)
    columns = (*with_ends("committed_per_s"), "aborted_per_s", "commit_latency_mean_ms")
    material.add("timeline", rows, ["time_s", "end_s", "in_window", *columns])
    measures = (
        ("committed_per_s", "commits (txns/s)"),
        ("aborted_per_s", "aborts (txns/s)"),
        ("commit_latency_mean_ms", "mean commit latency of txns submitted then (ms)"),
    )
    selected = material.keys(material.layout.series)
    counted = [row for row in material.rows("timeline", selected) if row["in_window"]]
    coarse = f" {coarser} bins of the analysis are one here." if coarser > 1 else ""
    return Chart(
        id="timeline",
        title=title,
        reading="The mean over seeds of each bin of time. Grey is warm-up and cool-down, which no other figure counts. "
        f"A level line is a steady window; a falling one is not.{coarse}",
        alt=f"Commits per second over simulated time. {_describe_series(material, counted, _describe_commits)}",
        dataset="timeline",
        selected=selected,
        variants=tuple(
            Variant(label=label, spec=_timeline_spec(material, field, label))
            for field, label in measures
            if any(material.values("timeline", field))
        ),
        columns=(("time_s", "from (s)"), ("end_s", "to (s)"), *measures),
        legend=material.legend if material.has_series else None,
        height_px=260,
    )


def attempts(material: Material) -> Chart | Omission:
    """Return how many attempts txns needed."""
    title = f"Attempts per txn{material.whose}"
    if not material.study.has("attempts"):
        return Omission(title=title, why=_NO_TXNS)
    rows = _attempt_rows(material)
    if not rows:
        return Omission(title=title, why="no txn of any window ended.")
    material.add("attempts", rows, ["bin", "outcome", "txns", "share", "low"])
    bins = list(dict.fromkeys(row["bin"] for row in sorted(rows, key=lambda row: int(row["low"]))))
    outcomes = [name for name in ("committed", "aborted") if any(row["outcome"] == name for row in rows)]
    legend = make_legend("outcome", "outcome", outcomes, with_shapes=False)
    series = material.layout.series
    selected = material.keys(series)
    drawn = material.rows("attempts", selected)
    tip = (("outcome", "outcome", ""), ("share", "share", ".2%"), ("txns", "txns, all seeds", ",d"))
    encoding = {
        "x": {"field": "bin", "type": "ordinal", "sort": bins, "title": "attempts", "axis": {"labelAngle": 0}},
        "y": quantity("share", ENDED, axis={"format": ".2~%"}),
        "color": look_of(legend),
        "tooltip": tooltip(*material.whose_tip(), ("bin", "attempts", ""), *tip),
    }
    spec = layer("bar", encoding, stroke="var(--paper)", strokeWidth=1)
    return Chart(
        id="attempts",
        title=title,
        reading="All seeds together. An attempt is lost when a rival commits between the read it builds on and its own "
        "commit; a txn that has lost as many as its policy allows aborts.",
        alt=f"Histogram of attempts. {_describe_series(material, drawn, _describe_attempts)}",
        dataset="attempts",
        selected=selected,
        variants=(Variant(label=ENDED, spec=split_into_panels(spec, "s", series)),),
        columns=(("bin", "attempts"), ("outcome", "outcome"), ("txns", "txns, all seeds"), ("share", "share")),
        legend=legend,
        facet="s" if series else None,
        height_px=220,
    )


def convoy(material: Material) -> Chart | Omission:
    """Return what catching up costs a txn that has to read history."""
    title = "The convoy: what catching up costs"
    if not material.study.has("convoy"):
        return Omission(title=title, why=_NO_TXNS)
    rows = material.subject_rows("convoy")
    if not rows:
        return Omission(title=title, why="no txn read history.")
    measures = (
        ("history_lists_mean", "manifest lists read per txn"),
        ("history_mean_ms", "time spent reading history (ms)"),
        ("commit_latency_mean_ms", "mean commit latency (ms)"),
        ("success_rate", "success rate"),
    )
    names = ("n_behind_low", "n_behind_high", "n_behind_mean", "txns", "attempts_mean")
    material.add("convoy", rows, [*names, *(name for name, _ in measures)])
    selected = material.keys(material.layout.x, material.layout.series)
    drawn = material.rows("convoy", selected)
    return Chart(
        id="convoy",
        title=title,
        reading="Txns that read history, by the number of snapshots that rivals had committed since they started "
        "(n_behind) at the first attempt. While they read, more rivals commit; the further behind, the more there is "
        "to read. Dotted: one list per snapshot. All loads and seeds together; larger marks are more txns.",
        alt=f"Manifest lists read against n_behind. {_describe_series(material, drawn, _describe_convoy)}",
        dataset="convoy",
        selected=selected,
        variants=tuple(
            Variant(label=label, spec=_convoy_spec(material, field, label))
            for field, label in measures
            if any(material.values("convoy", field))
        ),
        columns=(
            ("n_behind_low", "n_behind from"),
            ("n_behind_high", "to"),
            ("n_behind_mean", "n_behind, mean"),
            ("txns", "txns, all seeds"),
            *measures,
        ),
        legend=material.legend if material.has_series else None,
        height_px=300,
    )


# ---- specifications ------------------------------------------------------------------------------------


def _timeline_spec(material: Material, field: str, label: str) -> Spec:
    along = quantity("time_s", "simulated time (s)", axis={"grid": False, "format": ",d", "tickCount": 10})
    up = quantity(field, label, axis={"format": ",~r"})
    colour = look_of(material.legend)
    outside: list[Spec] = [{"filter": "!datum.in_window"}, {"aggregate": [], "groupby": ["time_s", "end_s"]}]
    layers = [layer("rect", {"x": along, "x2": {"field": "end_s"}}, outside, fill="var(--shade)", tooltip=None)]
    _, low, high = with_ends("committed_per_s")
    if field == "committed_per_s" and material.values("timeline", low):
        band = {"x": along, "y": {**up, "field": low}, "y2": {"field": high}, "fill": colour}
        layers.append(layer("area", band, opacity=0.12, interpolate="step-after", tooltip=None))
    line = {"x": along, "y": up, "stroke": colour, "strokeDash": look_of(material.legend, "dash")}
    layers.append(layer("line", line, interpolate="step-after", strokeWidth=1.8))
    tip = (("time_s", "from (s)", ","), ("end_s", "to (s)", ","), (field, label, ",.4~r"))
    hits = {"x": along, "y": up, "tooltip": tooltip(*material.whose_tip(), *tip)}
    layers.append(layer("point", hits, size=260, opacity=0, filled=True))
    return {"layer": layers}


def _convoy_spec(material: Material, field: str, label: str) -> Spec:
    is_share = field == "success_rate"
    furthest, top = max(material.values("convoy", "n_behind_mean")), max(material.values("convoy", field))
    along = quantity(
        "n_behind_mean",
        "n_behind at the first attempt",
        scale={"type": "symlog" if furthest > 20 else "linear", "zero": True},
        axis={"grid": False, "format": ",~r", "values": _ticks(furthest)},
    )
    if is_share:
        up = quantity(field, label, scale={"domain": [0, 1]}, axis={"format": ".0%"})
    elif field == "history_lists_mean" and top > 20:
        up = quantity(field, label, scale={"type": "symlog"}, axis={"format": ",~r", "values": _ticks(top)})
    else:
        up = quantity(field, label, axis={"format": ",~r"})
    tip = tooltip(
        *material.whose_tip(material.layout.x),
        ("n_behind_low", "n_behind from", ",d"),
        ("n_behind_high", "to", ",d"),
        (field, label, ".1%" if is_share else ",.4~r"),
        ("txns", "txns, all seeds", ",d"),
        ("attempts_mean", "attempts", ",.3~r"),
        ("success_rate", "success rate", ".1%"),
    )
    looks = {"color": look_of(material.legend), "shape": look_of(material.legend, "shape")}
    size = quantity("txns", scale={"type": "sqrt", "range": [25, 320]}, legend=None)
    dots = layer("point", {"x": along, "y": up, **looks, "size": size, "tooltip": tip}, filled=True, opacity=0.75)
    if field != "history_lists_mean":
        return {"layer": [dots]}
    most = min(furthest, top)
    steps = {"values": [{"n": most * step / 40} for step in range(41)]}
    guide = layer("line", {"x": {**along, "field": "n"}, "y": {**up, "field": "n"}}, **GUIDE)
    return {"layer": [{"data": steps, **guide}, dots]}


def _ticks(most: float) -> list[int]:
    """0 and powers of ten, with 2 and 5 between them while they are few."""
    steps = (1, 3) if most > 300 else (1, 2, 5)
    top = math.ceil(math.log10(max(most, 1))) + 1
    return [0, *(step * 10**power for power in range(top) for step in steps if step * 10**power <= most * 1.5)]


# ---- rows ----------------------------------------------------------------------------------------------


def _bins(material: Material) -> tuple[list[Row], int]:
    """Bins of time of every configuration; if they are too many, that many neighbours are joined to one."""
    rows = material.subject_rows("timeline")
    for row in rows:
        row["time_s"], row["end_s"] = row["start_ms"] * _S, row["end_ms"] * _S
    coarser = next((k for k in (1, 2, 3, 4, 6, 10) if len(rows) / k <= TIMELINE_ROWS_MAX), 1)
    return (rows, 1) if coarser == 1 else (_joined_bins(rows, coarser), coarser)


def _joined_bins(rows: list[Row], count: int) -> list[Row]:
    """Means of neighbouring bins; their intervals are not those of the mean, so they are left out."""
    bins: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        bins.setdefault((row["point"], row["bin"] // count), []).append(row)
    made = []
    for (point, _), group in bins.items():
        first: Row = {"point": point, "time_s": group[0]["time_s"], "end_s": group[-1]["end_s"]}
        first["in_window"] = all(row["in_window"] for row in group)
        for name in ("committed_per_s", "aborted_per_s", "commit_latency_mean_ms"):
            values = [row[name] for row in group if row[name] is not None]
            first[name] = sum(values) / len(values) if values else None
        made.append(first)
    return made


def _attempt_rows(material: Material) -> list[Row]:
    """Return one row per bin and outcome, with its share of all txns of the configuration that ended."""
    rows = material.subject_rows("attempts")
    ended: dict[int, int] = {}
    for row in rows:
        ended[row["point"]] = ended.get(row["point"], 0) + row["txns_committed"] + row["txns_aborted"]
    shares = []
    for row in rows:
        low, high = row["attempts_low"], row["attempts_high"]
        label = str(low) if low == high else f"{low}\u2013{high}"
        for outcome in ("committed", "aborted"):
            txns = row[f"txns_{outcome}"]
            if txns:
                share = txns / ended[row["point"]]
                shares.append(
                    {"point": row["point"], "bin": label, "low": low, "outcome": outcome, "txns": txns, "share": share}
                )
    return shares


# ---- words ---------------------------------------------------------------------------------------------


def _describe_series(material: Material, rows: Sequence[Row], describe: Callable[[list[Row]], str]) -> str:
    """Return what there is to say of the rows of each series, of the first four."""
    parts = []
    for mark in material.legend.marks[:4]:
        own = [row for row in rows if row["s"] == mark.label]
        if own:
            parts.append(f"{f'{mark.label}: ' if material.has_series else ''}{describe(own)}")
    return f"{'; '.join(parts)}."


def _describe_commits(rows: list[Row]) -> str:
    rates = [row["committed_per_s"] for row in rows]
    return f"between {number(min(rates))} and {number(max(rates))} in the window"


def _describe_attempts(rows: list[Row]) -> str:
    once = sum(row["share"] for row in rows if row["low"] == 1)
    return f"{once:.0%} end at the first attempt, some need {max(row['low'] for row in rows)} or more"


def _describe_convoy(rows: list[Row]) -> str:
    rows = sorted(rows, key=lambda row: float(row["n_behind_mean"]))
    ends = [f"{number(row['history_lists_mean'])} lists at {number(row['n_behind_mean'])} behind" for row in rows]
    return ", ".join([ends[0], *ends[1:][-1:]])
