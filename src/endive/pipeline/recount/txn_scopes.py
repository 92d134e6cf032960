"""The three scopes of ``endive.pipeline.analysis.scopes`` on Spark: one row counts in each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as sf

from endive.pipeline.analysis.scopes import ALL, OPERATION, SOURCE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def by_scope(frame: DataFrame) -> DataFrame:
    """Each row three times, once per scope: ``kind`` and ``source`` give way to ``scope`` and ``name``."""
    kept = [column for column in frame.columns if column not in ("kind", "source")]
    exploded = frame.withColumn("label", sf.explode(scope_labels(sf.col("kind"), sf.col("source"))))
    return exploded.select(*kept, "label.scope", "label.name")


def scope_labels(kind: Column, source: Column) -> Column:
    """``scope`` and ``name`` of the three groups that a txn of this kind and source belongs to."""
    return sf.array(_label(ALL, sf.lit(ALL)), _label(OPERATION, kind), _label(SOURCE, source))


def _label(scope: str, name: Column) -> Column:
    return sf.struct(sf.lit(scope).alias("scope"), name.alias("name"))
