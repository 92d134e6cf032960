"""Across seeds: mean, standard deviation and confidence interval of every figure of a configuration.

This file defines the statistics over repetitions. Values are added in the order of their seeds, whatever order Spark
finds them in, so that an analysis gives the same bits again. The method's constant is
``endive.pipeline.analysis.confidence``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.confidence import student_t_table
from endive.pipeline.analysis.measured import EXTRA_FIGURES, ratio_sql
from endive.pipeline.analysis.scopes import POINT_GROUP, RUN
from endive.pipeline.dataset.figure_columns import FIGURES
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

STATISTICS: Final = ("seeds", "mean", "stddev", "ci95_low", "ci95_high")
FIGURE_TABLE: Final = (*POINT_GROUP, "figure", *STATISTICS)

REQUEST_COUNTS: Final = tuple(f"requests_{request}" for request in s.REQUESTS)
CONFLICT_COUNTS: Final = ("restarts", "history_lists", *s.COUNTERS)
ABORT_COUNTS: Final = tuple(f"txns_aborted_{reason}" for reason in s.REASONS[1:])
BYTE_COUNTS: Final = ("bytes_read", "bytes_written")
PER_TXN: Final = "_per_txn"
PER_COMMITTED: Final = "_per_committed_txn"
SHARE_FIGURES: Final = ("success_rate", "in_flight_committing_share")  # never above 1


def across_seeds(values: DataFrame, keys: Sequence[str], seeds_max: int) -> DataFrame:
    """``STATISTICS`` of ``value`` for each of ``keys``; ``values`` has a ``seed`` too, and null is no value.

    Values are never negative, so intervals are cut off at 0. ``seeds_max``: no group has more seeds than this.
    """
    table = sf.array(*(sf.lit(t) for t in student_t_table(seeds_max)))
    gathered = (
        values.where("value is not null")
        .groupBy(*keys)
        .agg(sf.sort_array(sf.collect_list(sf.struct("seed", "value"))).alias("pairs"))
        .select(*keys, sf.transform("pairs", lambda pair: pair["value"]).alias("values"))
        .withColumn("seeds", sf.size("values"))
        .withColumn("mean", _total(sf.col("values")) / sf.col("seeds"))
        .withColumn("stddev", _stddev(sf.col("values"), sf.col("mean"), sf.col("seeds")))
    )
    reach = sf.get(table, sf.col("seeds") - 2) * sf.col("stddev") / sf.sqrt(sf.col("seeds").cast("double"))
    return gathered.withColumn("reach", sf.when(sf.col("seeds") > 1, reach)).select(
        *keys,
        "seeds",
        "mean",
        "stddev",
        sf.when(sf.col("seeds") > 1, sf.greatest(sf.col("mean") - sf.col("reach"), sf.lit(0.0))).alias("ci95_low"),
        (sf.col("mean") + sf.col("reach")).alias("ci95_high"),
    )


def figures_across_seeds(measured: DataFrame, points: DataFrame, unused: Collection[str], seeds_max: int) -> DataFrame:
    """``FIGURE_TABLE``: every figure of every configuration, operation type and source.

    ``points`` says which ``study`` and ``run_id`` belongs to which ``point`` and ``seed``. Counts named in ``unused``
    are zero everywhere and left out.
    """
    figures = _figures(unused)
    names = ", ".join(f"'{name}'" for name in figures)
    values = measured.join(sf.broadcast(points), on=list(RUN), how="inner").selectExpr(
        *POINT_GROUP, "seed", f"posexplode(array({', '.join(figures.values())})) as (place, value)"
    )
    found = across_seeds(values, (*POINT_GROUP, "place"), seeds_max).selectExpr(
        "*",
        f"coalesce(array({names})[place], '') as figure",  # never null, and Spark is to know it
    )
    is_share = sf.col("figure").isin(*SHARE_FIGURES)
    high = sf.when(is_share, sf.least("ci95_high", sf.lit(1.0))).otherwise(sf.col("ci95_high"))
    return found.withColumn("ci95_high", sf.when(sf.col("seeds") > 1, high)).select(*FIGURE_TABLE)


def _figures(unused: Collection[str]) -> dict[str, str]:
    """Every figure as an expression; counts also per txn that ended and per committed txn."""
    counts = (*REQUEST_COUNTS, *CONFLICT_COUNTS, *ABORT_COUNTS, *BYTE_COUNTS)
    ended = f"({' + '.join(['txns_committed', *ABORT_COUNTS])})"
    figures = {name: f"cast({name} as double)" for name in (*FIGURES, *EXTRA_FIGURES) if name not in unused}
    for name in (name for name in counts if name not in unused):
        figures[f"{name}{PER_TXN}"] = ratio_sql(name, ended)
        figures[f"{name}{PER_COMMITTED}"] = ratio_sql(name, "txns_committed")
    return figures


def _total(values: Column) -> Column:
    return sf.aggregate(values, sf.lit(0.0), lambda total, value: total + value)


def _stddev(values: Column, mean: Column, count: Column) -> Column:
    """Of a sample: n - 1 below the fraction; null for a single value."""
    squares = sf.aggregate(values, sf.lit(0.0), lambda total, value: total + (value - mean) * (value - mean))
    return sf.when(count > 1, sf.sqrt(squares / (count - 1)))
