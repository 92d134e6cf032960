"""``--table catalog.db.name``: the txns of a dataset as an Iceberg table, through a catalog of the session.

The catalog and the runtime of Iceberg are the user's, by ``--conf``. The table is written by Spark in one commit, with
the columns of the view ``txns`` and ``study`` and ``point`` as its partitions; dots in the names of axes become ``_``,
which a dot in Iceberg's nested names would be. A table that somebody else has made is not replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from endive.errors import ConfigError, EngineError, OutputError
from endive.pipeline.dataset.dataset_table import read_runs, txn_frame
from endive.pipeline.dataset.sweep_folder import SweepFolder
from endive.pipeline.spark.session import AGGREGATIONS, job_named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OURS: Final = "endive.table"
RUNTIME: Final = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0"


def check_table_name(name: str) -> str:
    """``catalog.db.name``, or ConfigError."""
    parts = name.split(".")
    if len(parts) < 3 or not all(part.replace("_", "").replace("-", "").isalnum() for part in parts):
        raise ConfigError(f"--table {name} is no name of a table. Give catalog.database.name, as Spark SQL knows it.")
    return name


def write_table(spark: SparkSession, folder: SweepFolder, name: str) -> int:
    """Write all txns of a dataset, in the place of an earlier table of Endive's; how many there are."""
    catalog = check_table_name(name).partition(".")[0]
    if not spark.conf.get(f"spark.sql.catalog.{catalog}", ""):
        raise ConfigError(
            f"--table {name}: the session knows no catalog '{catalog}'. Name one, with Iceberg's runtime for the "
            f"session's Spark: --conf spark.sql.catalog.{catalog}=org.apache.iceberg.spark.SparkCatalog "
            f"--conf spark.sql.catalog.{catalog}.type=hadoop --conf spark.sql.catalog.{catalog}.warehouse=PLACE "
            f"--conf spark.jars.packages={RUNTIME} (of PySpark 4.1)."
        )
    for key, value in AGGREGATIONS.items():
        spark.conf.set(key, value)
    runs = read_runs(folder)
    try:
        if spark.catalog.tableExists(name) and not _is_ours(spark, name):
            raise OutputError(f"--table {name} exists, and is no table of Endive's. Name another one.")
        frame = txn_frame(spark, folder, runs)
        frame = frame.toDF(*(column.replace(".", "_") for column in frame.columns))
        with job_named(spark, f"write txns to {name}"):
            writer = frame.writeTo(name).using("iceberg").tableProperty(OURS, "txns")
            writer.partitionedBy("study", "point").createOrReplace()
        return int(spark.table(name).count())
    except OutputError:
        raise
    except Exception as error:
        raise EngineError(f"--table {name}: {_first_line(error)} The dataset itself is complete.") from error


def _is_ours(spark: SparkSession, name: str) -> bool:
    return bool(spark.sql(f"SHOW TBLPROPERTIES {name}").where(f"key = '{OURS}'").count())


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = lines[0].removesuffix(".") if lines else type(error).__name__
    if ("CATALOG" in reason and "PLUGIN" in reason) or "ClassNotFoundException" in reason:
        return f"Spark finds no Iceberg ({reason}). Give it the runtime of its version: --conf spark.jars.packages=..."
    return f"{reason}."
