"""As much of a Spark session as a sweep uses, without a JVM: partitions are tasks, and tasks run one after another.

A test can ask for faults: tasks that are repeated after they ended, and a driver that dies before it has its rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle


class InProcessSpark:
    """Set ``repeats`` to run every task again, ``dies_after`` to lose the driver after so many tasks."""

    def __init__(self, cores: int = 2) -> None:
        self.cores = cores
        self.repeats = 1
        self.dies_after: int | None = None
        self.partitions: list[pa.Table] = []
        self.jobs = 0
        self.cancelled: list[str] = []
        self.one_at_a_time = threading.Lock()

    @property
    def conf(self) -> dict[str, str]:
        return {"spark.master": f"local[{self.cores}]"}

    @property
    def sparkContext(self) -> _Context:  # noqa: N802
        return _Context(self)

    def createDataFrame(self, table: pa.Table) -> _Frame:  # noqa: N802
        return _Frame(self, [table])


class _Context:
    def __init__(self, spark: InProcessSpark) -> None:
        self._spark = spark

    def setJobGroup(self, name: str, text: str, interrupts: bool) -> None:  # noqa: N802
        pass

    def setJobDescription(self, text: str) -> None:  # noqa: N802
        pass

    def setLocalProperty(self, name: str, value: object) -> None:  # noqa: N802
        pass

    def cancelJobGroup(self, name: str) -> None:  # noqa: N802
        self._spark.cancelled.append(name)


Task = Callable[..., Any]


class _Frame:
    def __init__(self, spark: InProcessSpark, partitions: list[pa.Table], task: Task | None = None) -> None:
        self._spark = spark
        self._partitions = partitions
        self._task = task

    def repartitionById(self, count: int, column: str) -> _Frame:  # noqa: N802
        whole = pa.concat_tables(self._partitions)
        parts = [whole.filter(pa.compute.equal(whole[column], number)) for number in range(count)]
        self._spark.partitions = parts
        return _Frame(self._spark, parts)

    def mapInArrow(self, task: Callable[..., Any], schema: object) -> _Frame:  # noqa: N802
        return _Frame(self._spark, self._partitions, task)

    def toArrow(self) -> pa.Table:  # noqa: N802
        assert self._task is not None
        with self._spark.one_at_a_time:
            self._spark.jobs += 1
            results: list[pa.RecordBatch] = []
            for number, partition in enumerate(self._partitions):
                if self._spark.dies_after is not None and number >= self._spark.dies_after:
                    raise KeyboardInterrupt
                for _ in range(self._spark.repeats):
                    task = cloudpickle.loads(cloudpickle.dumps(self._task))
                    batches = list(task(iter(partition.to_batches())))
                results += batches
            return pa.Table.from_batches(results)
