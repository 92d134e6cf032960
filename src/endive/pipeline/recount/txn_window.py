"""The measurement window on Spark: which txns count, by the clock's own microseconds.

This file defines the way back from milliseconds to the integers the simulator counted, and the two questions asked of
every txn. The bounds come with each run; how long warm-up and cool-down are is the configuration's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def us(column_ms: str) -> Column:
    """Milliseconds as the whole microseconds they were made from; null stays null."""
    return sf.expr(us_sql(column_ms))


def us_sql(column_ms: str) -> str:
    """``us`` as text: a wide frame is built from texts, since every call for a column is a trip to the JVM."""
    return f"cast({column_ms} * 1000.0D + 0.5D as bigint)"


def windows(runs: DataFrame) -> DataFrame:
    """The window of every run that ended: ``study``, ``run_id`` and its bounds in microseconds."""
    return runs.where("status = 'ok'").select(
        "study",
        "run_id",
        us("duration_ms").alias("duration_us"),
        us("window_start_ms").alias("window_start_us"),
        us("window_end_ms").alias("window_end_us"),
    )


def with_window(txns: DataFrame, bounds: DataFrame) -> DataFrame:
    """Txns with their run's bounds, ``submit_us``, ``end_us``, and whether they count.

    ``in_window``: submitted in ``[start, end)``. ``is_commit_in_window``: committed in it, whenever submitted. Txns of
    runs that ``bounds`` does not know are left out.
    """
    return txns.join(sf.broadcast(bounds), on=["study", "run_id"], how="inner").transform(_judged)


def _judged(txns: DataFrame) -> DataFrame:
    timed = txns.withColumns({"submit_us": us("submit_ms"), "end_us": us("end_ms")})
    is_commit = sf.col("status") == "committed"
    return timed.withColumns(
        {
            "in_window": _is_inside("submit_us"),
            "is_commit_in_window": is_commit & sf.coalesce(_is_inside("end_us"), sf.lit(False)),
        }
    )


def _is_inside(column_us: str) -> Column:
    return (sf.col(column_us) >= sf.col("window_start_us")) & (sf.col(column_us) < sf.col("window_end_us"))
