"""The parts of a dataset, counted on Spark: every task reads the files of its parts, and only counts travel.

This file defines the tasks, the step inside ``mapInArrow`` and the sums over all parts. A run lies in one part, so
what needs a run as a whole is done where its part is read. How a file is counted is in
``endive.pipeline.analysis.txn_counts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.pipeline.analysis.count_rows import KEYS, LATENCIES, OUTCOMES, ROW_DDL, ROW_SCHEMA, SUMS, TIMELINE
from endive.pipeline.analysis.open_dataset import Dataset, damaged
from endive.pipeline.analysis.scopes import summed
from endive.pipeline.analysis.txn_counts import CountedRun, count_txns
from endive.pipeline.dataset.part_files import Part, PartFiles
from endive.pipeline.dataset.places import DatasetPath, parquet_file, place_of
from endive.pipeline.spark.session import core_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TASKS_PER_CORE: Final = 4
TASK_TXNS_MIN: Final = 1_000_000  # half a second; a task costs a tenth
POOLED_RUNS_MIN: Final = 1_000  # from here on Spark adds the counts up before they come to the driver
TASK_SCHEMA: Final = pa.schema(
    [
        ("task", pa.int32()),
        ("study", pa.string()),
        ("part", pa.string()),
        ("run_id", pa.string()),
        ("is_kept", pa.bool_()),
        ("point", pa.int32()),
        ("duration_us", pa.int64()),
        ("window_start_us", pa.int64()),
        ("window_end_us", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class Counting:
    """What every task has to know."""

    folder: str
    bins: int


def counted_parts(spark: SparkSession, dataset: Dataset, bins: int) -> pa.Table:
    """``ROW_SCHEMA``: the counts of all parts, of each kind."""
    tasks = part_rows(dataset, cores=core_count(spark))
    n_tasks = pc.max(tasks["task"]).as_py() + 1
    frame: DataFrame = spark.createDataFrame(tasks).repartitionById(n_tasks, "task")
    counting = Counting(str(dataset.folder.path), bins)
    rows = frame.mapInArrow(partial(count_task, counting), ROW_DDL)
    if dataset.runs.num_rows >= POOLED_RUNS_MIN:
        rows = rows.transform(pooled)
    return rows.toArrow()


def pooled(rows: DataFrame) -> DataFrame:
    """Rows with equal keys added up."""
    from pyspark.sql import functions as sf

    return rows.groupBy(*KEYS).agg(*(sf.sum(name).alias(name) for name in SUMS)).select(*ROW_SCHEMA.names)


def part_rows(dataset: Dataset, *, cores: int) -> pa.Table:
    """``TASK_SCHEMA``: every run that ended, with the task that counts its part."""
    runs = {(row["study"], row["run_id"]): row for row in _ended(dataset).to_pylist()}
    rows: list[dict[str, Any]] = []
    costs: dict[tuple[str, str], int] = {}
    for study in dataset.studies:
        for part in dataset.folder.studies[study].parts:
            known = [runs[study, run_id] for run_id in part.run_ids if (study, run_id) in runs]
            rows += [_task_row(study, part, run) for run in known]
            costs[study, part.name] = sum(run["txns"] for run in known if run["transactions_kept"])
    tasks = _tasks(costs, cores)
    return pa.Table.from_pylist([{**row, "task": tasks[row["study"], row["part"]]} for row in rows], TASK_SCHEMA)


def _ended(dataset: Dataset) -> pa.Table:
    names = ["study", "run_id", "point", "txns", "transactions_kept", "duration_ms", "window_start_ms", "window_end_ms"]
    return dataset.runs.filter(pc.equal(dataset.runs["status"], "ok")).select(names)


def _task_row(study: str, part: Part, run: dict[str, Any]) -> dict[str, Any]:
    return {
        "study": study,
        "part": part.name,
        "run_id": run["run_id"],
        "is_kept": run["transactions_kept"],
        "point": run["point"],
        **{f"{name}_us": int(run[f"{name}_ms"] * 1000.0 + 0.5) for name in ("duration", "window_start", "window_end")},
    }


def _tasks(costs: dict[tuple[str, str], int], cores: int) -> dict[tuple[str, str], int]:
    """The task of every part: the costliest first, each to the task that has least to do."""
    worthwhile = max(cores, sum(costs.values()) // TASK_TXNS_MIN)
    loads = [0] * max(1, min(len(costs), worthwhile, TASKS_PER_CORE * cores))
    found = {}
    for part in sorted(costs, key=lambda part: (-costs[part], part)):
        task = loads.index(min(loads))
        found[part] = task
        loads[task] += costs[part] + 1
    return found


# ---- in a worker -------------------------------------------------------------------------------------


def count_task(counting: Counting, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Count the parts of one task."""
    rows = pa.Table.from_batches(batches, TASK_SCHEMA).to_pylist()
    parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["study"], row["part"]), []).append(row)
    for (study, name), runs in parts.items():
        kept = [run["run_id"] for run in runs if run["is_kept"]]
        files = PartFiles(place_of(counting.folder), study, Part.of(name, [run["run_id"] for run in runs], kept))
        for counts in count_part(files, runs, counting.bins):
            yield from counts.to_batches()


def count_part(files: PartFiles, runs: list[dict[str, Any]], bins: int) -> Iterator[pa.Table]:
    """The counts of one part, as common rows of each kind."""
    points = {run["run_id"]: run["point"] for run in runs}
    yield LATENCIES.rows(files.study, _latencies(files.latencies, points))
    kept = {run["run_id"]: _counted_run(run) for run in runs if run["is_kept"]}
    if kept:
        timeline, outcomes = _read(files.transactions, lambda file: count_txns(file, kept, bins))
        yield TIMELINE.rows(files.study, timeline)
        yield OUTCOMES.rows(files.study, outcomes)


def _counted_run(run: Mapping[str, Any]) -> CountedRun:
    return CountedRun(
        point=run["point"],
        duration_us=run["duration_us"],
        window_start_us=run["window_start_us"],
        window_end_us=run["window_end_us"],
    )


def _latencies(path: DatasetPath, points: dict[str, int]) -> pa.Table:
    found = _read(path, lambda file: file.read(use_threads=False))
    known = pa.table({"run_id": pa.array(points, pa.string()), "point": pa.array(points.values(), pa.int32())})
    texts = {name: found[name].cast(pa.string()) for name in ("run_id", *LATENCIES.texts)}
    counts = pa.table({**texts, "bin": found["bin"], "txns": found["txns"]})
    placed = counts.join(known, keys="run_id", join_type="inner", use_threads=False)
    return summed(placed, ["point", *LATENCIES.texts, "bin"], ["txns"])


def _read(path: DatasetPath, reader: Any) -> Any:
    """What ``reader`` makes of a Parquet file, each page held against its checksum."""
    try:
        with parquet_file(path, page_checksum_verification=True) as file:
            return reader(file)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from None
