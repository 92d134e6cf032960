"""How much a configuration changed while it was measured.

Both halves are in the figures of a run, so studies without txns have it too. From when on it is a warning is in
``endive.pipeline.analysis.warning_table``.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT, summed


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
