"""How much a configuration changed while it was measured.

This file defines the drift of commit latency from one half of the window to the other, all seeds together. Both
halves are in the figures of a run, so studies without txns have it too. From when on it is a warning is in
``endive.pipeline.analysis.warning_table``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from endive.pipeline.analysis.measured import ratio
from endive.pipeline.analysis.scopes import POINT

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def drift(runs: DataFrame) -> DataFrame:
    """``POINT`` and ``commit_latency_drift``: how much slower commits got within the window.

    The mean commit latency of txns submitted in its second half, relative to that of the first, less 1. Null where a
    half has no commit. ``commits_half_min`` is the smaller number of commits behind it.
    """
    sums = (
        runs.where("status = 'ok'")
        .groupBy(*POINT)
        .agg(
            *(sf.sum(f"txns_committed_{half}_half").alias(half) for half in ("first", "second")),
            *(_latency_us(half).alias(f"{half}_us") for half in ("first", "second")),
        )
    )
    first, second = (ratio(sf.col(f"{half}_us"), sf.col(half)) for half in ("first", "second"))
    return sums.select(
        *POINT,
        (ratio(second, first) - 1).alias("commit_latency_drift"),
        sf.least("first", "second").alias("commits_half_min"),
    )


def _latency_us(half: str) -> Column:
    """The sum of latencies in whole microseconds, which the mean was made from: whole numbers add up in any order."""
    sum_us = sf.col(f"commit_latency_{half}_half_mean_ms") * 1000 * sf.col(f"txns_committed_{half}_half")
    return sf.coalesce(sf.sum(sf.round(sum_us).cast("bigint")), sf.lit(0))
