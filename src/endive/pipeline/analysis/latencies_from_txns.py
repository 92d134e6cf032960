"""Latencies derived from single txns: exact percentiles of every group of a run, and counts on the grid.

The sweep has measured both while it simulated; here they are made a second time, on Spark, to test that. Percentiles
are the order statistics of the whole group, interpolated linearly as ``endive.results.summary`` does, operation by
operation, so that both give the same number; all latencies of a run come together in one place for that, so runs of
more than ``EXACT_TXNS_MAX`` txns are left to the grid. The grid's own arithmetic, ``endive.results.latency_grid``, is
written once more, in SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.txn_counts import us
from endive.results.latency_grid import BITS
from endive.tables.scopes import ALL, OPERATION, RUN, RUN_GROUP, SOURCE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT_TXNS_MAX: Final = 4_000_000  # of one run; about 32 bytes each while they are sorted
SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
LATENCIES: Final = ("commit", "total")
PERCENTILE_COLUMNS: Final = tuple(f"{latency}_latency_{name}_ms" for latency in LATENCIES for name in SHARES)


def by_scope(frame: DataFrame) -> DataFrame:
    """Each row three times, once per scope: ``kind`` and ``source`` give way to ``scope`` and ``name``."""
    names = {ALL: sf.lit(ALL), OPERATION: sf.col("kind"), SOURCE: sf.col("source")}
    labels = sf.array(*(sf.struct(sf.lit(scope).alias("scope"), name.alias("name")) for scope, name in names.items()))
    kept = [column for column in frame.columns if column not in ("kind", "source")]
    return frame.withColumn("label", sf.explode(labels)).select(*kept, "label.scope", "label.name")


def committed_latencies(txns: DataFrame) -> DataFrame:
    """Both latencies of every txn of ``with_window`` that was submitted in the window and committed."""
    return txns.where("in_window and status = 'committed'").select(
        "study",
        "run_id",
        "kind",
        "source",
        sf.expr(us("commit_latency_ms")).alias("commit_us"),
        sf.expr(us("total_latency_ms")).alias("total_us"),
    )


def exact_percentiles(latencies: DataFrame) -> DataFrame:
    """``RUN_GROUP`` and ``PERCENTILE_COLUMNS``. The latencies of a group come together in one row."""
    parts = latencies.groupBy(*RUN, "kind", "source").agg(
        *(sf.collect_list(f"{name}_us").alias(name) for name in LATENCIES)
    )
    whole = [sf.sort_array(sf.flatten(sf.collect_list(name))).alias(name) for name in LATENCIES]
    return (
        parts.transform(by_scope)
        .groupBy(*RUN_GROUP)
        .agg(*whole)
        .select(
            *RUN_GROUP,
            *(
                (interpolate(sf.col(name), share) / 1000.0).alias(f"{name}_latency_{percentile}_ms")
                for name in LATENCIES
                for percentile, share in SHARES.items()
            ),
        )
    )


def interpolate(ordered: Column, share: float) -> Column:
    """The ``share`` quantile of a sorted array that is not empty, in NumPy's order of operations."""
    position = (sf.size(ordered) - 1) * share
    below = sf.floor(position).cast("int")
    low = sf.get(ordered, below)
    high = sf.get(ordered, sf.least(below + 1, sf.size(ordered) - 1))
    part = position - below
    difference = high - low
    return sf.when(part >= 0.5, high - difference * (1 - part)).otherwise(low + difference * part)


# ---- on the grid ---------------------------------------------------------------------------------------


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


def find_brackets(counts: DataFrame, told: DataFrame) -> DataFrame:
    """``RUN_GROUP``, ``figure`` and ``is_inside``: whether a percentile lies in the bins around its rank."""
    grouped = counts.transform(by_scope).groupBy(*RUN_GROUP, "latency", "bin").agg(sf.sum("txns").alias("txns"))
    group = Window.partitionBy(*RUN_GROUP, "latency")
    so_far = group.orderBy("bin").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    whole = group.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    ranked = grouped.withColumns(
        {"below": sf.sum("txns").over(so_far) - sf.col("txns"), "all": sf.sum("txns").over(whole)}
    )
    figures = [
        sf.struct(
            sf.lit(latency).alias("latency"),
            sf.lit(figure := f"{latency}_latency_{name}_ms").alias("figure"),
            sf.lit(share).alias("share"),
            (sf.col(figure) * 1000.0).alias("value_us"),
        )
        for latency in LATENCIES
        for name, share in SHARES.items()
    ]
    values = told.select(*RUN_GROUP, sf.explode(sf.array(*figures)).alias("one")).select(*RUN_GROUP, "one.*")
    rank = sf.floor(sf.col("share") * (sf.col("all") - 1))  # of the order statistic below a percentile
    bounds = {
        "low_us": sf.max(sf.when(_holds(rank), _edge_us(0))),
        "high_us": sf.max(sf.when(_holds(sf.least(rank + 1, sf.col("all") - 1)), _edge_us(1) - 1)),
    }
    both = values.join(ranked, on=[*RUN_GROUP, "latency"], how="left")
    bounded = both.groupBy(*RUN_GROUP, "figure", "value_us").agg(*(end.alias(name) for name, end in bounds.items()))
    is_inside = "value_us > low_us - 1e-3 and value_us < high_us + 1e-3 or value_us is null and low_us is null"
    return bounded.selectExpr(*RUN_GROUP, "figure", f"coalesce({is_inside}, false) as is_inside")


def _holds(rank: Column) -> Column:
    return (sf.col("below") <= rank) & (rank < sf.col("below") + sf.col("txns"))


def _edge_us(bins_on: int) -> Column:
    """Where the bin ``bins_on`` after this one begins."""
    place = sf.col("bin") + bins_on
    shift = sf.greatest(sf.floor(place / (1 << BITS)) - 1, sf.lit(0))
    return (place - shift * (1 << BITS)) * sf.pow(sf.lit(2.0), shift)
