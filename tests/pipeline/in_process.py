"""As much of a Spark session as a sweep uses, without a JVM: partitions are tasks, and tasks run one after another.

A test can ask for faults: tasks that are repeated after they ended, and a driver that dies in the
middle of a commit.
"""

from __future__ import annotations

import pickle
from types import SimpleNamespace
from typing import Any

import pyarrow as pa


class InProcessSpark:
    """Set ``repeats`` to run every task again, ``dies_after`` to lose the driver after so many moved parts."""

    def __init__(self, cores: int = 2) -> None:
        self.cores = cores
        self.repeats = 1
        self.dies_after: int | None = None
        self.partitions: list[pa.Table] = []
        self.jobs = 0
        self.interrupted = 0
        self.registered: list[str] = []

    @property
    def conf(self) -> dict[str, str]:
        return {"spark.master": f"local[{self.cores}]"}

    @property
    def dataSource(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(register=lambda source: self.registered.append(source.name()))

    def createDataFrame(self, table: pa.Table) -> _Frame:  # noqa: N802
        return _Frame(self, [table])

    def interruptAll(self) -> None:  # noqa: N802
        self.interrupted += 1


class _Frame:
    def __init__(self, spark: InProcessSpark, partitions: list[pa.Table]) -> None:
        self._spark = spark
        self._partitions = partitions

    def repartitionById(self, count: int, column: str) -> _Frame:  # noqa: N802
        whole = pa.concat_tables(self._partitions)
        parts = [whole.filter(pa.compute.equal(whole[column], number)) for number in range(count)]
        self._spark.partitions = parts
        return _Frame(self._spark, parts)

    @property
    def write(self) -> _Write:
        return _Write(self._spark, self._partitions)


class _Write:
    """A data source and its commit protocol, as Spark calls them: the writer is pickled for every task."""

    def __init__(self, spark: InProcessSpark, partitions: list[pa.Table]) -> None:
        self._spark = spark
        self._partitions = partitions
        self._options: dict[str, str] = {}
        self._mode = ""

    def format(self, name: str) -> _Write:
        assert name in self._spark.registered, "Spark would start workers of their own for a source it finds by itself"
        return self

    def mode(self, mode: str) -> _Write:
        self._mode = mode
        return self

    def options(self, **options: str) -> _Write:
        self._options |= options
        return self

    def save(self, path: str) -> None:
        from pyspark.sql.pandas.types import from_arrow_schema

        from endive.pipeline.sweep.datasource import EndiveDataSource

        self._spark.jobs += 1
        schema = from_arrow_schema(self._partitions[0].schema)
        source = EndiveDataSource({**self._options, "path": path})
        writer = source.writer(schema, self._mode == "overwrite")
        messages: list[Any] = []
        try:
            for partition in self._partitions:
                for _ in range(self._spark.repeats):
                    message = pickle.loads(pickle.dumps(writer)).write(iter(partition.to_batches()))
                messages.append(pickle.loads(pickle.dumps(message)))
        except Exception:
            writer.abort(messages)
            raise
        if self._spark.dies_after is not None:
            writer.commit(_first_parts(messages, self._spark.dies_after))
            raise KeyboardInterrupt
        writer.commit(messages)


def _first_parts(messages: list[Any], count: int) -> list[Any]:
    """What a driver has moved that dies after so many parts."""
    kept = []
    for message in messages:
        kept.append(type(message)(message.folder, message.parts[: max(0, count)]))
        count -= len(message.parts)
    return kept
