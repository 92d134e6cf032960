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

from endive.pipeline.analysis.scopes import ALL, OPERATION, RUN, RUN_GROUP, SOURCE
from endive.pipeline.analysis.txn_counts import us
from endive.results.latency_grid import BITS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT_TXNS_MAX: Final = 4_000_000  # of one run; about 32 bytes each while they are sorted
SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
LATENCIES: Final = ("commit", "total")
PERCENTILE_COLUMNS: Final = tuple(f"{latency}_latency_{name}_ms" for latency in LATENCIES for name in SHARES)


def by_scope(frame: DataFrame) -> DataFrame:
    """Each row three times, once per scope: ``kind`` and ``source`` give way to ``scope`` and ``name``."""
    kept = [column for column in frame.columns if column not in ("kind", "source")]
    exploded = frame.withColumn("label", sf.explode(scope_labels(sf.col("kind"), sf.col("source"))))
    return exploded.select(*kept, "label.scope", "label.name")


def scope_labels(kind: Column, source: Column) -> Column:
    """``scope`` and ``name`` of the three groups that a txn of this kind and source belongs to."""
    names = {ALL: sf.lit(ALL), OPERATION: kind, SOURCE: source}
    return sf.array(*(sf.struct(sf.lit(scope).alias("scope"), name.alias("name")) for scope, name in names.items()))


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
    """``RUN_GROUP`` and ``PERCENTILE_COLUMNS``. The latencies of a run come together in one row."""
    gathered = latencies.groupBy(*RUN, "kind", "source").agg(
        *(sf.collect_list(f"{name}_us").alias(name) for name in LATENCIES)
    )
    runs = gathered.groupBy(*RUN).agg(sf.collect_list(sf.struct("kind", "source", *LATENCIES)).alias("parts"))
    labelled = runs.select(*RUN, "parts", sf.explode(_labels("parts")).alias("label"))
    ordered = labelled.select(*RUN, "label.scope", "label.name", *(_order("parts", name) for name in LATENCIES))
    return ordered.select(
        *RUN_GROUP,
        *(
            (interpolated(sf.col(name), share) / 1000.0).alias(f"{name}_latency_{percentile}_ms")
            for name in LATENCIES
            for percentile, share in SHARES.items()
        ),
    )


def _labels(parts: str) -> Column:
    """The groups that a run's parts, by operation type and source, belong to."""
    return sf.array_distinct(
        sf.flatten(sf.transform(parts, lambda part: scope_labels(part.getField("kind"), part.getField("source"))))
    )


def _order(parts: str, latency: str) -> Column:
    """A latency of all parts that belong to the group ``label``, sorted."""
    label = sf.col("label")
    chosen = sf.filter(
        parts,
        lambda part: sf.array_contains(scope_labels(part.getField("kind"), part.getField("source")), label),
    )
    values = sf.transform(chosen, lambda part: part.getField(latency))
    return sf.sort_array(sf.flatten(values)).alias(latency)


def interpolated(ordered: Column, share: float) -> Column:
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
