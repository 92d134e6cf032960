"""Percentiles of all seeds together, from counts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from endive.pipeline.analysis.histograms import SHARES, latency_histogram, pooled_counts, pooled_percentiles
from endive.results.latency_grid import bin_high_us, bin_low_us, counted

COUNTS = pa.schema(
    [
        *((name, pa.string()) for name in ("study", "source", "kind", "latency")),
        ("point", pa.int32()),
        *((name, pa.int64()) for name in ("bin", "txns")),
    ]
)


def pooled(runs):
    """``{run_id: latencies in us}`` of one configuration, and its runs."""
    rows = [
        ("s", "stream", "fast_append", "commit", 0, int(place), int(count))
        for values in runs.values()
        for place, count in zip(*counted(np.asarray(values, np.int64)), strict=True)
    ]
    counts = pa.Table.from_pylist([dict(zip(COUNTS.names, row, strict=True)) for row in rows], COUNTS)
    known = pa.table({"study": ["s"] * len(runs), "point": pa.array([0] * len(runs), pa.int32()), "run_id": list(runs)})
    return pooled_counts(counts), known


def of_scope(table, scope):
    return [row for row in table.to_pylist() if row["scope"] == scope]


def test_pooled_percentiles_are_those_of_all_txns_to_within_a_bin():
    draws = np.random.default_rng(3).lognormal(13.0, 1.2, 30_000).astype(np.int64)
    counts, runs = pooled({"a": draws[:10_000], "b": draws[10_000:]})

    (row,) = of_scope(pooled_percentiles(counts, runs), "all")

    assert (2, 30_000) == (row["seeds"], row["txns"])
    for name, share in SHARES.items():
        exact_us = np.percentile(draws, 100 * share)
        assert abs(row[f"{name}_ms"] * 1000 - exact_us) <= exact_us / 128
    bins = counted(draws)[0]
    assert bin_low_us(bins)[0] / 1000 == row["low_ms"]
    assert bin_high_us(bins)[-1] / 1000 == row["high_ms"]


def test_values_that_have_bins_of_their_own_are_exact():
    counts, runs = pooled({"a": [3, 3, 7, 200, 255]})

    (row,) = of_scope(pooled_percentiles(counts, runs), "all")

    assert (0.003, 0.007, 0.255) == (row["low_ms"], row["p50_ms"], row["high_ms"])


def test_the_histogram_holds_every_txn_once():
    draws = np.random.default_rng(4).lognormal(13.0, 1.2, 4_000).astype(np.int64)
    counts, _ = pooled({"a": draws})

    rows = of_scope(latency_histogram(counts), "source")

    assert 4_000 == sum(row["txns"] for row in rows)
    for row in rows:
        inside = (draws >= row["low_ms"] * 1000) & (draws <= row["high_ms"] * 1000)
        assert int(inside.sum()) == row["txns"]
        assert row["txns"] / 4_000 == row["share"]


def test_studies_with_and_without_txns_have_the_same_latencies(analysis):
    def of(study):
        rows = analysis.tables["latencies"].to_pylist()
        return [{**row, "study": None} for row in rows if row["study"] == study]

    assert of("bare") == of("sampled")
    assert len(of("bare")) == 3 * 3 * 2  # points, scopes, latencies
