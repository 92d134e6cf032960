"""Where the time, the requests and the conflicts of a configuration come from.

It computes no figure of its own but shares.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from endive.pipeline.analysis.across_seeds import (
    ABORT_COUNTS,
    CONFLICT_COUNTS,
    PER_COMMITTED,
    PER_TXN,
    REQUEST_COUNTS,
    Figures,
    Floats,
    OverSeeds,
)
from endive.pipeline.analysis.scopes import POINT_GROUP
from endive.results import schema as s

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
    commit_ms = _commit_ms(means)
    parts = []
    for phase, one in means.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where((commit_ms != 0) & (phase != "runtime"), one.mean / commit_ms, np.nan)
        rows = with_statistics(_labelled(figures, {"phase": phase}), {"mean_ms": one})
        rows = rows.append_column("share", pa.array(share, pa.float64(), from_pandas=True))
        parts.append(rows.filter(pa.array(one.seeds > 0)))
    return pa.concat_tables(parts).select(list(PHASES))


def _commit_ms(means: Mapping[str, OverSeeds]) -> Floats:
    """The time of all phases of a commit, added in the order of their names."""
    commit = [means[phase].mean for phase in sorted(means) if phase != "runtime"]
    total = np.zeros_like(commit[0])
    for mean in commit:
        total += np.where(np.isnan(mean), 0.0, mean)
    return total


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
    parts = [_empty(columns)]
    for name, labels in names.items():
        chosen = {measure: figures.by_name[f"{name}{suffix}"] for measure, suffix in measures.items()}
        parts.append(with_statistics(_labelled(figures, labels), chosen, drops_missing=True).select(list(columns)))
    return pa.concat_tables(parts)


def with_statistics(groups: pa.Table, chosen: Mapping[str, OverSeeds], *, drops_missing: bool = False) -> pa.Table:
    """``groups`` with ``seeds``, the most that one of the figures has, and each figure under its name."""
    seeds = np.max([one.seeds for one in chosen.values()], axis=0)
    found = groups.append_column("seeds", pa.array(seeds, pa.int32()))
    for name, one in chosen.items():
        for statistic, column in zip(("mean", *INTERVAL), with_interval(name), strict=True):
            found = found.append_column(column, one.column(statistic))
    return found.filter(pa.array(seeds > 0)) if drops_missing else found


def _labelled(figures: Figures, labels: Mapping[str, str]) -> pa.Table:
    found = figures.groups
    for name, value in labels.items():
        found = found.append_column(name, pa.array([value] * found.num_rows, pa.string()))
    return found


def _empty(columns: Sequence[str]) -> pa.Table:
    kinds = {"point": pa.int32(), "seeds": pa.int32()}
    texts = ("study", "scope", "name", "object", "operation", "counter")
    return pa.schema(
        [(name, kinds.get(name, pa.string() if name in texts else pa.float64())) for name in columns]
    ).empty_table()
