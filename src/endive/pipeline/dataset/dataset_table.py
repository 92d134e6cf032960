"""The tables of a dataset for whoever queries it: ``txns``, ``runs`` and ``points``.

``runs`` has one row per run with its axes and metrics, ``points`` one per configuration with its axes, ``txns`` every
transaction that was kept, with study, point, seed and axes of its run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import ConfigError, OutputError
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.runs_table import RUNS, axes_of, join_tables, read_rows
from endive.pipeline.dataset.scan import read_object, scan
from endive.pipeline.dataset.sweep_dataset import TRANSACTIONS, read_dataset
from endive.results import TRANSACTION_SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TXNS: Final = "txns"
POINTS: Final = "points"
TABLES: Final = (TXNS, RUNS, POINTS)
_TXN_SCHEMA: Final = pa.schema(
    [
        ("run_id", pa.string()),
        ("point", pa.int32()),
        ("seed", pa.int64()),
        *(
            (field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
            for field in TRANSACTION_SCHEMA
        ),
    ]
)


@dataclass(frozen=True, slots=True)
class DatasetTable:
    """One table of a dataset, as workers read it."""

    schema: pa.Schema
    objects: tuple[tuple[str, str], ...]  # place and study; none of a small table
    small: pa.Table | None
    runs: pa.Table  # what is known of each run

    def read(self, chosen: tuple[str, str] | None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one object, or of the small table."""
        if self.small is not None:
            yield from self.small.to_batches()
        elif chosen is not None:
            place, study = chosen
            for batch in read_object(place_of(place), study, _TXN_SCHEMA):
                runs = self.runs.filter(pc.equal(self.runs["study"], study))
                places = pc.index_in(batch["run_id"], runs["run_id"].combine_chunks())
                txns = pa.Table.from_batches([batch]).filter(pc.is_valid(places))
                about = runs.drop_columns(["study", "run_id"]).take(places.drop_null())
                columns = [about[name] if name in about.column_names else txns[name] for name in self.schema.names]
                yield from pa.table(columns, schema=self.schema).to_batches()


def read_runs(root: Place) -> pa.Table:
    """Return all runs of all studies under each other; ``study`` comes first."""
    tables = {study: read_rows(root, study) for study in read_dataset(root).studies}
    named = [
        table.add_column(0, "study", pa.array([study] * table.num_rows, pa.string()))
        for study, table in tables.items()
        if table.num_rows
    ]
    if not named:
        raise OutputError(f"{root} holds no finished run.")
    return join_tables(named).sort_by([(name, "ascending") for name in ("study", "point", "seed")])


def read_points(runs: pa.Table) -> pa.Table:
    """Return one row per configuration: its axes, its hash, its number of seeds and, as JSON, all of it."""
    keys = ["study", "point", "config_hash", *axes_of(runs)]
    points = runs.group_by(keys, use_threads=False).aggregate([("seed", "count"), ("config", "min")])
    names = {"seed_count": "seeds", "config_min": "config"}
    return points.rename_columns([names.get(name, name) for name in points.column_names]).select(
        [*keys, "seeds", "config"]
    )


def transaction_objects(root: Place) -> dict[str, list[Place]]:
    """Return the objects that rows of runs name, by study."""
    objects = {}
    for study in read_dataset(root).studies:
        table = read_rows(root, study, ["file"], hashes=False)
        names = sorted(set(table["file"].drop_null().to_pylist())) if table.num_rows else []
        objects[study] = [root / TRANSACTIONS / f"study={study}" / PurePath(name).name for name in names]
    return objects


def open_table(path: str, name: str) -> DatasetTable:
    """Open one table; ConfigError if there is none of this name."""
    if name not in TABLES:
        raise ConfigError(f"option table = '{name}' is not known. Choose one of: {', '.join(TABLES)}.")
    root = place_of(path).resolve()
    runs = read_runs(root)
    about = runs.select(["study", "run_id", *axes_of(runs)])
    if name != TXNS:
        small = runs if name == RUNS else read_points(runs)
        return DatasetTable(small.schema, (), small, about)
    objects = tuple((str(place), study) for study, places in transaction_objects(root).items() for place in places)
    axes = [about.schema.field(axis) for axis in axes_of(runs)]
    of_run = [pa.field("study", pa.string()), *_TXN_SCHEMA][:4]
    return DatasetTable(pa.schema([*of_run, *axes, *list(_TXN_SCHEMA)[3:]]), objects, None, about)


def create_views(spark: SparkSession, path: str | Place, prefix: str = "") -> dict[str, DataFrame]:
    """Make temporary views of the tables; a query of transactions that names a point skips the rest of the objects."""
    from pyspark.sql import functions as sf

    root = place_of(path).resolve()
    runs = read_runs(root)
    frames = {RUNS: spark.createDataFrame(runs), POINTS: spark.createDataFrame(read_points(runs))}
    objects = transaction_objects(root)
    if any(objects.values()):
        txns = scan(spark, root / TRANSACTIONS, objects, _TXN_SCHEMA)
        about = spark.createDataFrame(runs.select(["study", "run_id", *axes_of(runs)]))
        frames[TXNS] = txns.join(sf.broadcast(about), on=["study", "run_id"], how="inner")
    for name, frame in frames.items():
        frame.createOrReplaceTempView(f"{prefix}{name}")
    return frames
