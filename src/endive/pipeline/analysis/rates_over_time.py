"""Commit rate over simulated time: the whole run in equal bins, warm-up and cool-down included.

This file defines the bins. Txns count where they happen:
submissions when submitted, commits and aborts when they end; the latency of a bin is that of the txns submitted in
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.confidence import student_t_table
from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT, POINT_GROUP, RUN, RUN_GROUP, by_scope
from endive.pipeline.analysis.txn_window import us

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BINS_DEFAULT: Final = 60
BINS_MAX: Final = 10_000

BIN: Final = ("bin", "start_ms", "end_ms", "in_window")  # in_window: the bin lies in the window, wholly
COUNTS: Final = ("submitted", "committed", "committed_squared", "aborted", "latency_us", "latency_txns")
POINT_TIMELINE: Final = (*POINT_GROUP, *BIN, "seeds", *COUNTS)
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


def binned(txns: DataFrame, bins: int) -> DataFrame:
    """Txns of ``with_window``, counted by the bins in which they were submitted and ended: few rows for any txns."""
    counted = txns.select(
        *RUN,
        "kind",
        "source",
        "status",
        _bin("submit_us", bins).alias("submit_bin"),
        _bin("end_us", bins).alias("end_bin"),
        sf.when(sf.col("status") == "committed", us("commit_latency_ms")).alias("commit_us"),
    )
    return counted.groupBy(*RUN, "kind", "source", "status", "submit_bin", "end_bin").agg(
        sf.count(sf.lit(1)).alias("txns"), sf.coalesce(sf.sum("commit_us"), sf.lit(0)).alias("commit_us")
    )


def point_timeline(counts: DataFrame, points: DataFrame, bounds: DataFrame, bins: int) -> DataFrame:
    """``POINT_TIMELINE``: every bin of every configuration and scope, also those in which nothing happened.

    ``counts`` are those of ``binned``, ``bounds`` the ``windows`` of the runs. All numbers are whole, and sums over the
    ``seeds`` of a configuration; ``committed_squared`` is the sum of squares that their spread is made of.
    """
    counted = [name for name in COUNTS if name != "committed_squared"]
    found = (
        counts.transform(_by_bin)
        .groupBy(*RUN, "kind", "source", "bin")
        .agg(*(sf.sum(name).alias(name) for name in counted))  # before every row counts in three scopes
        .transform(by_scope)
        .groupBy(*RUN_GROUP, "bin")
        .agg(*(sf.sum(name).alias(name) for name in counted))
        .withColumn("committed_squared", sf.col("committed") * sf.col("committed"))
        .join(sf.broadcast(points), on=list(RUN), how="inner")
        .groupBy(*POINT_GROUP, "bin")
        .agg(*(sf.sum(name).alias(name) for name in COUNTS))
    )
    by_bin = sf.map_from_entries(sf.collect_list(sf.struct("bin", sf.struct(*COUNTS))))
    dense = (
        found.groupBy(*POINT_GROUP)
        .agg(by_bin.alias("by_bin"))
        .withColumn("bin", sf.explode(sf.sequence(sf.lit(0), sf.lit(bins - 1))))
        .withColumn("at", sf.try_element_at("by_bin", "bin"))
        .join(sf.broadcast(_point_bounds(bounds, points)), on=list(POINT), how="inner")
    )
    return dense.select(
        *POINT_GROUP,
        "bin",
        *_edges(bins),
        "seeds",
        *(sf.coalesce(sf.col("at")[name], sf.lit(0)).alias(name) for name in COUNTS),
    ).select(*POINT_TIMELINE)


def timeline_rates(timeline: DataFrame, seeds_max: int) -> DataFrame:
    """``TIMELINE``: the sums of ``point_timeline`` as rates, that of commits with its interval over seeds."""
    n, total = sf.col("seeds"), sf.col("committed")
    length_s = (sf.col("end_ms") - sf.col("start_ms")) / 1000.0
    squares = n * sf.col("committed_squared") - total * total  # n * (n - 1) * variance, in whole numbers
    stddev = sf.sqrt(squares.cast("double") / (n * (n - 1)).cast("double")) / length_s
    table = sf.array(*(sf.lit(t) for t in student_t_table(seeds_max)))
    reach = sf.get(table, n - 2) * stddev / sf.sqrt(n.cast("double"))
    mean = ratio(total, n) / length_s
    is_many = n > 1
    return timeline.select(
        *POINT_GROUP,
        *BIN,
        "seeds",
        (ratio(sf.col("submitted"), n) / length_s).alias("submitted_per_s"),
        mean.alias("committed_per_s"),
        sf.when(is_many, stddev).alias("committed_per_s_stddev"),
        sf.when(is_many, sf.greatest(mean - reach, sf.lit(0.0))).alias("committed_per_s_ci95_low"),
        sf.when(is_many, mean + reach).alias("committed_per_s_ci95_high"),
        (ratio(sf.col("aborted"), n) / length_s).alias("aborted_per_s"),
        ratio(sf.col("latency_us"), 1000 * sf.col("latency_txns")).alias("commit_latency_mean_ms"),
    ).select(*TIMELINE)


def _point_bounds(bounds: DataFrame, points: DataFrame) -> DataFrame:
    """The window of every configuration, that of any of its runs, and how many ``seeds`` it has."""
    names = ("duration_us", "window_start_us", "window_end_us")
    return (
        bounds.join(sf.broadcast(points), on=list(RUN), how="inner")
        .groupBy(*POINT)
        .agg(*(sf.max(name).alias(name) for name in names), sf.count(sf.lit(1)).cast("int").alias("seeds"))
    )


def _by_bin(counts: DataFrame) -> DataFrame:
    """Each count in its bin: submissions and latency in one, the end in another."""
    zero = sf.lit(0).cast("bigint")
    txns = sf.col("txns")
    is_committed = sf.col("status") == "committed"
    submission = {
        "bin": sf.col("submit_bin"),
        "submitted": txns,
        "committed": zero,
        "aborted": zero,
        "latency_us": sf.col("commit_us"),
        "latency_txns": sf.when(is_committed, txns).otherwise(zero),
    }
    end = {
        "bin": sf.col("end_bin"),
        "submitted": zero,
        "committed": sf.when(is_committed, txns).otherwise(zero),
        "aborted": sf.when(sf.col("status") == "aborted", txns).otherwise(zero),
        "latency_us": zero,
        "latency_txns": zero,
    }
    both = sf.array(*(sf.struct(*(value.alias(name) for name, value in one.items())) for one in (submission, end)))
    return (
        counts.select(*RUN, "kind", "source", sf.explode(both).alias("count"))
        .select(*RUN, "kind", "source", "count.*")
        .where("bin is not null")
    )


def _bin(column_us: str, bins: int) -> Column:
    """The number of the bin, by whole numbers; the last instant of a run belongs to its last bin."""
    return sf.expr(
        f"case when {column_us} is not null then "
        f"cast(least({column_us} * {bins} div duration_us, {bins - 1}) as int) end"
    )


def _edges(bins: int) -> list[Column]:
    start, end = sf.col("bin") * sf.col("duration_us"), (sf.col("bin") + 1) * sf.col("duration_us")
    return [
        (start / (1000.0 * bins)).alias("start_ms"),
        (end / (1000.0 * bins)).alias("end_ms"),
        ((start >= sf.col("window_start_us") * bins) & (end <= sf.col("window_end_us") * bins)).alias("in_window"),
    ]
