"""Groups of txns that are measured on their own: all of a run, each operation type, each source.

This file defines the three scopes and the step that lets one row count in each of them. Measures nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ALL: Final = "all"  # scope and name of the whole run
OPERATION: Final = "operation"
SOURCE: Final = "source"

RUN: Final = ("study", "run_id")
GROUP: Final = ("scope", "name")
RUN_GROUP: Final = (*RUN, *GROUP)
POINT: Final = ("study", "point")
POINT_GROUP: Final = (*POINT, *GROUP)


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
