"""The tables of a dataset, for whoever queries it: ``txns``, ``latencies``, ``runs`` and ``points``.

``runs`` has one row per run with its axes and figures, ``points`` one per configuration with its axes, ``txns`` every
txn that was kept, with study, point, seed and axes of its run. The data source ``endive`` reads them from any place
that a dataset can lie in (``dataset_reader``); ``create_views`` gives them to Spark SQL, where Spark reads the files
itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.printable import CONTROL_CHARACTERS, REPLACEMENT
from endive.errors import ConfigError, EngineError, OutputError
from endive.pipeline.dataset.latency_counts import LATENCY_SCHEMA
from endive.pipeline.dataset.part_files import LATENCIES, TRANSACTIONS, PartFiles
from endive.pipeline.dataset.places import DatasetPath, parquet_file, spark_options, spark_path
from endive.pipeline.dataset.sweep_folder import RUNS, SweepFolder
from endive.pipeline.spark.session import AGGREGATIONS, first_line, job_named
from endive.results import TRANSACTION_SCHEMA
from endive.tables.figure_columns import RESERVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


TXNS: Final = "txns"
POINTS: Final = "points"
TABLES: Final = (TXNS, LATENCIES, RUNS, POINTS)
VIEWS: Final = (TXNS, RUNS, POINTS)
_OF_RUN: Final = ("study", "point", "seed", "run_id")
_POINT_COLUMNS: Final = ("study", "point", "config_hash")


@dataclass(frozen=True, slots=True)
class RunFile:
    """A file of txns or latencies, and what is known of its runs: values of ``_OF_RUN`` and of the axes."""

    path: str
    runs: tuple[Mapping[str, Any], ...]


def read_runs(folder: SweepFolder) -> pa.Table:
    """All runs of all studies that were gathered, under each other; ``study`` comes first."""
    paths = {study: folder.partition(RUNS, study) / f"{RUNS}.parquet" for study in folder.studies}
    tables = {study: read_small(path) for study, path in paths.items() if path.exists()}
    return join_studies(tables) if tables else pa.schema([("study", pa.string())]).empty_table()


def read_small(path: DatasetPath) -> pa.Table:
    """A file of runs or of groups, with what a terminal would obey taken out of its texts."""
    with _refuse_damaged(path):
        return printable_table(parquet_file(path, page_checksum_verification=True).read())


def join_studies(tables: Mapping[str, pa.Table]) -> pa.Table:
    """The tables of several studies under each other, ``study`` first; a column that one of them lacks is null there.

    Where types differ, numbers become doubles and anything else text.
    """
    named = [
        table.add_column(0, "study", pa.array([study] * table.num_rows, pa.string())) for study, table in tables.items()
    ]
    types: dict[str, pa.DataType] = {}
    for column in (column for table in named for column in table.schema):
        kinds = {column.type, types.setdefault(column.name, column.type)}
        if len(kinds) > 1:
            types[column.name] = pa.float64() if kinds <= {pa.int64(), pa.float64()} else pa.string()
    return pa.concat_tables(
        [table.cast(pa.schema([(name, types[name]) for name in table.column_names])) for table in named],
        promote_options="default",
    )


def count_kept_txns(runs: pa.Table) -> int:
    """How many txns the files hold, as the runs tell."""
    return (pc.sum(runs.filter(runs["transactions_kept"])["txns"]).as_py() or 0) if runs.num_rows else 0


def axes_of(runs: pa.Table) -> list[str]:
    """The names of the axes among the columns of ``runs``."""
    return [name for name in runs.column_names if name not in RESERVED]


def read_points(runs: pa.Table) -> pa.Table:
    """One row per configuration: its axes, its hash and, as JSON, all of it; ``seeds`` it has."""
    keys = [*_POINT_COLUMNS, *axes_of(runs)]
    points = runs.group_by(keys, use_threads=False).aggregate([("seed", "count"), ("config", "min")])
    names = {"seed_count": "seeds", "config_min": "config"}
    return points.rename_columns([names.get(name, name) for name in points.column_names]).select(
        [*keys, "seeds", "config"]
    )


def plain_schema(table: str, runs: pa.Table) -> pa.Schema:
    """The columns of a table, in types that every reader has."""
    if table == RUNS:
        return runs.schema
    if table == POINTS:
        return read_points(runs).schema
    of_run = [runs.schema.field(name) for name in (*_OF_RUN, *axes_of(runs))]
    fields = of_run + (list(TRANSACTION_SCHEMA) if table == TXNS else [*LATENCY_SCHEMA][1:])
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in fields])


def check_table(table: str) -> str:
    """The name of a table, or ConfigError."""
    if table not in TABLES:
        raise ConfigError(f"option table = '{table}' is not known. Choose one of: {', '.join(TABLES)}.")
    return table


def run_files(folder: SweepFolder, runs: pa.Table, table: str) -> list[RunFile]:
    """Every file of txns, or of latencies, of the runs that were gathered."""
    known = {(row["study"], row["run_id"]): row for row in runs.select([*_OF_RUN, *axes_of(runs)]).to_pylist()}
    wanted = runs.filter(runs["transactions_kept"]) if table == TXNS else runs
    chosen = {(row["study"], row["run_id"]) for row in wanted.select(["study", "run_id"]).to_pylist()}
    files_of_runs = []
    for study, plan in folder.studies.items():
        for part in plan.parts:
            rows = tuple(known[study, run] for run in part.run_ids if (study, run) in chosen)
            files = PartFiles(folder.path, study, part)
            if rows:
                files_of_runs.append(RunFile(str(files.transactions if table == TXNS else files.latencies), rows))
    return files_of_runs


def read_file(file: RunFile, place: DatasetPath, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of the runs of a file, each with what is known of its run."""
    by_id = {row["run_id"]: row for row in file.runs}
    with _refuse_damaged(place):
        parquet = parquet_file(place, page_checksum_verification=True)
    with parquet:
        for number in range(parquet.num_row_groups):
            with _refuse_damaged(place):
                rows = parquet.read_row_group(number, use_threads=False)
            run_ids = rows["run_id"].cast(pa.string())
            for run_id in pc.unique(run_ids).to_pylist():
                if run_id in by_id:
                    chosen = rows.filter(pc.equal(run_ids, run_id))
                    yield from with_values(chosen, by_id[run_id], schema).to_batches()


def with_values(txns: pa.Table, values: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """Txns in these columns, with what is known of their run in every row."""
    columns = [
        pa.repeat(pa.scalar(values[field.name], field.type), txns.num_rows)
        if field.name in values
        else txns[field.name].cast(field.type)
        if field.name in txns.column_names
        else pa.nulls(txns.num_rows, field.type)  # older files lack some requests, which were not sent
        for field in schema
    ]
    return pa.table(columns, schema=schema)


@contextmanager
def _refuse_damaged(path: DatasetPath) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise damage_error(path, f" ({reason})") from None


def damage_error(path: object, reason: str = "") -> OutputError:
    """What to say of a file that cannot be read, and what to do."""
    return OutputError(
        f"{path} is damaged and cannot be read{reason}. Delete it and start the same 'endive sweep' again: only "
        "what is missing is simulated. Nothing was changed."
    )


def create_views(spark: SparkSession, folder: SweepFolder, names: Sequence[str] = VIEWS) -> None:
    """Temporary views of Spark SQL; a query of ``txns`` that names a study or a point reads no other files."""
    runs = read_runs(folder)
    spark.createDataFrame(runs).createOrReplaceTempView(names[1])
    spark.createDataFrame(read_points(runs)).createOrReplaceTempView(names[2])
    txn_frame(spark, folder, runs).createOrReplaceTempView(names[0])


def txn_frame(spark: SparkSession, folder: SweepFolder, runs: pa.Table) -> DataFrame:
    """Every txn that was kept, with the axes of its run: Spark's own scan of the files."""
    from pyspark.sql import functions as sf

    place = folder.path / TRANSACTIONS
    txns = spark.read.options(**spark_options(place)).parquet(spark_path(place))
    axes = spark.createDataFrame(runs.select(["study", "run_id", *axes_of(runs)]))
    return txns.join(sf.broadcast(axes), on=["study", "run_id"], how="inner")


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def printable_table(table: pa.Table) -> pa.Table:
    """The same table, with a replacement character in its texts for what a terminal would obey."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            safe = pc.replace_substring_regex(table.column(index), CONTROL_CHARACTERS, REPLACEMENT)
            table = table.set_column(index, field, safe)
    return table


# ---- as an Iceberg table -----------------------------------------------------------------------------
# The catalog and the runtime of Iceberg are the user's, by --conf. A dot in the name of an axis becomes _: in Iceberg's
# nested names it would mean something else.


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
        raise EngineError(f"--table {name}: {_reason(error)} The dataset itself is complete.") from error


def _is_ours(spark: SparkSession, name: str) -> bool:
    return bool(spark.sql(f"SHOW TBLPROPERTIES {name}").where(f"key = '{OURS}'").count())


def _reason(error: Exception) -> str:
    reason = (first_line(str(error)) or type(error).__name__).removesuffix(".")
    if ("CATALOG" in reason and "PLUGIN" in reason) or "ClassNotFoundException" in reason:
        return f"Spark finds no Iceberg ({reason}). Give it the runtime of its version: --conf spark.jars.packages=..."
    return f"{reason}."
