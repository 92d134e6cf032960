"""The objects of a dataset as DataFrames: by Spark's own scan, or through workers where it lacks the connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from endive.pipeline.dataset.files import Place, place_of, spark_options, spark_path
from endive.pipeline.dataset.runs_table import refuse_damaged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NO_FILE_SYSTEM: Final = ("FileSystem not found", "No FileSystem for scheme")  # what Hadoop says of it
STUDY: Final = "study"


def scan(spark: SparkSession, folder: Place, objects: Mapping[str, Sequence[Place]], schema: pa.Schema) -> DataFrame:
    """Return the rows of the objects of each study, which lie below ``folder``, with the columns of ``schema``."""
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = from_arrow_schema(pa.schema([*schema, (STUDY, pa.string())]))
    paths = [spark_path(place) for places in objects.values() for place in places]
    if not paths:
        return spark.createDataFrame([], columns)
    options = {"parquet.page.verify-checksum.enabled": "true", "basePath": spark_path(folder), **spark_options(folder)}
    try:
        frame: DataFrame = spark.read.schema(columns).options(**options).parquet(*paths)
        return frame
    except Exception as error:
        if not any(text in str(error) for text in NO_FILE_SYSTEM):
            raise
    named = [(str(place), study) for study, places in objects.items() for place in places]
    rows = spark.createDataFrame(pa.table({"place": [each for each, _ in named], STUDY: [each for _, each in named]}))
    spread = rows.repartition(len(named), "place")
    return spread.mapInArrow(ReadObjects(schema), columns)


@dataclass(frozen=True, slots=True)
class ReadObjects:
    """The function of a task that reads objects itself: names in, rows out."""

    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Read the objects that a partition names."""
        for batch in batches:
            for row in batch.to_pylist():
                yield from read_object(place_of(row["place"]), row[STUDY], self.schema)


def read_object(place: Place, study: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one object in the columns of ``schema``, null where it lacks one, and with its study."""
    with refuse_damaged(place):
        file = place.parquet(page_checksum_verification=True)
    with file:
        there = [name for name in schema.names if name in file.schema_arrow.names]
        for number in range(file.metadata.num_row_groups):
            with refuse_damaged(place):
                rows = file.read_row_group(number, columns=there, use_threads=False)
            columns = [
                rows[field.name].cast(field.type) if field.name in there else pa.nulls(rows.num_rows, field.type)
                for field in schema
            ]
            studies = pa.repeat(pa.scalar(study), rows.num_rows)
            named = pa.table([*columns, studies], schema=pa.schema([*schema, (STUDY, pa.string())]))
            yield from named.to_batches()
