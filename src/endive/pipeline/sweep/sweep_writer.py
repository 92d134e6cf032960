"""``frame_of_runs.write.format("endive").save(place)``: what is written is simulated first.

A task is handed runs, simulates them part by part, and writes the files of its parts below ``_staging``, in a folder
of its attempt: Spark's own writers take every row through the JVM, which costs a txn of some eighty columns 20
microseconds. Then Spark's protocol takes over. The message of a task that ended travels to the driver; of attempts
that were lost or ran twice Spark hands on one. ``commit`` moves the parts to their names, the file of txns last, which
makes a part complete. What no ``commit`` has moved is not in the dataset, and the sweep clears it away.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from endive.errors import ConfigError
from endive.pipeline.dataset.part_files import Part, PartFiles
from endive.pipeline.dataset.places import place_of, remove_tree
from endive.pipeline.sweep.work import ProgressNotes, RunSpec

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

TASK_SCHEMA: Final = pa.schema(
    [
        pa.field("task", pa.int32(), nullable=False),
        pa.field("part", pa.string(), nullable=False),
        pa.field("part_position", pa.int32(), nullable=False),  # of the part in its task
        pa.field("run_position", pa.int32(), nullable=False),  # of the run in its part
        pa.field("point", pa.int32(), nullable=False),
        pa.field("run_id", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("config", pa.string(), nullable=False),
        pa.field("config_hash", pa.string(), nullable=False),
        pa.field("keeps_transactions", pa.bool_(), nullable=False),
    ]
)
OPTIONS: Final = ("path", "study", "engine", "notes", "staging")
_MOVERS: Final = 16  # parts that are moved at once; in a store each is three requests or more


@dataclass(frozen=True, slots=True)
class StagedParts(WriterCommitMessage):  # type: ignore[misc]
    """What one attempt at a task has written, and where."""

    folder: str
    parts: tuple[Part, ...]


class SweepWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """The writer of one job. Pickled, it travels to the tasks; ``commit`` and ``abort`` run on the driver."""

    def __init__(self, options: Mapping[str, str], schema: StructType, *, overwrite: bool) -> None:
        missing = [name for name in OPTIONS if not options.get(name)]
        if missing:
            raise ConfigError(f"Writing runs needs the option '{missing[0]}'. 'endive sweep' sets all of them.")
        if overwrite:
            raise ConfigError("Runs are added to a dataset, never overwritten: write with mode 'append'.")
        if schema.names != TASK_SCHEMA.names:
            wanted, given = (", ".join(names) for names in (TASK_SCHEMA.names, schema.names))
            raise ConfigError(f"A frame of runs has the columns {wanted}; this one has {given}.")
        self._path, self._study, self._engine, self._notes, self._staging = (options[name] for name in OPTIONS)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedParts:
        """Simulate the parts of one task, in their order."""
        from pyspark import TaskContext

        from endive.pipeline.sweep.part import simulate_part

        root = place_of(self._path)
        context = TaskContext.get()  # None outside of Spark
        number = 0 if context is None else int(context.taskAttemptId())
        attempt = place_of(self._staging) / f"attempt-{number}-{secrets.token_hex(4)}"
        rows = [row for batch in iterator for row in batch.to_pylist()]
        parts = list(_parts(rows))
        for part, specs in parts:
            staged = PartFiles(attempt, self._study, part)
            staged.make_places()
            notes = ProgressNotes(place_of(self._notes), part.name)
            simulate_part(staged, specs, self._engine, notes.write, notes.lost_runs(), dataset=root)
        return StagedParts(str(attempt), tuple(part for part, _ in parts))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Let the parts of all tasks appear. A driver that dies here leaves whole parts, and the rest to do again."""
        root = place_of(self._path)
        staged = [
            (PartFiles(place_of(message.folder), self._study, part), PartFiles(root, self._study, part))
            for message in messages
            if isinstance(message, StagedParts)
            for part in message.parts
        ]
        with ThreadPoolExecutor(_MOVERS) as movers:
            for moved in [movers.submit(source.move_to, target) for source, target in staged]:
                moved.result()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Take away what the tasks of a job that failed have written."""
        for message in messages:
            if isinstance(message, StagedParts):
                with suppress(OSError):
                    remove_tree(place_of(message.folder))


def _parts(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Part, list[RunSpec]]]:
    """The parts of a task with their runs, both in their order."""
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: (row["part_position"], row["run_position"])):
        parts.setdefault(row["part"], []).append(row)
    for name, members in parts.items():
        kept = {row["run_id"] for row in members if row["keeps_transactions"]}
        part = Part.of(name, [row["run_id"] for row in members], kept, point=members[0]["point"])
        specs = [
            RunSpec(row["run_id"], row["seed"], row["config"], row["config_hash"], row["keeps_transactions"])
            for row in members
        ]
        yield part, specs
