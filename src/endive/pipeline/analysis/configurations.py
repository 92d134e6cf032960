"""The table most readers want: one row per configuration, the leading figures with their intervals.

The verdict itself is ``endive.pipeline.analysis.verdicts``'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.across_seeds import Figures
from endive.pipeline.analysis.breakdown import with_interval, with_statistics
from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT, POINT_GROUP, summed
from endive.pipeline.analysis.verdicts import VERDICTS

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
    halves = ended.select(list(POINT))
    for half in ("first", "second"):
        halves = halves.append_column(half, ended[f"txns_committed_{half}_half"])
        halves = halves.append_column(f"{half}_us", _latency_us(ended, half))
    sums = summed(halves, POINT, ["first", "second", "first_us", "second_us"])
    change = ratio(ratio(sums["second_us"], sums["second"]), ratio(sums["first_us"], sums["first"]))
    found = sums.select(list(POINT)).append_column("commit_latency_drift", pc.subtract(change, 1.0))
    return found.append_column("commits_half_min", pc.min_element_wise(sums["first"], sums["second"]))


def _latency_us(runs: pa.Table, half: str) -> pa.Array:
    """The sum of latencies in whole microseconds, which the mean was made from: whole numbers add up in any order."""
    mean_ms = pc.fill_null(runs[f"commit_latency_{half}_half_mean_ms"], 0.0).to_numpy()
    sum_us = mean_ms * 1000 * runs[f"txns_committed_{half}_half"].to_numpy()
    whole = np.floor(sum_us)
    return pa.array((whole + (sum_us - whole >= 0.5)).astype(np.int64))
