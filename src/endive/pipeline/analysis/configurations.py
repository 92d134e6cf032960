"""The table most readers want: one row per configuration, the leading figures with their intervals.

This file defines which figures lead, and puts the verdict on each configuration beside them; the verdict itself is
``endive.pipeline.analysis.verdicts``'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.breakdown import with_interval
from endive.pipeline.analysis.scopes import POINT_GROUP
from endive.pipeline.analysis.verdicts import VERDICTS

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
    *VERDICTS,
    *(column for figure in LEADING for column in with_interval(figure)),
)


def configurations(figures: DataFrame, verdicts: DataFrame) -> DataFrame:
    """``CONFIGURATIONS``, from the table of all figures across seeds and the verdicts on groups that are judged."""
    wide = (
        figures.where(sf.col("figure").isin(*LEADING))
        .groupBy(*POINT_GROUP)
        .agg(
            sf.max("seeds").alias("seeds"),
            *(
                _statistic(figure, statistic, figure if statistic == "mean" else f"{figure}_{statistic}")
                for figure in LEADING
                for statistic in ("mean", "stddev", "ci95_low", "ci95_high")
            ),
        )
    )
    return wide.join(sf.broadcast(verdicts), on=list(POINT_GROUP), how="left").select(*CONFIGURATIONS)


def _statistic(figure: str, statistic: str, alias: str) -> Column:
    return sf.expr(f"max(if(figure = '{figure}', {statistic}, null)) as {alias}")
