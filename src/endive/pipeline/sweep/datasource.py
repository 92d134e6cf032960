"""The data source ``endive``: a dataset to read, a study to simulate, runs to write.

``spark.read.format("endive").load(place)`` is the dataset of a sweep, ``option("table", ..)`` one of its tables
(``endive.pipeline.dataset.dataset_table``). ``option("study", file)`` is a study that is simulated when it is read
(``study_reader``). Writing a frame of runs simulates them (``sweep_writer``).

Spark starts a Python process of its own for each step of planning, which imports this file first: it imports nothing
that is not needed in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql.datasource import DataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from endive.pipeline.dataset.dataset_reader import DatasetReader
    from endive.pipeline.sweep.study_reader import StudyReader
    from endive.pipeline.sweep.sweep_writer import SweepWriter


# Spark forgets the options of a table of its catalog before it is read (seen with 4.3), but not the schema.
PLACE: Final = "endive.options"


class EndiveDataSource(DataSource):  # type: ignore[misc]
    """Found by Spark through ``pyspark_endive``."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` is called with."""
        return "endive"

    def schema(self) -> StructType:
        """The columns of the table that is read."""
        from pyspark.sql.pandas.types import from_arrow_schema

        if self._is_dataset:
            from endive.pipeline.dataset.dataset_reader import dataset_schema

            schema: StructType = from_arrow_schema(dataset_schema(dict(self.options)))
            schema.fields[0].metadata = {PLACE: dict(self.options)}
        else:
            from endive.pipeline.sweep.study_reader import Options, StudyReader

            schema = from_arrow_schema(StudyReader(Options.of(dict(self.options))).schema)
        return schema

    def reader(self, schema: StructType) -> DatasetReader | StudyReader:
        """A reader of all of it; filters narrow it down."""
        if self._is_dataset:
            from endive.pipeline.dataset.dataset_reader import DatasetReader

            options = dict(self.options) or schema.fields[0].metadata.get(PLACE, {})
            return DatasetReader(options)
        from endive.pipeline.sweep.study_reader import Options, StudyReader

        return StudyReader(Options.of(dict(self.options)))

    def writer(self, schema: StructType, overwrite: bool) -> SweepWriter:
        """The writer of a sweep: the rows are runs, and are simulated."""
        from endive.pipeline.sweep.sweep_writer import SweepWriter

        return SweepWriter(dict(self.options), schema, overwrite=overwrite)

    @property
    def _is_dataset(self) -> bool:
        return not self.options.get("study")
