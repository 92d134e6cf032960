"""Configurations, and where their time, their requests and their conflicts come from.

``configurations`` is the table most readers want: one row each, the leading figures with their intervals. The verdict
itself is ``endive.tables.verdicts``'.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.results import schema as s
from endive.tables.across_seeds import (
    ABORT_COUNTS,
    CONFLICT_COUNTS,
    PER_COMMITTED,
    PER_TXN,
    REQUEST_COUNTS,
    Figures,
    OverSeeds,
)
from endive.tables.scopes import POINT, POINT_GROUP, ratio, sum_by, with_columns
from endive.tables.verdicts import VERDICTS

INTERVAL: Final = ("stddev", "ci95_low", "ci95_high")


def with_interval(name: str) -> list[str]:
    """The columns of a figure that is given as its mean over seeds with its interval."""
    return [name, *(f"{name}_{part}" for part in INTERVAL)]


PHASES: Final = (*POINT_GROUP, "phase", "seeds", *with_interval("mean_ms"), "share")
REQUESTS: Final = (
    *POINT_GROUP,
    "object",
    "operation",
    "seeds",
    *with_interval("per_txn"),
    *with_interval("per_committed_txn"),
)
CONFLICTS: Final = (
    *POINT_GROUP,
    "counter",
    "seeds",
    *with_interval("per_run"),
    *with_interval("per_txn"),
    *with_interval("per_committed_txn"),
)


def phases(figures: Figures) -> pa.Table:
    """``PHASES``: where a committed txn's time goes; the share is of its commit, so runtime has none."""
    means = {phase: figures.by_name[f"phase_{phase}_mean_ms"] for phase in s.PHASES}
    commit_ms = np.zeros(figures.groups.num_rows)
    for phase in sorted(means):  # always in the same order
        if phase != "runtime":
            commit_ms += np.nan_to_num(means[phase].mean)
    parts = []
    for phase, one in means.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where((commit_ms != 0) & (phase != "runtime"), one.mean / commit_ms, np.nan)
        rows = with_statistics(with_columns(figures.groups, {"phase": phase}), {"mean_ms": one})
        rows = with_columns(rows, {"share": pa.array(share, pa.float64(), from_pandas=True)})
        parts.append(rows.filter(pa.array(one.seeds > 0)))
    return pa.concat_tables(parts).select(list(PHASES))


def requests(figures: Figures, unused: Collection[str]) -> pa.Table:
    """``REQUESTS``: how often each object is asked for what, per txn that ended and per committed txn."""
    names = {f"requests_{obj}_{op}": {"object": obj, "operation": op} for obj, op in s.REQUEST_PAIRS}
    assert set(names) == set(REQUEST_COUNTS)
    measures = {"per_txn": PER_TXN, "per_committed_txn": PER_COMMITTED}
    used = {name: labels for name, labels in names.items() if name not in unused}
    return _parts(figures, used, measures, REQUESTS)


def conflicts(figures: Figures, unused: Collection[str]) -> pa.Table:
    """``CONFLICTS``: every counter that moved, and every reason to abort."""
    counters = [name for name in (*CONFLICT_COUNTS, *ABORT_COUNTS) if name not in unused]
    measures = {"per_run": "", "per_txn": PER_TXN, "per_committed_txn": PER_COMMITTED}
    return _parts(figures, {name: {"counter": name.removeprefix("txns_")} for name in counters}, measures, CONFLICTS)


def _parts(
    figures: Figures, names: Mapping[str, Mapping[str, str]], measures: Mapping[str, str], columns: Sequence[str]
) -> pa.Table:
    """One row per group and count in ``names``, under its labels; figure NAME + ``measures[M]`` gives the columns M."""
    kinds = {"point": pa.int32(), "seeds": pa.int32()}
    texts = ("study", "scope", "name", "object", "operation", "counter")
    schema = [(name, kinds.get(name, pa.string() if name in texts else pa.float64())) for name in columns]
    parts = [pa.schema(schema).empty_table()]
    for name, labels in names.items():
        chosen = {measure: figures.by_name[f"{name}{suffix}"] for measure, suffix in measures.items()}
        rows = with_statistics(with_columns(figures.groups, labels), chosen, drops_missing=True)
        parts.append(rows.select(list(columns)))
    return pa.concat_tables(parts)


def with_statistics(groups: pa.Table, chosen: Mapping[str, OverSeeds], *, drops_missing: bool = False) -> pa.Table:
    """``groups`` with ``seeds``, the most that one of the figures has, and each figure under its name."""
    seeds = np.max([one.seeds for one in chosen.values()], axis=0)
    columns = {"seeds": pa.array(seeds, pa.int32())}
    for name, one in chosen.items():
        for statistic, column in zip(("mean", *INTERVAL), with_interval(name), strict=True):
            columns[column] = one.column(statistic)
    table = with_columns(groups, columns)
    return table.filter(pa.array(seeds > 0)) if drops_missing else table


# ---- configurations ----------------------------------------------------------------------------------


LEADING: Final = (
    "offered_per_s",
    "committed_per_s",
    "committed_in_window_per_s",
    "success_rate",
    *(f"commit_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    *(f"total_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    "retries_mean",
    "requests_per_txn",
    "requests_per_committed_txn",
    "in_flight_committing_share",
    *(f"freshness_{name}_ms" for name in ("p50", "p95", "p99", "max")),
    "stale_share",
    "lost_share",
)
CONFIGURATIONS: Final = (
    *POINT_GROUP,
    "seeds",
    *VERDICTS,
    *(column for figure in LEADING for column in with_interval(figure)),
)


def configurations(figures: Figures, verdicts: pa.Table) -> pa.Table:
    """``CONFIGURATIONS``, from all figures across seeds and the verdicts on groups that are judged."""
    wide = with_statistics(figures.groups, {name: figures.by_name[name] for name in LEADING}, drops_missing=True)
    joined = wide.join(verdicts, keys=list(POINT_GROUP), join_type="left outer", use_threads=False)
    return joined.select(list(CONFIGURATIONS))


def configuration_table(runs: pa.Table, axes: Sequence[str], judged: pa.Table, drifts: pa.Table) -> pa.Table:
    """``judged`` configurations with their hash, their axes and their drift."""
    about = runs.group_by([*POINT, "config_hash", *axes], use_threads=False).aggregate([])
    joined = about.join(judged, keys=list(POINT), join_type="inner", use_threads=False)
    joined = joined.join(drifts, keys=list(POINT), join_type="left outer", use_threads=False)
    columns = [name for name in CONFIGURATIONS if name not in POINT]
    return joined.select([*POINT, "config_hash", *axes, *columns, "commit_latency_drift", "commits_half_min"])


def drift(runs: pa.Table) -> pa.Table:
    """``POINT`` and ``commit_latency_drift``: how much slower commits got within the window.

    The mean commit latency of txns submitted in its second half, relative to that of the first, less 1. Null where a
    half has no commit. ``commits_half_min`` is the smaller number of commits behind it.
    """
    ended = runs.filter(pc.equal(runs["status"], "ok"))
    commits = {half: ended[f"txns_committed_{half}_half"] for half in ("first", "second")}
    latencies = {f"{half}_us": _latency_us(ended, half) for half in commits}
    halves = with_columns(ended.select(list(POINT)), {**commits, **latencies})
    sums = sum_by(halves, POINT, [*commits, *latencies])
    change = ratio(ratio(sums["second_us"], sums["second"]), ratio(sums["first_us"], sums["first"]))
    fewest = pc.min_element_wise(sums["first"], sums["second"])
    drifts = {"commit_latency_drift": pc.subtract(change, 1.0), "commits_half_min": fewest}
    return with_columns(sums.select(list(POINT)), drifts)


def _latency_us(runs: pa.Table, half: str) -> pa.Array:
    """The sum of latencies in whole microseconds, which the mean was made from: whole numbers add up in any order."""
    mean_ms = pc.fill_null(runs[f"commit_latency_{half}_half_mean_ms"], 0.0).to_numpy()
    sum_us = mean_ms * 1000 * runs[f"txns_committed_{half}_half"].to_numpy()
    whole = np.floor(sum_us)
    return pa.array((whole + (sum_us - whole >= 0.5)).astype(np.int64))
