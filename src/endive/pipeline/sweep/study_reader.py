"""A study as a table: ``spark.read.format("endive").option("study", path)`` simulates it when it is read.

Every action simulates again; ``endive sweep`` writes a study down once. Filters on axes, seeds and identities choose
the runs before they are simulated.

Options: ``study`` (the file), ``detail`` (``runs``, one row per run, or ``transactions``), ``seeds`` (a count),
``set`` (``key=value`` pairs, separated by semicolons), ``engine``, ``partitions``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from endive.config.study import load_study
from endive.errors import ConfigError
from endive.pipeline.dataset.dataset_table import with_values
from endive.pipeline.dataset.filters import can_decide, matches
from endive.pipeline.dataset.part_files import DETAIL_RUNS, DETAIL_TRANSACTIONS
from endive.pipeline.sweep.gather import run_row
from endive.pipeline.sweep.plan import TASKS_PER_CORE, PlannedStudy, Run, axis_values, pack
from endive.pipeline.sweep.work import RunSpec
from endive.tables.figure_columns import run_schema

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

DETAILS: Final = (DETAIL_TRANSACTIONS, DETAIL_RUNS)
OPTIONS: Final = ("study", "detail", "seeds", "set", "engine", "partitions")


@dataclass(frozen=True, slots=True)
class Options:
    """The options, read and checked."""

    study: str
    detail: str
    seeds: int | None
    overrides: tuple[str, ...]
    engine: str
    partitions: int

    @classmethod
    def of(cls, given: dict[str, str]) -> Options:
        """Raise ConfigError with every option that cannot be used."""
        problems = [
            f"option '{name}' is not known. Known are: {', '.join(OPTIONS)}."
            for name in given
            if name.lower() not in OPTIONS
        ]
        detail = given.get("detail", DETAIL_RUNS)
        if detail not in DETAILS:
            problems.append(f"option detail = '{detail}' is not known. Choose one of: {', '.join(DETAILS)}.")
        if not given.get("study"):
            problems.append("option 'study' is missing: the path of a study file.")
        for name in ("seeds", "partitions"):
            if name in given and not (given[name].isdecimal() and int(given[name]) > 0):
                problems.append(f"option {name} = '{given[name]}' must be a whole number from 1.")
        if problems:
            raise ConfigError(problems)
        return cls(
            study=given["study"],
            detail=detail,
            seeds=int(given["seeds"]) if "seeds" in given else None,
            overrides=tuple(part.strip() for part in given.get("set", "").split(";") if part.strip()),
            engine=given.get("engine", "auto"),
            partitions=int(given.get("partitions", TASKS_PER_CORE * (os.cpu_count() or 1))),
        )


class StudyReader(DataSourceReader):  # type: ignore[misc]
    """Chooses runs, packs them into partitions, and simulates those of one partition."""

    def __init__(self, options: Options) -> None:
        from endive.pipeline.sweep.part import PART_SCHEMA

        self._options = options
        planned = PlannedStudy.of(load_study(options.study, options.overrides, options.seeds))
        self._study = planned.study.name
        self._axes = planned.axes
        self._runs: Sequence[Run] = planned.runs
        run_id, seed, *of_txns = PART_SCHEMA
        fields = run_schema(planned.axes) if options.detail == DETAIL_RUNS else (run_id, seed, *planned.axes, *of_txns)
        # Plain types, all nullable: what Spark makes of a Parquet file.
        columns = [pa.field(field.name, _plain(field.type)) for field in fields]
        self.schema = pa.schema([*columns, pa.field("study", pa.string())])

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Keep the runs that meet the filters on what is known before a run; hand back the others."""
        known = {*self._values(self._runs[0])} & {*self.schema.names} if self._runs else set()
        for one in filters:
            if can_decide(one, known):
                self._runs = [run for run in self._runs if matches(one, self._values(run))]
            else:
                yield one

    def _values(self, run: Run) -> dict[str, Any]:
        return {
            "run_id": run.run_id,
            "config_hash": run.config_hash,
            "point": run.point,
            "seed": run.seed,
            "study": self._study,
            **axis_values(self._axes, run.values),
        }

    def partitions(self) -> Sequence[InputPartition]:
        """Runs packed so that partitions finish together."""
        count = min(len(self._runs), self._options.partitions)
        bins = pack(self._runs, count, lambda run: run.cost) if count else [[]]
        return [InputPartition(tuple(members)) for members in bins]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Simulate the runs of a partition."""
        from endive.pipeline.sweep.part import simulate_run

        keeps_transactions = self._options.detail == DETAIL_TRANSACTIONS
        for run in partition.value:
            spec = RunSpec(run.run_id, run.seed, run.local_config(), run.config_hash, keeps_transactions)
            result = simulate_run(spec, self._options.engine)
            if not keeps_transactions:
                row = {**run_row(run, self._axes, result.record), "study": self._study}
                yield from pa.Table.from_pylist([row], self.schema).to_batches()
            elif result.txns is not None:
                yield from with_values(result.txns, self._values(run), self.schema).to_batches()


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.list_(kind.value_type) if pa.types.is_list(kind) else kind
