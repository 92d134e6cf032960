"""Percentiles of all seeds together, from counts."""

from __future__ import annotations

import numpy as np
import pytest

from endive.pipeline.analysis.pooled_latencies import SHARES, latency_histogram, pooled_counts, pooled_percentiles
from endive.results.latency_grid import bin_high_us, bin_low_us, counted

pytestmark = pytest.mark.spark

COUNTS = "study string, run_id string, source string, kind string, latency string, bin int, txns bigint"


def pooled(spark, runs):
    """``{run_id: latencies in us}`` of one configuration, and its points."""
    rows = [
        ("s", run_id, "stream", "fast_append", "commit", int(place), int(count))
        for run_id, values in runs.items()
        for place, count in zip(*counted(np.asarray(values, np.int64)), strict=True)
    ]
    points = spark.createDataFrame(
        [("s", run_id, 0, seed) for seed, run_id in enumerate(runs)],
        "study string, run_id string, point int, seed bigint",
    )
    return pooled_counts(spark.createDataFrame(rows, COUNTS), points), points


def test_pooled_percentiles_are_those_of_all_txns_to_within_a_bin(spark):
    draws = np.random.default_rng(3).lognormal(13.0, 1.2, 30_000).astype(np.int64)
    counts, points = pooled(spark, {"a": draws[:10_000], "b": draws[10_000:]})

    (row,) = pooled_percentiles(counts, points).where("scope = 'all'").toArrow().to_pylist()

    assert (2, 30_000) == (row["seeds"], row["txns"])
    for name, share in SHARES.items():
        exact_us = np.percentile(draws, 100 * share)
        assert abs(row[f"{name}_ms"] * 1000 - exact_us) <= exact_us / 128
    bins = counted(draws)[0]
    assert bin_low_us(bins)[0] / 1000 == row["low_ms"]
    assert bin_high_us(bins)[-1] / 1000 == row["high_ms"]


def test_values_that_have_bins_of_their_own_are_exact(spark):
    counts, points = pooled(spark, {"a": [3, 3, 7, 200, 255]})

    (row,) = pooled_percentiles(counts, points).where("scope = 'all'").toArrow().to_pylist()

    assert (0.003, 0.007, 0.255) == (row["low_ms"], row["p50_ms"], row["high_ms"])


def test_the_histogram_holds_every_txn_once(spark):
    draws = np.random.default_rng(4).lognormal(13.0, 1.2, 4_000).astype(np.int64)
    counts, _ = pooled(spark, {"a": draws})

    rows = sorted(
        latency_histogram(counts).where("scope = 'source'").toArrow().to_pylist(), key=lambda row: row["low_ms"]
    )

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
