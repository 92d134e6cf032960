"""``spark.read.format("endive").load(place)``: the dataset of a sweep, read by workers from any place it can lie in.

A partition is a file of txns or latencies. Filters on study, point, seed, run and axes choose files before they are
opened, and runs within a file. Options: ``path``, and ``table``: ``txns`` (the default), ``latencies``, ``runs`` or
``points``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from endive.errors import ConfigError
from endive.pipeline.dataset.dataset_table import (
    POINTS,
    TXNS,
    RunFile,
    check_table,
    plain_schema,
    read_file,
    read_points,
    read_runs,
    run_files,
)
from endive.pipeline.dataset.filters import can_decide, matches
from endive.pipeline.dataset.part_files import LATENCIES
from endive.pipeline.dataset.places import place_of
from endive.pipeline.dataset.sweep_folder import SweepFolder

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

OPTIONS: Final = ("path", "table")
# What Spark hands on beside them for a table of its catalog, which has each option as "option.NAME" once more.
OF_A_TABLE: Final = ("provider", "location", "owner", "comment", "external", "is_managed_location", "collation")


def dataset_schema(options: Mapping[str, str]) -> pa.Schema:
    """The columns of the table that the options name."""
    folder, table = _open(options)
    return plain_schema(table, read_runs(folder))


class DatasetReader(DataSourceReader):  # type: ignore[misc]
    """Chooses files and runs on the driver, reads them on the workers."""

    def __init__(self, options: Mapping[str, str]) -> None:
        folder, self._table = _open(options)
        self._runs = read_runs(folder)
        self._schema = plain_schema(self._table, self._runs)
        self._files: Sequence[RunFile] = run_files(folder, self._runs, self._table) if self._is_large else ()

    @property
    def _is_large(self) -> bool:
        return self._table in (TXNS, LATENCIES)

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Keep the files and runs that meet the filters on what is known of a run; hand back the others."""
        known = {*self._files[0].runs[0]} if self._files else set()
        for one in filters:
            if can_decide(one, known):
                chosen = [
                    replace(file, runs=tuple(run for run in file.runs if matches(one, run))) for file in self._files
                ]
                self._files = [file for file in chosen if file.runs]
            else:
                yield one

    def partitions(self) -> Sequence[InputPartition]:
        """One file each; a small table is one partition."""
        return [InputPartition(file) for file in self._files] if self._is_large else [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a file, or all of a small table."""
        if self._is_large:
            file: RunFile | None = partition.value
            if file is None:  # Spark's own, of a table that has no partition
                return
            yield from read_file(file, place_of(file.path), self._schema)
        else:
            rows = read_points(self._runs) if self._table == POINTS else self._runs
            yield from rows.to_batches()


def _open(options: Mapping[str, Any]) -> tuple[SweepFolder, str]:
    """The dataset and the table that the options name, as a reader gives them or as a table of a catalog has them."""
    given = {name.removeprefix("option.").lower(): value for name, value in options.items() if name not in OF_A_TABLE}
    unknown = [name for name in given if name not in OPTIONS]
    if unknown:
        raise ConfigError(f"option '{unknown[0]}' is not known. Of a dataset there are: {', '.join(OPTIONS)}.")
    path = given.get("path") or options.get("location")
    if not path:
        known = ", ".join(sorted(options)) or "none"
        raise ConfigError(f"Name a dataset with load(place), or a study with option('study', file). Options: {known}.")
    return SweepFolder.read(path), check_table(given.get("table", TXNS))
