"""The table most readers want: one row per configuration, the leading figures with their intervals.

This file defines which figures lead, and the verdict on each configuration: saturated or not, by the means over its
seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.breakdown import with_interval
from endive.pipeline.analysis.measured import is_saturated
from endive.pipeline.analysis.scopes import POINT_GROUP
from endive.results.summary import P95_OVER_P50_MAX, SUCCESS_RATE_MIN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LEADING: Final = (
    "offered_per_s",
    "committed_per_s",
    "committed_in_window_per_s",
    "success_rate",
    *(f"commit_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    *(f"total_latency_{name}_ms" for name in ("p50", "p95", "p99", "mean")),
    "retries_mean",
    "requests_per_txn",
    "requests_per_committed_txn",
    "in_flight_committing_share",
)
CONFIGURATIONS: Final = (
    *POINT_GROUP,
    "seeds",
    "saturated",
    "saturation_sign",
    "seeds_saturated",
    *(column for figure in LEADING for column in with_interval(figure)),
)

BY_SUCCESS: Final = "success rate"
BY_LATENCY: Final = "latency"
BY_BOTH: Final = "success rate and latency"


def configurations(figures: DataFrame) -> DataFrame:
    """``CONFIGURATIONS``, from the table of all figures across seeds.

    ``saturated`` applies the experiment plan's rule to the means over seeds; null if no txn of the window ended.
    ``seeds_saturated`` is how many seeds are, each by itself.
    """
    chosen = figures.where(sf.col("figure").isin(*LEADING, "saturated"))
    wide = chosen.groupBy(*POINT_GROUP).agg(
        sf.max("seeds").alias("seeds"),
        _statistic("saturated", "mean", "saturated_share"),
        _statistic("saturated", "seeds", "saturated_seeds"),
        *(
            _statistic(figure, statistic, figure if statistic == "mean" else f"{figure}_{statistic}")
            for figure in LEADING
            for statistic in ("mean", "stddev", "ci95_low", "ci95_high")
        ),
    )
    rule = (sf.col("success_rate"), sf.col("commit_latency_p50_ms"), sf.col("commit_latency_p95_ms"))
    judged = wide.withColumns(
        {
            "saturated": sf.when(sf.col("success_rate").isNotNull(), is_saturated(*rule)),
            "saturation_sign": _sign(*rule),
            "seeds_saturated": sf.round(sf.col("saturated_share") * sf.col("saturated_seeds")).cast("int"),
        }
    )
    return judged.select(*CONFIGURATIONS)


def _statistic(figure: str, statistic: str, alias: str) -> Column:
    return sf.expr(f"max(if(figure = '{figure}', {statistic}, null)) as {alias}")


def _sign(success_rate: Column, p50_ms: Column, p95_ms: Column) -> Column:
    """Which part of the rule says saturated; null if none does."""
    is_failing = sf.coalesce(success_rate < SUCCESS_RATE_MIN, sf.lit(False))
    is_late = sf.coalesce(p95_ms > P95_OVER_P50_MAX * p50_ms, sf.lit(False))
    return sf.when(is_failing & is_late, BY_BOTH).when(is_failing, BY_SUCCESS).when(is_late, BY_LATENCY)
