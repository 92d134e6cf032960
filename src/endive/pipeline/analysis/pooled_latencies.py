"""Latencies of a configuration, all its seeds together: percentiles and histograms.

They are made from the counts on the grid that the sweep wrote, so no txn is read and memory does not grow with them. A
percentile is known to within the width of its bin, 1/128 of it; in its bin values are taken to lie evenly.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from endive.pipeline.analysis.across_seeds import Floats, first_rows
from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT, POINT_GROUP, by_scope, summed
from endive.results.latency_grid import BITS, bin_high_us, bin_low_us
from endive.results.schema import Ints

SHARES: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
GROUPED: Final = (*POINT_GROUP, "latency")
POOLED: Final = (*GROUPED, "seeds", "txns", "low_ms", *(f"{name}_ms" for name in SHARES), "high_ms")
HISTOGRAM: Final = (*GROUPED, "low_ms", "high_ms", "txns", "share")
COARSE_BITS: Final = 3  # of the histogram: 8 bins per octave, each of 16 of the grid's


def pooled_counts(counts: pa.Table) -> pa.Table:
    """``GROUPED``, ``bin`` and ``txns``, in their order."""
    found = by_scope(counts, [*POINT, "latency", "bin"], ["txns"]).select([*GROUPED, "bin", "txns"])
    return found.sort_by([(name, "ascending") for name in (*GROUPED, "bin")]).combine_chunks()


def pooled_percentiles(pooled: pa.Table, runs: pa.Table) -> pa.Table:
    """``POOLED``: percentiles of the committed txns of all seeds; ``runs`` are those that ended."""
    first = first_rows(pooled.select(list(GROUPED)))
    last = np.append(first[1:], pooled.num_rows)[: len(first)] - 1
    bins, txns = pooled["bin"].to_numpy(), pooled["txns"].to_numpy()
    low_us, high_us = bin_low_us(bins), bin_high_us(bins)
    so_far = np.cumsum(txns)
    before = (so_far - txns)[first]  # txns of all groups before
    found = pooled.select(list(GROUPED)).take(pa.array(first))
    found = found.append_column("txns", pa.array(so_far[last] - before, pa.int64()))
    found = found.append_column("low_ms", pa.array(low_us[first] / 1000.0))
    found = found.append_column("high_ms", pa.array(high_us[last] / 1000.0))
    for name, share in SHARES.items():
        position = share * (so_far[last] - before - 1)
        row = np.searchsorted(so_far, before + np.floor(position).astype(np.int64), side="right")
        below = (so_far - txns)[row] - before
        value_us = _inside(position, below, txns[row], low_us[row], high_us[row])
        found = found.append_column(f"{name}_ms", pa.array(value_us / 1000.0))
    seeds = runs.group_by(list(POINT), use_threads=False).aggregate([("run_id", "count")])
    seeds = seeds.rename_columns([*POINT, "seeds"]).cast(pa.schema([*_POINT_FIELDS, ("seeds", pa.int32())]))
    return found.join(seeds, keys=list(POINT), join_type="inner", use_threads=False).select(list(POOLED))


_POINT_FIELDS: Final = (("study", pa.string()), ("point", pa.int32()))


def _inside(position: Floats, below: Ints, txns: Ints, low_us: Ints, high_us: Ints) -> Floats:
    """The value at a position in a bin that ``below`` txns come before."""
    inside = (position - below + 0.5) / txns
    found: Floats = low_us + np.minimum(inside, 1.0) * (high_us - low_us)
    return found


def latency_histogram(pooled: pa.Table) -> pa.Table:
    """``HISTOGRAM``: the same counts in fewer bins."""
    width = BITS - COARSE_BITS
    coarse = pooled.append_column("coarse", pa.array(pooled["bin"].to_numpy() >> width))
    counts = summed(coarse, [*GROUPED, "coarse"], ["txns"])
    whole = summed(counts, GROUPED, ["txns"]).rename_columns([*GROUPED, "all"])
    found = counts.join(whole, keys=list(GROUPED), join_type="inner", use_threads=False)
    first = found["coarse"].to_numpy() << width
    found = found.append_column("low_ms", pa.array(bin_low_us(first) / 1000.0))
    found = found.append_column("high_ms", pa.array(bin_high_us(first + ((1 << width) - 1)) / 1000.0))
    return found.append_column("share", ratio(found["txns"], found["all"])).select(list(HISTOGRAM))
