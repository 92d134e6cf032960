"""The data source ``endive``: ``spark.read.format("endive").load(place)`` is a dataset in any place it can be.

``option("table", ..)`` is ``txns`` (the default), ``runs`` or ``points``. Workers read one object each. Where Spark has
a connector of its own, the views of ``endive.spark.attach`` are faster: Spark skips what a query does not need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

OPTIONS: Final = ("path", "table")


class EndiveDataSource(DataSource):  # type: ignore[misc]
    """Found by Spark through ``pyspark_endive``."""

    @classmethod
    def name(cls) -> str:
        """Return what ``format`` is called with."""
        return "endive"

    def schema(self) -> StructType:
        """Return the columns of the table that is read."""
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(self._table().schema)

    def reader(self, schema: StructType) -> EndiveReader:
        """Return a reader of all of it."""
        return EndiveReader(self._table())

    def _table(self) -> Any:
        from endive.errors import ConfigError
        from endive.pipeline.dataset.dataset_table import open_table

        given = {name.lower(): value for name, value in dict(self.options).items()}
        unknown = [name for name in given if name not in OPTIONS]
        if unknown:
            raise ConfigError(f"option '{unknown[0]}' is not known. Of a dataset there are: {', '.join(OPTIONS)}.")
        if not given.get("path"):
            raise ConfigError("Name a dataset with load(place).")
        return open_table(given["path"], given.get("table", "txns"))


class EndiveReader(DataSourceReader):  # type: ignore[misc]
    """A partition for each object of transactions; a small table is one partition."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def partitions(self) -> Sequence[InputPartition]:
        """Return the objects."""
        return [InputPartition(each) for each in self._table.objects] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one of them, or the small table."""
        yield from self._table.read(partition.value)
