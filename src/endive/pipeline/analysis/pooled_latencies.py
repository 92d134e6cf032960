"""Latencies of a configuration, all its seeds together: percentiles and histograms.

This file defines both tables. They are made from the counts on the grid that the sweep wrote, so no txn is read and
memory does not grow with them. A percentile is known to within the width of its bin, 1/128 of it; in its bin values
are taken to lie evenly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT_GROUP, RUN, by_scope
from endive.results.latency_grid import BITS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

SHARES: Final = {"p10": 0.1, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
GROUPED: Final = (*POINT_GROUP, "latency")
POOLED: Final = (*GROUPED, "seeds", "txns", "low_ms", *(f"{name}_ms" for name in SHARES), "high_ms")
HISTOGRAM: Final = (*GROUPED, "low_ms", "high_ms", "txns", "share")
COARSE_BITS: Final = 3  # of the histogram: 8 bins per octave, each of 16 of the grid's


def pooled_counts(counts: DataFrame, points: DataFrame) -> DataFrame:
    """``GROUPED``, ``bin`` and ``txns``, over all runs that ``points`` knows."""
    return (
        counts.join(sf.broadcast(points), on=list(RUN), how="inner")
        .groupBy("study", "point", "kind", "source", "latency", "bin")
        .agg(sf.sum("txns").alias("txns"))  # before every row counts in three scopes
        .transform(by_scope)
        .groupBy(*GROUPED, "bin")
        .agg(sf.sum("txns").alias("txns"))
    )


def pooled_percentiles(pooled: DataFrame, points: DataFrame) -> DataFrame:
    """``POOLED``: percentiles of the committed txns of all seeds."""
    group = Window.partitionBy(*GROUPED)
    so_far = group.orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    whole = group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    ranked = pooled.withColumns(
        {
            "below": sf.sum("txns").over(so_far) - sf.col("txns"),
            "all": sf.sum("txns").over(whole),
            "low_us": _low_us(sf.col("bin")),
            "high_us": _high_us(sf.col("bin")),
        }
    )
    found = ranked.groupBy(*GROUPED).agg(
        sf.sum("txns").alias("txns"),
        (sf.min("low_us") / 1000.0).alias("low_ms"),
        (sf.max("high_us") / 1000.0).alias("high_ms"),
        *(sf.max(_value_us(share) / 1000.0).alias(f"{name}_ms") for name, share in SHARES.items()),
    )
    seeds = points.groupBy("study", "point").agg(sf.count(sf.lit(1)).cast("int").alias("seeds"))
    return found.join(sf.broadcast(seeds), on=["study", "point"], how="inner").select(*POOLED)


def latency_histogram(pooled: DataFrame) -> DataFrame:
    """``HISTOGRAM``: the same counts in fewer bins."""
    width = BITS - COARSE_BITS
    coarse = (
        pooled.withColumn("coarse", sf.shiftright("bin", width))
        .groupBy(*GROUPED, "coarse")
        .agg(sf.sum("txns").alias("txns"))
    )
    whole = Window.partitionBy(*GROUPED).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    first = sf.shiftleft("coarse", width)
    return coarse.select(
        *GROUPED,
        (_low_us(first) / 1000.0).alias("low_ms"),
        (_high_us(first + ((1 << width) - 1)) / 1000.0).alias("high_ms"),
        "txns",
        ratio(sf.col("txns"), sf.sum("txns").over(whole)).alias("share"),
    ).select(*HISTOGRAM)


def _value_us(share: float) -> Column:
    """The ``share`` quantile, in the row whose bin holds it; null in the others."""
    position = share * (sf.col("all") - 1)
    inside = (position - sf.col("below") + 0.5) / sf.col("txns")
    value = sf.col("low_us") + sf.least(inside, sf.lit(1.0)) * (sf.col("high_us") - sf.col("low_us"))
    return sf.when((sf.col("below") <= position) & (position < sf.col("below") + sf.col("txns")), value)


def _shift(place: Column) -> Column:
    return sf.greatest(sf.shiftright(place, BITS) - 1, sf.lit(0)).cast("int")


def _width_us(place: Column) -> Column:
    return sf.pow(sf.lit(2.0), _shift(place)).cast("bigint")


def _low_us(place: Column) -> Column:
    """As ``endive.results.latency_grid.bin_low_us``."""
    return (place - _shift(place) * (1 << BITS)).cast("bigint") * _width_us(place)


def _high_us(place: Column) -> Column:
    """As ``endive.results.latency_grid.bin_high_us``."""
    return _low_us(place) + _width_us(place) - 1
