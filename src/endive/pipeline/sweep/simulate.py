"""Runs in, results out: a DataFrame with a configuration and a seed in each row becomes one with what they measured.

``simulate`` is lazy and has one row out for each row in, so it fits into any pipeline and any sink. ``endive sweep`` is
its first user: it adds the columns of ``PLANNED``, which say which runs share an object of transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from endive.errors import ConfigError
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.referred_files import config_source
from endive.pipeline.dataset.runs_table import RESULT_SCHEMA
from endive.pipeline.sweep.part import RunSpec, simulate_part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

RUN: Final = ("config", "seed")  # what a run needs
PLANNED: Final = ("part", "run_id", "config_hash", "point", "keeps_transactions")  # what a sweep says beside it
ATTEMPT_FIELDS: Final = (pa.field("attempt", pa.int32()), pa.field("worker", pa.string()))
DETAILS: Final = ("runs", "transactions")
DEATHS_MAX: Final = 3  # of the process, during one run, before the run is given up
TASK_SCHEMA: Final = pa.schema(
    [
        pa.field("task", pa.int32()),
        pa.field("part", pa.string()),
        pa.field("run_id", pa.string()),
        pa.field("seed", pa.int64()),
        pa.field("point", pa.int32()),
        pa.field("config", pa.string()),
        pa.field("config_hash", pa.string()),
        pa.field("keeps_transactions", pa.bool_()),
    ]
)
_ROWS_MAX: Final = 64  # of a part of runs that keep no transactions


def simulate(runs: DataFrame, *, detail: str = "runs", engine: str = "auto", out: str | None = None) -> DataFrame:
    """Simulate each row's configuration with its seed.

    Args:
        runs: ``config``, a configuration as JSON or as a struct, and ``seed``; other columns pass through.
        detail: ``runs``, or ``transactions`` to write every transaction into Parquet objects below ``out``.
        engine: ``auto``, ``compiled`` or ``reference``.
        out: a folder or a URL that all workers reach.

    Returns:
        The columns of ``runs`` and, for each row, its status and metrics, also by operation type and source, counts of
        latencies, of time and of attempts, and the object that holds its transactions. A run that fails, or whose
        configuration cannot be read, has an error there and lets the others go on.
    """
    from pyspark.sql import functions as sf
    from pyspark.sql.types import StringType

    missing = [name for name in RUN if name not in runs.columns]
    if missing:
        raise ConfigError(f"A DataFrame of runs needs the columns config and seed; this one has no '{missing[0]}'.")
    if detail not in DETAILS:
        raise ConfigError(f"detail = '{detail}' is not known. Choose one of: {', '.join(DETAILS)}.")
    if detail != "runs" and out is None:
        raise ConfigError(f"detail = '{detail}' needs a place for the transactions: out = a folder or a URL.")
    taken = [name for name in runs.columns if name in RESULT_SCHEMA.names and name not in PLANNED]
    if taken:
        raise ConfigError(f"The column '{taken[0]}' of the runs has the name of a result. Rename it.")
    if not isinstance(runs.schema["config"].dataType, StringType):
        runs = runs.withColumn("config", sf.to_json("config"))
    passed = tuple(runs.columns)
    return run_tasks(runs, SimulateTask(passed, detail != "runs", engine, out))


def run_tasks(runs: DataFrame, task: SimulateTask) -> DataFrame:
    """Hand the rows of each partition to ``task``.

    Columns travel by their place: PySpark takes a dot in a name for a path into a struct.
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    given = to_arrow_schema(runs.schema) if task.passed else pa.schema([])
    runs = runs.toDF(*(f"column_{place}" for place in range(len(runs.columns)))) if task.passed else runs
    return runs.mapInArrow(task, from_arrow_schema(pa.schema([*given, *task.result_fields])))


@dataclass(frozen=True, slots=True)
class SimulateTask:
    """The function of a Spark task: rows of runs in, the same rows with their results out."""

    passed: tuple[str, ...]  # columns that pass through
    keeps_transactions: bool
    engine: str
    out: str | None
    folder: str | None = None  # of the objects, if it is not ``out``
    notes: str | None = None  # where a sweep looks for progress

    @property
    def result_fields(self) -> list[pa.Field]:
        """The columns that the task adds."""
        fields = [field for field in RESULT_SCHEMA if field.name not in self.passed]
        return [*fields, *(ATTEMPT_FIELDS if self.notes else ())]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Simulate the parts of a partition, in their order."""
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = 0 if context is None else int(context.attemptNumber())
        source = "<run>" if self.out is None or self.notes is None else config_source(place_of(self.out))
        folder = self.folder or self.out
        for name, rows in self._parts(batches):
            specs = [self._spec(row) for row in rows.to_pylist()]
            notes = CrashNotes(None if self.notes is None else place_of(self.notes), name, attempt)
            results = simulate_part(
                specs,
                self.engine,
                None if folder is None else place_of(folder),
                source=source,
                lost=notes.lost_runs(),
                on_run=notes.mark,
            )
            notes.end_part()
            yield from self._joined(rows, results, attempt).to_batches()

    def _parts(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, pa.Table]]:
        """Yield rows that belong together: those of a planned part, else what may share a batch."""
        if self.notes is None:
            size = 1 if self.keeps_transactions else _ROWS_MAX
            for batch in batches:
                whole = pa.Table.from_batches([batch]).rename_columns(list(self.passed))
                for start in range(0, whole.num_rows, size):
                    yield "", whole.slice(start, size)
            return
        whole = pa.Table.from_batches(list(batches), TASK_SCHEMA)
        names = whole["part"].to_pylist()
        places: dict[str, list[int]] = {}
        for index, name in enumerate(names):
            places.setdefault(name, []).append(index)
        for name, chosen in places.items():
            yield name, whole.take(pa.array(chosen))

    def _spec(self, row: dict[str, Any]) -> RunSpec:
        return RunSpec(
            seed=row["seed"],
            config=row["config"],
            keeps_transactions=bool(row.get("keeps_transactions", self.keeps_transactions)),
            run_id=row.get("run_id"),
            config_hash=row.get("config_hash"),
            point=row.get("point") or 0,
        )

    def _joined(self, rows: pa.Table, results: pa.Table, attempt: int) -> pa.Table:
        columns = {name: rows[name] for name in self.passed}
        columns |= {
            field.name: results[field.name] for field in self.result_fields if field.name in RESULT_SCHEMA.names
        }
        if self.notes:
            import socket

            columns["attempt"] = pa.repeat(pa.scalar(attempt, pa.int32()), rows.num_rows)
            columns["worker"] = pa.repeat(pa.scalar(socket.gethostname()), rows.num_rows)
        return pa.table(columns)


class CrashNotes:
    """Empty files that tell the driver which parts are done, and a repeated task which run killed its process.

    A task that runs for the first time leaves no marks of its runs, so that they cost nothing.
    """

    def __init__(self, folder: Place | None, part: str, attempt: int) -> None:
        self._folder, self._part, self._attempt = folder, part, attempt

    def mark(self, run_id: str, has_ended: bool) -> None:
        """Leave a mark before a run, and take it away after it."""
        if self._folder is None or not self._attempt:
            return
        place = self._folder / f"{run_id}.{self._attempt}.mark"
        with suppress(OSError):
            place.unlink() if has_ended else place.write(b"")

    def lost_runs(self) -> set[str]:
        """Return the runs during which the process has died ``DEATHS_MAX`` times, the first of them unmarked."""
        if self._folder is None or self._attempt < DEATHS_MAX:
            return set()
        deaths: dict[str, int] = {}
        with suppress(OSError):
            for place in self._folder.children("*.mark"):
                run_id = place.name.partition(".")[0]
                deaths[run_id] = deaths.get(run_id, 0) + 1
        return {run_id for run_id, count in deaths.items() if count >= DEATHS_MAX - 1}

    def end_part(self) -> None:
        """Tell the driver that the part is done; where it cannot be told, the work goes on."""
        if self._folder is not None:
            with suppress(OSError):
                (self._folder / f"{self._part}.done").write(b"")


def parts_done(folder: Place) -> set[str]:
    """Return the parts that are done, by the notes of their tasks."""
    try:
        return {place.stem for place in folder.children("*.done")}
    except OSError:
        return set()
