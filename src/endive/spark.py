"""Endive in a PySpark session of your own.

``simulate`` turns a DataFrame of configurations and seeds into one with their results; ``plan`` makes such a DataFrame
of a study; ``attach`` lets a session read what ``endive sweep`` has written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from endive.pipeline.dataset.dataset_table import create_views
from endive.pipeline.sweep.simulate import simulate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["attach", "plan", "simulate"]


def attach(spark: SparkSession, dataset: str | Path | None = None) -> None:
    """Register the data source ``endive`` and, of a dataset, the views ``runs``, ``points`` and ``txns``."""
    from endive.pipeline.dataset.datasource import EndiveDataSource

    spark.dataSource.register(EndiveDataSource)
    if dataset is not None:
        create_views(spark, str(dataset))


def plan(
    spark: SparkSession, study: str | Path, *, overrides: Sequence[str] = (), seeds: int | None = None
) -> DataFrame:
    """Return the runs of a study file: ``config`` and ``seed``, with ``study``, ``point`` and the axes beside them."""
    import pyarrow as pa

    from endive.config.study import load_study
    from endive.pipeline.sweep.plan import PlannedStudy, axis_values

    planned = PlannedStudy.of(load_study(Path(study), overrides, seeds))
    rows = [
        {
            "study": planned.study.name,
            "point": run.point,
            **axis_values(planned.axes, run.values),
            "seed": run.seed,
            "config": run.local_config(),
        }
        for run in planned.runs
    ]
    schema = pa.schema(
        [
            ("study", pa.string()),
            ("point", pa.int32()),
            *planned.axes,
            ("seed", pa.int64()),
            ("config", pa.string()),
        ]
    )
    frame: DataFrame = spark.createDataFrame(pa.Table.from_pylist(rows, schema))
    return frame
