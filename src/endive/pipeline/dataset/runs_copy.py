"""The table of runs as a table of a Spark catalog, Iceberg's or Delta's: ``endive sweep --table``.

Rows that the table lacks are appended, whenever a sweep ends; one that was killed is made up for by the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa

from endive.errors import ConfigError, EndiveError, EngineError, OutputError
from endive.pipeline.dataset.files import Place
from endive.pipeline.dataset.runs_table import RUNS, read_rows
from endive.pipeline.spark.session import explain_spark, job_group

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS: Final = "endive.table"
RUNTIME: Final = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"


def check_table_name(name: str) -> str:
    """Return ``catalog.database.name``, or raise ConfigError."""
    parts = name.split(".")
    if len(parts) < 3 or not all(part.replace("_", "").replace("-", "").isalnum() for part in parts):
        raise ConfigError(f"--table {name} is no name of a table. Give catalog.database.name, as Spark SQL knows it.")
    return name


def append_missing(spark: SparkSession, root: Place, study: str, name: str) -> int:
    """Append the runs that the table lacks, with a column for each metric; return how many."""
    catalog = check_table_name(name).partition(".")[0]
    kind = spark.conf.get(f"spark.sql.catalog.{catalog}", "") or ""
    if not kind:
        raise ConfigError(
            f"--table {name}: the session knows no catalog '{catalog}'. Name one, with Iceberg's runtime for the "
            f"session's Spark: --conf spark.sql.catalog.{catalog}=org.apache.iceberg.spark.SparkCatalog "
            f"--conf spark.sql.catalog.{catalog}.type=hadoop --conf spark.sql.catalog.{catalog}.warehouse=PLACE "
            f"--conf spark.jars.packages={RUNTIME} (of PySpark 4.1)."
        )
    runs = read_rows(root, study)
    runs = runs.add_column(0, "study", pa.repeat(pa.scalar(study), runs.num_rows))
    runs = runs.rename_columns([column.replace(".", "_") for column in runs.column_names])
    try:
        frame = spark.createDataFrame(runs)
        exists = spark.catalog.tableExists(name)
        if exists:
            if not _is_ours(spark, name):
                raise OutputError(f"--table {name} exists, and is no table of Endive's. Name another one.")
            there = spark.table(name)
            if lacking := [column for column in frame.columns if column not in there.columns]:
                raise OutputError(
                    f"--table {name} has no column {lacking[0]}: it is of other studies. Name another one."
                )
            frame = frame.join(there.select("study", "run_id"), on=["study", "run_id"], how="left_anti")
        added = int(frame.count())
        with job_group(spark).described(f"append {added:,} runs to {name}"):
            if exists:
                frame.select(*(f"`{column}`" for column in there.columns)).writeTo(name).append() if added else None
            else:
                provider = "delta" if "delta" in kind.lower() else "iceberg"
                frame.writeTo(name).using(provider).tableProperty(OURS, RUNS).create()
        return added
    except EndiveError:
        raise
    except Exception as error:
        hint = " Does Spark have the runtime of Iceberg or Delta for its version (--conf spark.jars.packages)?"
        raise EngineError(
            f"--table {name}: {explain_spark(error).removesuffix('.')}.{hint} The dataset itself is complete."
        ) from error


def _is_ours(spark: SparkSession, name: str) -> bool:
    return bool(spark.sql(f"SHOW TBLPROPERTIES {name}").where(f"key = '{OURS}'").count())
