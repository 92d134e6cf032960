"""The highest load a configuration sustains, along the load axis.

This file defines the reading of a curve: points that differ in load only, from the lowest load up. A point is
saturated by the experiment plan's rule on the means over its seeds (success rate below 95 %, or P95 of commit latency
above twice its P50); a point of which no txn ended counts as saturated. The sustained load is the highest one such
that it and every lower one on the curve are not saturated. Which axis is the load is
``endive.pipeline.analysis.load_axis``'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import Window
from pyspark.sql import functions as sf

from endive.pipeline.analysis.configurations import BY_LATENCY
from endive.pipeline.analysis.scopes import ALL, GROUP, POINT, POINT_GROUP

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

CURVE: Final = ("study", "curve", *GROUP)
SATURATION: Final = (
    *CURVE,
    "points",
    "sustained_point",
    "sustained_load",
    "sustained_offered_per_s",
    "sustained_committed_per_s",
    "saturated_point",
    "saturated_load",
    "saturated_offered_per_s",
    "saturation_sign",
    "sustained_by_success_offered_per_s",
    "committed_in_window_max_per_s",
    "is_monotone",
)


def saturation(configurations: DataFrame, places: DataFrame) -> DataFrame:
    """``SATURATION``: one row per curve, operation type and source.

    ``places`` gives every ``study`` and ``point`` its ``curve``, its ``load`` (the axis's value, or null) and whether
    points are ordered by it (``is_ordered_by_load``) or by the offered rate of the whole run, which is the default.
    """
    needed = ("offered_per_s", "committed_per_s", "committed_in_window_per_s", "saturated", "saturation_sign")
    configurations = configurations.select(*POINT_GROUP, *needed)
    offered = configurations.where(sf.col("scope") == ALL).select(
        *POINT, sf.col("offered_per_s").alias("run_offered_per_s")
    )
    ordered = (
        configurations.join(sf.broadcast(places), on=list(POINT), how="inner")
        .join(sf.broadcast(offered), on=list(POINT), how="inner")
        .withColumn(
            "order", sf.when(sf.col("is_ordered_by_load"), sf.col("load")).otherwise(sf.col("run_offered_per_s"))
        )
        .withColumn("is_over", sf.coalesce("saturated", sf.lit(True)))
    )
    is_failing = sf.col("is_over") & sf.coalesce(sf.col("saturation_sign") != BY_LATENCY, sf.lit(True))
    judged = ordered.withColumns(
        {
            "is_past": _so_far(sf.col("is_over")),
            "is_past_success": _so_far(is_failing),
            "rank": sf.row_number().over(Window.partitionBy(*CURVE).orderBy("order", "point")),
        }
    )
    return judged.groupBy(*CURVE).agg(*_columns()).select(*SATURATION)


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
        first_over("point").alias("saturated_point"),
        first_over("load").alias("saturated_load"),
        first_over("run_offered_per_s").alias("saturated_offered_per_s"),
        first_over("saturation_sign").alias("saturation_sign"),
        sf.max(sf.when(~col("is_past_success"), col("run_offered_per_s"))).alias("sustained_by_success_offered_per_s"),
        sf.max("committed_in_window_per_s").alias("committed_in_window_max_per_s"),
        (~sf.max(col("is_past") & ~col("is_over"))).alias("is_monotone"),
    ]
