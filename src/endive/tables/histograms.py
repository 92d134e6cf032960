"""Histograms and percentiles of a configuration, all its seeds together: attempts, the convoy, latencies.

Attempts and the convoy (manifest lists read against n_behind) are of the window's txns that ended, as ``txn_counts``
has counted them. Latencies are from the counts on the grid that the sweep wrote, so no txn is read and memory does not
grow with them: a percentile is known to within the width of its bin, 1/128 of it; in its bin values are taken to lie
evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.results.latency_grid import BITS, bin_high_us, bin_low_us
from endive.tables.across_seeds import first_rows
from endive.tables.run_counts import NO_HISTORY, OUTCOME_SUMS, largest_count
from endive.tables.scopes import POINT, POINT_GROUP, by_scope, ratio, sum_by, with_columns

ATTEMPTS: Final = (*POINT_GROUP, "attempts_low", "attempts_high", "txns_committed", "txns_aborted", "share")
CONVOY: Final = (
    *POINT_GROUP,
    "n_behind_low",
    "n_behind_high",
    "txns",
    "n_behind_mean",
    "history_lists_mean",
    "history_mean_ms",
    "attempts_mean",
    "commit_latency_mean_ms",
    "success_rate",
)


def attempts_histogram(outcomes: pa.Table) -> pa.Table:
    """``ATTEMPTS``: txns by the number of their commit attempts, and their share of all that ended."""
    sums = ["txns_committed", "txns_aborted", "txns"]
    counts = by_scope(_with_commits(outcomes), [*POINT, "attempts_low"], sums)
    table = _with_share(counts, POINT_GROUP)
    return with_columns(table, {"attempts_high": _high(table["attempts_low"])}).select(list(ATTEMPTS))


def convoy(outcomes: pa.Table) -> pa.Table:
    """``CONVOY``: of txns that read history, what they read and how long it took, by n_behind at first."""
    reading = outcomes.filter(pc.not_equal(outcomes["n_behind_low"], NO_HISTORY))
    sums = by_scope(_with_commits(reading), [*POINT, "n_behind_low"], [*OUTCOME_SUMS, "txns_committed"])
    txns = sums["txns"]
    thousands = pc.multiply(txns, 1000)
    columns = {
        "n_behind_high": _high(sums["n_behind_low"]),
        "n_behind_mean": ratio(sums["n_behind"], txns),
        "history_lists_mean": ratio(sums["history_lists"], txns),
        "history_mean_ms": ratio(sums["phase_history_us"], thousands),
        "attempts_mean": ratio(sums["attempts"], txns),
        "commit_latency_mean_ms": ratio(sums["commit_us"], thousands),
        "success_rate": ratio(sums["txns_committed"], txns),
    }
    return with_columns(sums, columns).select(list(CONVOY))


def _with_commits(outcomes: pa.Table) -> pa.Table:
    """The txns of every row also by their outcome."""
    is_committed = pc.equal(outcomes["is_committed"], 1)
    zero = pa.scalar(0, pa.int64())
    committed, aborted = (
        pc.if_else(is_committed, *pair) for pair in ((outcomes["txns"], zero), (zero, outcomes["txns"]))
    )
    return with_columns(outcomes, {"txns_committed": committed, "txns_aborted": aborted})


def _with_share(counts: pa.Table, keys: Sequence[str]) -> pa.Table:
    """``counts`` with ``share``: a row's part of all txns with the same keys."""
    whole = sum_by(counts, keys, ["txns"]).rename_columns([*keys, "all"])
    table = counts.join(whole, keys=list(keys), join_type="inner", use_threads=False)
    return with_columns(table, {"share": ratio(table["txns"], table["all"])})


def _high(low: pa.ChunkedArray) -> pa.Array:
    return pa.array(largest_count(low.to_numpy()), pa.int64())


# ---- latencies ---------------------------------------------------------------------------------------


SHARES: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
GROUPED: Final = (*POINT_GROUP, "latency")
POOLED: Final = (*GROUPED, "seeds", "txns", "low_ms", *(f"{name}_ms" for name in SHARES), "high_ms")
HISTOGRAM: Final = (*GROUPED, "low_ms", "high_ms", "txns", "share")
_SEEDS: Final = pa.schema([("study", pa.string()), ("point", pa.int32()), ("seeds", pa.int32())])
COARSE_BITS: Final = 3  # of the histogram: 8 bins per octave, each of 16 of the grid's


def pooled_counts(counts: pa.Table) -> pa.Table:
    """``GROUPED``, ``bin`` and ``txns``, in their order."""
    counts_by_scope = by_scope(counts, [*POINT, "latency", "bin"], ["txns"]).select([*GROUPED, "bin", "txns"])
    return counts_by_scope.sort_by([(name, "ascending") for name in (*GROUPED, "bin")]).combine_chunks()


def pooled_percentiles(pooled: pa.Table, runs: pa.Table) -> pa.Table:
    """``POOLED``: percentiles of the committed txns of all seeds; ``runs`` are those that ended."""
    first = first_rows(pooled.select(list(GROUPED)))
    last = np.append(first[1:], pooled.num_rows)[: len(first)] - 1
    bins, txns = pooled["bin"].to_numpy(), pooled["txns"].to_numpy()
    low_us, high_us = bin_low_us(bins), bin_high_us(bins)
    so_far = np.cumsum(txns)
    before = (so_far - txns)[first]  # txns of all groups before
    columns = {
        "txns": pa.array(so_far[last] - before, pa.int64()),
        "low_ms": pa.array(low_us[first] / 1000.0),
        "high_ms": pa.array(high_us[last] / 1000.0),
    }
    for name, share in SHARES.items():
        position = share * (so_far[last] - before - 1)
        row = np.searchsorted(so_far, before + np.floor(position).astype(np.int64), side="right")
        below = (so_far - txns)[row] - before
        inside = (position - below + 0.5) / txns[row]
        value_us = low_us[row] + np.minimum(inside, 1.0) * (high_us[row] - low_us[row])
        columns[f"{name}_ms"] = pa.array(value_us / 1000.0)
    table = with_columns(pooled.select(list(GROUPED)).take(pa.array(first)), columns)
    seeds = runs.group_by(list(POINT), use_threads=False).aggregate([("run_id", "count")])
    seeds = seeds.rename_columns([*POINT, "seeds"]).cast(_SEEDS)
    return table.join(seeds, keys=list(POINT), join_type="inner", use_threads=False).select(list(POOLED))


def latency_histogram(pooled: pa.Table) -> pa.Table:
    """``HISTOGRAM``: the same counts in fewer bins."""
    width = BITS - COARSE_BITS
    coarse = with_columns(pooled, {"coarse": pa.array(pooled["bin"].to_numpy() >> width)})
    table = _with_share(sum_by(coarse, [*GROUPED, "coarse"], ["txns"]), GROUPED)
    first = table["coarse"].to_numpy() << width
    ends = {"low_ms": bin_low_us(first), "high_ms": bin_high_us(first + ((1 << width) - 1))}
    columns = {name: pa.array(end_us / 1000.0) for name, end_us in ends.items()}
    return with_columns(table, columns).select(list(HISTOGRAM))
