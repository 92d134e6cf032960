"""How often txns tried, and what being behind cost them.

This file defines two histograms over the window's txns that ended, all seeds of a configuration together: attempts,
and the convoy (manifest lists read against n_behind). Both are roll-ups of the tally, so no txn is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT_GROUP, RUN, by_scope
from endive.pipeline.analysis.tally import bin_high

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ATTEMPTS: Final = (*POINT_GROUP, "attempts_low", "attempts_high", "txns_committed", "txns_aborted", "share")
CONVOY: Final = (
    *POINT_GROUP,
    "n_behind_low",
    "n_behind_high",
    "txns",
    "n_behind_mean",
    "history_lists_mean",
    "history_mean_ms",
    "attempts_mean",
    "commit_latency_mean_ms",
    "success_rate",
)

_IS_ENDED: Final = "in_window and outcome not in ('executing', 'committing')"


def attempts_histogram(tallies: DataFrame, points: DataFrame) -> DataFrame:
    """``ATTEMPTS``: txns by the number of their commit attempts, and their share of all that ended."""
    is_committed = sf.col("outcome") == "committed"
    counts = (
        tallies.where(_IS_ENDED)
        .transform(by_scope)
        .join(sf.broadcast(points), on=list(RUN), how="inner")
        .groupBy(*POINT_GROUP, "attempts_low")
        .agg(
            sf.sum(sf.when(is_committed, sf.col("txns")).otherwise(0)).alias("txns_committed"),
            sf.sum(sf.when(is_committed, 0).otherwise(sf.col("txns"))).alias("txns_aborted"),
        )
        .withColumn("txns", sf.col("txns_committed") + sf.col("txns_aborted"))
    )
    group = Window.partitionBy(*POINT_GROUP).rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    return (
        counts.withColumn("attempts_high", bin_high(sf.col("attempts_low")))
        .withColumn("share", ratio(sf.col("txns"), sf.sum("txns").over(group)))
        .select(*ATTEMPTS)
    )


def convoy(tallies: DataFrame, points: DataFrame) -> DataFrame:
    """``CONVOY``: of txns that read history, what they read and how long it took, by n_behind at first."""
    is_committed = sf.col("outcome") == "committed"
    sums = (
        tallies.where(_IS_ENDED)
        .where("n_behind_low is not null")
        .transform(by_scope)
        .join(sf.broadcast(points), on=list(RUN), how="inner")
        .groupBy(*POINT_GROUP, "n_behind_low")
        .agg(
            *(
                sf.sum(name).alias(name)
                for name in ("txns", "n_behind", "history_lists", "phase_history_us", "attempts", "commit_us")
            ),
            sf.sum(sf.when(is_committed, sf.col("txns")).otherwise(0)).alias("txns_committed"),
        )
    )
    txns = sf.col("txns")
    return sums.select(
        *POINT_GROUP,
        "n_behind_low",
        bin_high(sf.col("n_behind_low")).alias("n_behind_high"),
        "txns",
        ratio(sf.col("n_behind"), txns).alias("n_behind_mean"),
        ratio(sf.col("history_lists"), txns).alias("history_lists_mean"),
        ratio(sf.col("phase_history_us"), 1000 * txns).alias("history_mean_ms"),
        ratio(sf.col("attempts"), txns).alias("attempts_mean"),
        ratio(sf.col("commit_us"), 1000 * txns).alias("commit_latency_mean_ms"),
        ratio(sf.col("txns_committed"), txns).alias("success_rate"),
    ).select(*CONVOY)
