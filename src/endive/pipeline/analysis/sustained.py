"""The highest load a configuration sustains, along the load axis.

This file defines the reading of a curve: points that differ in load only, from the lowest load up. A load is sustained
if it and every lower one on the curve meet the objective; a point of which that cannot be said counts as one that
misses it. Which axis is the load is said by ``endive.pipeline.analysis.load_axis``, and who meets the objective by
``endive.pipeline.analysis.verdicts``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.scopes import ALL, GROUP, POINT, POINT_GROUP

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CURVE: Final = ("study", "curve", *GROUP)
SUSTAINED: Final = (
    *CURVE,
    "points",
    "sustained_point",
    "sustained_load",
    "sustained_offered_per_s",
    "sustained_committed_per_s",
    "missed_point",
    "missed_load",
    "missed_offered_per_s",
    "misses",
    "committed_in_window_max_per_s",
    "success_rate_at_max",
    "is_monotone",
)


def sustained(configurations: DataFrame, places: DataFrame) -> DataFrame:
    """``SUSTAINED``: one row per curve, and per operation type and source of it that the objective speaks of.

    ``places`` gives every ``study`` and ``point`` its ``curve``, its ``load`` (the axis's value, or null) and whether
    points are ordered by it (``is_ordered_by_load``) or by the offered rate of the whole run, which is the default.
    """
    needed = ("offered_per_s", "committed_per_s", "committed_in_window_per_s", "success_rate", "verdict")
    configurations = configurations.select(*POINT_GROUP, *needed, "meets_objective", "misses")
    offered = configurations.where(sf.col("scope") == ALL).select(
        *POINT, sf.col("offered_per_s").alias("run_offered_per_s")
    )
    ordered = (
        configurations.where((sf.col("scope") == ALL) | sf.col("verdict").isNotNull())
        .join(sf.broadcast(places), on=list(POINT), how="inner")
        .join(sf.broadcast(offered), on=list(POINT), how="inner")
        .withColumn(
            "order", sf.when(sf.col("is_ordered_by_load"), sf.col("load")).otherwise(sf.col("run_offered_per_s"))
        )
        .withColumn("is_over", ~sf.coalesce("meets_objective", sf.lit(False)))
    )
    judged = ordered.withColumns(
        {
            "is_past": _so_far(sf.col("is_over")),
            "rank": sf.row_number().over(Window.partitionBy(*CURVE).orderBy("order", "point")),
        }
    )
    return judged.groupBy(*CURVE).agg(*_columns()).select(*SUSTAINED)


def _so_far(condition: Column) -> Column:
    """Whether a condition holds at this point of the curve or at a lower one."""
    below = (
        Window.partitionBy(*CURVE).orderBy("order", "point").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return sf.max(condition).over(below)


def _columns() -> list[Column]:
    col, rank = sf.col, sf.col("rank")
    held = ~col("is_past")

    def last_held(name: str) -> Column:
        return sf.max_by(name, sf.when(held, rank))

    def first_over(name: str) -> Column:
        return sf.min_by(name, sf.when(col("is_over"), rank))

    return [
        sf.count(sf.lit(1)).cast("int").alias("points"),
        last_held("point").alias("sustained_point"),
        last_held("load").alias("sustained_load"),
        last_held("run_offered_per_s").alias("sustained_offered_per_s"),
        last_held("committed_per_s").alias("sustained_committed_per_s"),
        first_over("point").alias("missed_point"),
        first_over("load").alias("missed_load"),
        first_over("run_offered_per_s").alias("missed_offered_per_s"),
        first_over("misses").alias("misses"),
        sf.max("committed_in_window_per_s").alias("committed_in_window_max_per_s"),
        sf.max_by("success_rate", "committed_in_window_per_s").alias("success_rate_at_max"),
        (~sf.max(col("is_past") & ~col("is_over"))).alias("is_monotone"),
    ]
