"""As much of a Spark session as a sweep uses, without a JVM: partitions are tasks, and tasks run one after another.

This file defines the faults a test can ask for: a task that is repeated after it ended, one that dies before it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class InProcessSpark:
    """Set ``repeats`` to run every task again, ``dies_after`` to lose the driver after so many parts."""

    def __init__(self, cores: int = 2) -> None:
        self.cores = cores
        self.repeats = 1
        self.dies_after: int | None = None
        self.partitions: list[pa.Table] = []
        self.interrupted = 0

    @property
    def conf(self) -> dict[str, str]:
        return {"spark.master": f"local[{self.cores}]"}

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

    def transform(self, step: Callable[..., Any], *arguments: Any) -> Any:
        return step(self, *arguments)

    def mapInArrow(self, task: Task, schema: str) -> _Mapped:  # noqa: N802
        return _Mapped(self._spark, self._partitions, task)


class _Mapped:
    def __init__(self, spark: InProcessSpark, partitions: list[pa.Table], task: Task) -> None:
        self._spark = spark
        self._partitions = partitions
        self._task = task

    def toArrow(self) -> pa.Table:  # noqa: N802
        told: list[pa.RecordBatch] = []
        for partition in self._partitions:
            for _ in range(self._spark.repeats):
                for batch in self._task(iter(partition.to_batches())):
                    told.append(batch)
                    if self._spark.dies_after == len(told):
                        raise KeyboardInterrupt
        return pa.Table.from_batches(told)
