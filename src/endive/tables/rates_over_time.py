"""Commit rate over simulated time: the whole run in equal bins, warm-up and cool-down included.

Txns count where they happen: submissions when submitted, commits and aborts when they end; the latency of a bin is that
of the txns submitted in it. They are counted in ``endive.pipeline.analysis``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa

from endive.objectives.intervals import score_ends
from endive.objectives.student import CONFIDENCE, student_ts
from endive.results.schema import Ints
from endive.tables.across_seeds import Floats
from endive.tables.run_counts import BOUNDS, TIMELINE_SUMS, run_windows
from endive.tables.scopes import POINT, POINT_GROUP

BIN: Final = ("bin", "start_ms", "end_ms", "in_window")  # in_window: the bin lies in the window, wholly
TIMELINE: Final = (
    *POINT_GROUP,
    *BIN,
    "seeds",
    "submitted_per_s",
    "committed_per_s",
    "committed_per_s_stddev",
    "committed_per_s_ci95_low",
    "committed_per_s_ci95_high",
    "aborted_per_s",
    "commit_latency_mean_ms",
)


def rates_over_time(counts: pa.Table, runs: pa.Table, bins: int) -> pa.Table:
    """``TIMELINE``: every bin of every configuration and scope, also those in which nothing happened.

    ``counts`` has ``POINT_GROUP``, ``bin`` and ``TIMELINE_SUMS``, sums over the seeds whose txns were counted; ``runs``
    are the runs of these seeds, with their windows.
    """
    groups = counts.group_by(list(POINT_GROUP), use_threads=False).aggregate([]).select(list(POINT_GROUP))
    numbered = groups.append_column("group", pa.array(np.arange(groups.num_rows)))
    placed = counts.join(numbered, keys=list(POINT_GROUP), join_type="inner", use_threads=False)
    place = (placed["group"].to_numpy(), placed["bin"].to_numpy())
    dense = {name: np.zeros((groups.num_rows, bins), np.int64) for name in TIMELINE_SUMS}
    for name, cells in dense.items():
        cells[place] = placed[name].to_numpy()
    about = numbered.join(_windows(runs), keys=list(POINT), join_type="inner", use_threads=False).sort_by("group")
    seeds = about["seeds"].to_numpy()
    duration, first, last = (about[name].to_numpy()[:, None] for name in BOUNDS)
    start, end = np.arange(bins) * duration, (np.arange(bins) + 1) * duration  # each as often as there are bins
    start_ms, end_ms = start / (1000.0 * bins), end / (1000.0 * bins)
    repeated = groups.take(pa.array(np.repeat(np.arange(groups.num_rows), bins)))
    columns = {name: repeated[name] for name in POINT_GROUP} | {
        "bin": pa.array(np.tile(np.arange(bins, dtype=np.int32), groups.num_rows)),
        "start_ms": start_ms.ravel(),
        "end_ms": end_ms.ravel(),
        "in_window": ((start >= first * bins) & (end <= last * bins)).ravel(),
        "seeds": pa.array(np.repeat(seeds, bins), pa.int32()),
    }
    rates = _rates(dense, seeds[:, None], (end_ms - start_ms) / 1000.0)
    doubles = {name: pa.array(values.ravel(), pa.float64(), from_pandas=True) for name, values in rates.items()}
    return pa.table({**columns, **doubles}).select(list(TIMELINE))


def _windows(runs: pa.Table) -> pa.Table:
    """The window of every configuration, that of any of its runs, and how many ``seeds`` it has."""
    windows = run_windows(runs).group_by(list(POINT), use_threads=False)
    bounds = windows.aggregate([*((name, "max") for name in BOUNDS), ("run_id", "count")])
    return bounds.rename_columns([*POINT, *BOUNDS, "seeds"])


def _rates(counts: Mapping[str, Ints], n: Ints, length_s: Floats) -> dict[str, Floats]:
    """Sums over ``n`` seeds as rates, that of commits with its interval; NaN where there is none."""
    commits = counts["committed"]
    squares = n * counts["committed_squared"] - commits * commits  # n * (n - 1) * variance, in whole numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        stddev = np.where(n > 1, np.sqrt(squares / (n * (n - 1))) / length_s, np.nan)
        mean = commits / n / length_s
        low, high = score_ends(mean, student_ts(n - 1, CONFIDENCE) * stddev / np.sqrt(n.astype(np.float64)))
        latency_ms = counts["latency_us"] / (1000 * counts["latency_txns"])
    return {
        "submitted_per_s": counts["submitted"] / n / length_s,
        "committed_per_s": mean,
        "committed_per_s_stddev": stddev,
        "committed_per_s_ci95_low": np.where(n > 1, low, np.nan),
        "committed_per_s_ci95_high": np.where(n > 1, high, np.nan),
        "aborted_per_s": counts["aborted"] / n / length_s,
        "commit_latency_mean_ms": np.where(counts["latency_txns"] > 0, latency_ms, np.nan),
    }
