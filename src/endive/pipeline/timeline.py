"""Commit rate over simulated time: the whole run in equal bins, warm-up and cool-down included.

Owns the bins, and what they say about a window that is not steady. Txns count where they happen: submissions when
submitted, commits and aborts when they end; the latency of a bin is that of the txns submitted in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.scopes import ALL, POINT, POINT_GROUP, RUN, RUN_GROUP, by_scope
from endive.pipeline.seeds import across_seeds
from endive.pipeline.summarise import ratio
from endive.pipeline.window import us

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

BINS_DEFAULT: Final = 60
BINS_MAX: Final = 10_000

BIN: Final = ("bin", "start_ms", "end_ms", "in_window")  # in_window: the bin lies in the window, wholly
COUNTS: Final = ("submitted", "committed", "aborted", "latency_us", "latency_txns")
RUN_TIMELINE: Final = (*RUN_GROUP, *BIN, *COUNTS)
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


def run_timeline(counts: DataFrame, bounds: DataFrame, bins: int) -> DataFrame:
    """``RUN_TIMELINE``: every bin of every run, operation type and source, also those in which nothing happened.

    ``counts`` are those of ``binned``, ``bounds`` the ``windows`` of the runs.
    """
    found = (
        counts.transform(_by_bin)
        .transform(by_scope)
        .groupBy(*RUN_GROUP, "bin")
        .agg(*(sf.sum(name).alias(name) for name in COUNTS))
    )
    grid = (
        found.select(*RUN_GROUP)
        .distinct()
        .withColumn("bin", sf.explode(sf.sequence(sf.lit(0), sf.lit(bins - 1))))
        .join(sf.broadcast(bounds), on=list(RUN), how="inner")
        .select(*RUN_GROUP, "bin", *_edges(bins))
    )
    return grid.join(found, on=[*RUN_GROUP, "bin"], how="left").na.fill(0, list(COUNTS)).select(*RUN_TIMELINE)


def timeline_across_seeds(timeline: DataFrame, points: DataFrame, seeds_max: int) -> DataFrame:
    """``TIMELINE``: rates of every configuration over time, that of commits with its interval."""
    keys = [*POINT_GROUP, *BIN]
    located = timeline.join(sf.broadcast(points), on=list(RUN), how="inner")
    length_s = (sf.col("end_ms") - sf.col("start_ms")) / 1000.0
    commits = across_seeds(
        located.select(*keys, "seed", (sf.col("committed") / length_s).alias("value")), keys, seeds_max
    )
    sums = located.groupBy(*keys).agg(*(sf.sum(name).alias(name) for name in COUNTS))

    def per_s(count: str) -> Column:
        return (sf.col(count) / sf.col("seeds") / length_s).alias(f"{count}_per_s")

    return commits.join(sums, on=keys, how="inner").select(
        *keys,
        "seeds",
        per_s("submitted"),
        sf.col("mean").alias("committed_per_s"),
        sf.col("stddev").alias("committed_per_s_stddev"),
        sf.col("ci95_low").alias("committed_per_s_ci95_low"),
        sf.col("ci95_high").alias("committed_per_s_ci95_high"),
        per_s("aborted"),
        ratio(sf.col("latency_us"), 1000 * sf.col("latency_txns")).alias("commit_latency_mean_ms"),
    )


def drift(timeline: DataFrame, points: DataFrame) -> DataFrame:
    """``POINT`` and ``commit_latency_drift``: how much slower commits got within the window, all seeds together.

    The mean commit latency of txns submitted in its second half, relative to that of the first, less 1. Null where a
    half has no commit. ``commits_half_min`` is the smaller number of commits behind it.
    """
    inside = (
        timeline.where((sf.col("scope") == ALL) & sf.col("in_window"))
        .join(sf.broadcast(points), on=list(RUN), how="inner")
        .select(*POINT, "bin", "latency_us", "latency_txns")
    )
    whole = Window.partitionBy(*POINT).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    middle = (sf.min("bin").over(whole) + sf.max("bin").over(whole) + 1) / 2.0
    halves = (
        inside.withColumn("is_late", sf.col("bin") + 0.5 > middle)
        .groupBy(*POINT)
        .agg(
            *(
                sf.sum(sf.when(sf.col("is_late") == is_late, sf.col(name)).otherwise(0)).alias(f"{name}_{half}")
                for half, is_late in (("early", False), ("late", True))
                for name in ("latency_us", "latency_txns")
            )
        )
    )
    early = ratio(sf.col("latency_us_early"), sf.col("latency_txns_early"))
    late = ratio(sf.col("latency_us_late"), sf.col("latency_txns_late"))
    return halves.select(
        *POINT,
        (ratio(late, early) - 1).alias("commit_latency_drift"),
        sf.least("latency_txns_early", "latency_txns_late").alias("commits_half_min"),
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
