"""The highest load a configuration sustains, along the load axis.

A curve has points that differ in load only, from the lowest load up. A load is sustained if it and every lower one on
the curve meet the objective; a point of which that cannot be said counts as one that misses it. Which axis is the load
is said by ``endive.tables.load_axis``, and who meets the objective by ``endive.tables.verdicts``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from endive.tables.load_axis import LoadAxis
from endive.tables.scopes import ALL, POINT_GROUP

Row = Mapping[str, Any]

_FIGURES: Final = {
    "points": pa.int32(),
    "sustained_point": pa.int32(),
    "sustained_load": pa.float64(),
    "sustained_offered_per_s": pa.float64(),
    "sustained_committed_per_s": pa.float64(),
    "missed_point": pa.int32(),
    "missed_load": pa.float64(),
    "missed_offered_per_s": pa.float64(),
    "misses": pa.string(),
    "committed_in_window_max_per_s": pa.float64(),
    "success_rate_at_max": pa.float64(),
    "is_monotone": pa.bool_(),
}
_NEEDED: Final = (
    *POINT_GROUP,
    *("offered_per_s", "committed_per_s", "committed_in_window_per_s", "success_rate"),
    *("verdict", "meets_objective", "misses"),
)


def find_sustained(configurations: pa.Table, loads: Mapping[str, LoadAxis], axes: Sequence[pa.Field]) -> pa.Table:
    """One row per curve, and per operation type and source of it that the objective speaks of.

    ``configurations`` has the axes too; of a row only those that tell curves apart are told. Points are ordered by the
    offered rate of the whole run, or by the load's value where it is a closed loop's.
    """
    rows = configurations.select([*_NEEDED, *(axis.name for axis in axes)]).to_pylist()
    whole = {(row["study"], row["point"]): row for row in rows if row["scope"] == ALL}
    judged = [row for row in rows if row["scope"] == ALL or row["verdict"] is not None]
    by_group: dict[tuple[str, str, str], list[Row]] = {}
    for row in judged:
        by_group.setdefault((row["study"], row["scope"], row["name"]), []).append(row)
    sustained = []
    for (study, scope, name), group in by_group.items():
        axis = loads[study]
        for curve, points in _curves(axis, group, whole):
            told = {key: points[0][key] for key in axis.series}
            place = {"study": study, "curve": curve, "load_axis": axis.key, **told, "scope": scope, "name": name}
            sustained.append({**place, **read_curve(points)})
    about = [("study", pa.string()), ("curve", pa.int32()), ("load_axis", pa.string()), *axes]
    schema = pa.schema([*about, ("scope", pa.string()), ("name", pa.string()), *_FIGURES.items()])
    return pa.Table.from_pylist(sustained, schema)


def _curves(axis: LoadAxis, group: Sequence[Row], whole: Mapping[Any, Row]) -> Iterator[tuple[int, list[Row]]]:
    """The points of every curve, from the lowest load up, with their ``load`` and ``run_offered_per_s``."""
    placed = {place.point: place for place in axis.placed}
    curves: dict[int, list[tuple[tuple[float, int], Row]]] = {}
    for row in group:
        place = placed.get(row["point"])
        run = whole.get((row["study"], row["point"]))
        if place is None or run is None:
            continue
        order = place.load if axis.is_closed_loop else run["offered_per_s"]
        key = (-math.inf if order is None else order, row["point"])
        facts = {**row, "load": place.load, "run_offered_per_s": run["offered_per_s"]}
        curves.setdefault(place.curve, []).append((key, facts))
    for curve, points in curves.items():
        yield curve, [row for _, row in sorted(points, key=lambda pair: pair[0])]


def read_curve(points: Sequence[Row]) -> dict[str, Any]:
    """What one curve says; ``points`` from the lowest load up."""
    is_over = [row["meets_objective"] is not True for row in points]
    first_over = is_over.index(True) if True in is_over else None
    held = points[:first_over]
    last_held: Row = held[-1] if held else {}
    missed: Row = {} if first_over is None else points[first_over]
    commits = [row for row in points if row["committed_in_window_per_s"] is not None]
    most = max((row["committed_in_window_per_s"] for row in commits), default=None)
    at_most: Row = [row for row in commits if row["committed_in_window_per_s"] == most][-1] if commits else {}
    return {
        "points": len(points),
        "sustained_point": last_held.get("point"),
        "sustained_load": last_held.get("load"),
        "sustained_offered_per_s": last_held.get("run_offered_per_s"),
        "sustained_committed_per_s": last_held.get("committed_per_s"),
        "missed_point": missed.get("point"),
        "missed_load": missed.get("load"),
        "missed_offered_per_s": missed.get("run_offered_per_s"),
        "misses": missed.get("misses"),
        "committed_in_window_max_per_s": most,
        "success_rate_at_max": at_most.get("success_rate"),
        "is_monotone": first_over is None or all(is_over[first_over:]),
    }
