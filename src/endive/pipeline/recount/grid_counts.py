"""Counts on the grid of latencies, derived from txns, and what they say about percentiles.

This file defines both derivations on Spark. The grid itself is in ``endive.results.latency_grid``; here its
arithmetic is written a second time, in SQL, because it is the test of the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.scopes import RUN, RUN_GROUP
from endive.pipeline.recount.percentiles import LATENCIES, SHARES, committed_latencies
from endive.pipeline.recount.txn_scopes import by_scope
from endive.results.latency_grid import BITS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def counts_from_txns(txns: DataFrame) -> DataFrame:
    """``study``, and the columns of the dataset ``latencies``, of the txns of ``with_window``."""
    both = sf.array(*(sf.struct(sf.lit(name).alias("latency"), sf.col(f"{name}_us").alias("us")) for name in LATENCIES))
    values = committed_latencies(txns).select(*RUN, "source", "kind", sf.explode(both).alias("value"))
    binned = values.select(*RUN, "source", "kind", "value.latency", _bin("value.us").alias("bin"))
    return binned.groupBy(*binned.columns).agg(sf.count(sf.lit(1)).alias("txns"))


def _bin(column_us: str) -> Column:
    """The number of binary digits decides the octave, the first ``BITS`` + 1 of them the place in it."""
    shift = f"greatest(length(bin({column_us})) - {BITS + 1}, 0)"
    return sf.expr(f"cast({shift} * {1 << BITS} + shiftright({column_us}, {shift}) as int)")


def bracketed(counts: DataFrame, told: DataFrame) -> DataFrame:
    """``RUN_GROUP``, ``figure`` and ``is_inside``: whether a percentile lies in the bins around its rank."""
    grouped = counts.transform(by_scope).groupBy(*RUN_GROUP, "latency", "bin").agg(sf.sum("txns").alias("txns"))
    group = Window.partitionBy(*RUN_GROUP, "latency")
    so_far = group.orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    whole = group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    ranked = grouped.withColumns(
        {"below": sf.sum("txns").over(so_far) - sf.col("txns"), "all": sf.sum("txns").over(whole)}
    )
    bounds = ranked.groupBy(*RUN_GROUP, "latency").agg(
        *(bound for name, share in SHARES.items() for bound in _bounds(name, share))
    )
    figures = sf.array(
        *(
            sf.struct(
                sf.lit(latency).alias("latency"),
                sf.lit(name).alias("share"),
                sf.lit(f"{latency}_latency_{name}_ms").alias("figure"),
                sf.col(f"{latency}_latency_{name}_ms").alias("value_ms"),
            )
            for latency in LATENCIES
            for name in SHARES
        )
    )
    values = told.select(*RUN_GROUP, sf.explode(figures).alias("one")).select(*RUN_GROUP, "one.*")
    both = values.join(bounds, on=[*RUN_GROUP, "latency"], how="left")
    value_us = sf.col("value_ms") * 1000.0
    checks = [
        (sf.col("share") == name)
        & (value_us > sf.col(f"{name}_low_us") - 1e-3)
        & (value_us < sf.col(f"{name}_high_us") + 1e-3)
        for name in SHARES
    ]
    is_inside = checks[0] | checks[1] | checks[2]
    is_empty = sf.col("value_ms").isNull() & sf.col("p50_low_us").isNull()
    return both.select(*RUN_GROUP, "figure", sf.coalesce(is_empty | is_inside, sf.lit(False)).alias("is_inside"))


def _bounds(name: str, share: float) -> list[Column]:
    """The lowest value of the bin that holds the order statistic below a percentile, the highest of the one above."""
    low = sf.floor(share * (sf.col("all") - 1))
    high = sf.least(low + 1, sf.col("all") - 1)
    return [
        sf.max(sf.when(_holds(low), _edge_us(0))).alias(f"{name}_low_us"),
        sf.max(sf.when(_holds(high), _edge_us(1) - 1)).alias(f"{name}_high_us"),
    ]


def _holds(rank: Column) -> Column:
    return (sf.col("below") <= rank) & (rank < sf.col("below") + sf.col("txns"))


def _edge_us(bins_on: int) -> Column:
    """Where the bin ``bins_on`` after this one begins."""
    place = sf.col("bin") + bins_on
    shift = sf.greatest(sf.floor(place / (1 << BITS)) - 1, sf.lit(0))
    return (place - shift * (1 << BITS)) * sf.pow(sf.lit(2.0), shift)
