"""A study on Spark: every run that the table of runs lacks is simulated, and what is there stays.

Parts go to Spark in jobs of about a minute's work. The rows that a job brings back are added to the table of runs with
one object, and exist from then on; a driver that dies loses no more than a job's rows, and not their transactions. Two
jobs run at a time, so that a long run of one does not keep the cores idle. Nothing needs ``sparkContext``, so Spark
Connect works too.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import ConfigError, EndiveError, EngineError, OutputError
from endive.kernel_cache import is_kept
from endive.pipeline.dataset.check import remove_damaged
from endive.pipeline.dataset.files import Place, held, is_abandoned, place_errors
from endive.pipeline.dataset.runs_table import OK, RESULT_SCHEMA, append_rows, read_state, run_schema
from endive.pipeline.dataset.sweep_dataset import (
    DETAIL_TRANSACTIONS,
    DETAILS,
    PROGRESS,
    SweepDataset,
    find_dataset,
    refuse_other_study,
    write_plan,
)
from endive.pipeline.spark.session import core_count, explain_spark, is_local, job_group, quiet_interrupts, setting
from endive.pipeline.sweep.plan import (
    Part,
    PlannedStudy,
    Run,
    axis_values,
    kept_runs,
    plan_jobs,
    plan_parts,
    plan_tasks,
    txn_s,
)
from endive.pipeline.sweep.simulate import TASK_SCHEMA, SimulateTask, parts_done, run_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COMMIT_EVERY_S: Final = 60.0  # of work; its rows are lost if a driver dies, its transactions are not
JOBS_AT_ONCE: Final = 2
JOB_RUNS_MAX: Final = 10_000  # their rows are in the driver's memory together
POLL_S: Final = 0.3
POLL_STORE_S: Final = 3.0  # each time is a request that costs money

SessionMaker = Callable[[], "SparkSession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What a sweep did, and what the dataset now holds of the study."""

    folder: Place
    study: str
    simulated: int  # runs, now
    kept: int  # runs that were there before
    failed: tuple[tuple[str, str], ...]  # run_id and error, of all
    txns: int  # of all
    transactions_bytes: int
    wall_s: float
    repeated: Mapping[str, int]  # runs whose task was repeated, by the machine that did it at last


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a study is, with what was there when the sweep began."""

    runs_done: int
    runs_total: int
    share_done: float  # of the expected work
    has_begun: bool = True  # whether a part is done; before that, Spark gets ready
    runs_before: int = 0  # that were there
    share_before: float = 0.0  # of the work, that was done


Progress = Callable[[Standing], None]


def run_sweep(
    planned: PlannedStudy,
    out: str | Path | Place,
    session: SessionMaker,
    *,
    detail: str = DETAIL_TRANSACTIONS,
    engine: str = "auto",
    retries_failed: bool = False,
    repairs: bool = False,
    progress: Progress | None = None,
    commit_every_s: float | None = None,
) -> SweepOutcome:
    """Run what is missing of a study; the session is made only if something is.

    With ``repairs``, what is damaged is removed and counts as missing. ``commit_every_s``: about how long a job of
    Spark's takes. Raises EndiveError if it cannot be finished; jobs that were committed until then stay.
    """
    if detail not in DETAILS:
        raise ConfigError(f"detail = '{detail}' is not known. Choose one of: {', '.join(DETAILS)}.")
    start_s = time.monotonic()
    study = planned.study
    dataset = find_dataset(out, study.name, detail, repairs=repairs)
    if repairs:
        remove_damaged(dataset, study.name)
    state = read_state(dataset.place, study.name)
    refuse_other_study(dataset, study.name, state["run_id"].to_pylist(), {run.run_id for run in planned.runs})
    done = runs_done(dataset, study.name, state, retries_failed=retries_failed)
    parts = plan_parts(planned.runs, kept=kept_runs(planned.runs, detail), done=done)
    repeated: Counter[str] = Counter()
    job = _Sweep(dataset, planned, detail, engine, repeated)
    if parts:
        job.run(parts, session, progress, commit_every_s)
        state = read_state(dataset.place, study.name)
    else:
        job.write_plan()
    failed = state.filter(pc.not_equal(state["status"], OK))
    objects = dict(zip(state["file"].to_pylist(), state["bytes"].to_pylist(), strict=True))
    return SweepOutcome(
        folder=dataset.place,
        study=study.name,
        simulated=state.num_rows - len(done),
        kept=len(done),
        failed=tuple(zip(failed["run_id"].to_pylist(), failed["error"].to_pylist(), strict=True))
        if len(failed)
        else (),
        txns=pc.sum(state["txns"]).as_py() or 0,
        transactions_bytes=sum(size for name, size in objects.items() if name),
        wall_s=time.monotonic() - start_s,
        repeated=dict(repeated),
    )


def runs_done(dataset: SweepDataset, study: str, state: pa.Table, *, retries_failed: bool = False) -> set[str]:
    """Return the runs that need not be simulated: a row tells of them, and what it names is there in its size."""
    folder = dataset.transactions(study)
    sizes = {place.name: size for place, size in folder.sizes().items()}
    done = set()
    for run_id, status, name, size in zip(
        *(state[column].to_pylist() for column in ("run_id", "status", "file", "bytes")), strict=True
    ):
        if name is not None and name in sizes and sizes[name] != size:
            raise OutputError(
                f"{folder / name} is damaged: it has {sizes[name]:,} bytes of {size:,}. Sweep again with --repair: "
                "only the runs in it are simulated again."
            )
        if (name is None or name in sizes) and (status == OK or not retries_failed):
            done.add(run_id)
    return done


class _Sweep:
    """The simulation of the missing parts of one study."""

    def __init__(
        self, dataset: SweepDataset, planned: PlannedStudy, detail: str, engine: str, repeated: Counter[str]
    ) -> None:
        self._dataset, self._planned, self._detail = dataset, planned, detail
        self._engine, self._repeated = engine, repeated
        self._runs = {run.run_id: run for run in planned.runs}
        self._schema = run_schema(planned.axes)
        self._notes = dataset.place / PROGRESS / secrets.token_hex(4)

    def write_plan(self) -> None:
        """Write down what is planned."""
        files = {name: path for run in self._planned.runs for name, path in run.files.items()}
        runs = len(self._planned.runs)
        write_plan(self._dataset, self._planned.study, self._detail, runs_planned=runs, files=files)
        self._remove_notes()

    def _remove_notes(self) -> None:
        """Remove the notes of sweeps that were killed."""
        with suppress(OSError):
            for notes in self._notes.parent.children():
                if is_abandoned(notes):
                    notes.remove_tree()
            self._notes.parent.remove_empty()

    def run(
        self,
        parts: Sequence[Part],
        make_session: SessionMaker,
        progress: Progress | None,
        commit_every_s: float | None,
    ) -> None:
        """Simulate the parts, and add their rows job by job."""
        warm_up = start_warm_up(self._engine)  # the engine is loaded beside the start of the session
        spark = make_session()
        if warm_up is not None and is_local(spark):
            warm_up.join()
        self.write_plan()
        with place_errors(self._notes):
            self._notes.mkdir()
            self._dataset.transactions(self._planned.study.name).mkdir()
        group = f"endive-{secrets.token_hex(4)}"
        try:
            with held(self._notes), _Reporter(self._notes, parts, self._runs, progress), quiet_interrupts():
                self._run_jobs(
                    spark, parts, group, commit_every_s or float(setting(spark, "commitEvery", COMMIT_EVERY_S))
                )
        except BaseException as error:
            if isinstance(error, EndiveError) or not isinstance(error, Exception):
                raise
            if _was_interrupted(error):
                raise KeyboardInterrupt from None
            raise EngineError(f"{explain_spark(error)} Completed runs are kept; the same command resumes.") from error
        finally:
            with suppress(Exception):
                self._notes.remove_tree()
                self._remove_notes()

    def _run_jobs(self, spark: SparkSession, parts: Sequence[Part], group: str, commit_every_s: float) -> None:
        cores = core_count(spark)
        tasks_per_core = int(setting(spark, "tasksPerCore", 4))
        cost_max = commit_every_s * cores / txn_s(self._engine)  # until a job has been timed
        waiting = list(parts)
        pending: set[Future[float]] = set()
        with ThreadPoolExecutor(JOBS_AT_ONCE, thread_name_prefix="endive-job") as jobs:
            try:
                while waiting or pending:
                    while waiting and len(pending) < JOBS_AT_ONCE:
                        job, waiting = plan_jobs(waiting, self._runs, cost_max, JOB_RUNS_MAX)
                        tasks = plan_tasks(job, self._runs, cores=cores, per_core=tasks_per_core)
                        pending.add(jobs.submit(self._run_job, spark, tasks, group))
                    finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                    cost_max = commit_every_s * max(each.result() for each in finished)
            except BaseException:
                with suppress(Exception):
                    job_group(spark, group).cancel()
                for each in pending:
                    each.cancel()
                raise

    def _run_job(self, spark: SparkSession, tasks: Sequence[Sequence[Part]], group: str) -> float:
        """Simulate the parts of a job and add their rows; the work done per second."""
        begin_s = time.monotonic()
        run_ids = [run_id for task in tasks for part in task for run_id in part.run_ids]
        with job_group(spark, group).described(f"simulate {len(run_ids):,} runs of {self._planned.study.name}"):
            results = self._simulated(runs_frame(spark, tasks, self._runs), len(tasks)).toArrow()
        append_rows(self._dataset.place, self._planned.study.name, self.rows(results))
        cost = sum(self._runs[run_id].cost for run_id in run_ids)
        return cost / max(time.monotonic() - begin_s, 1e-3)

    def _simulated(self, frame: DataFrame, tasks: int) -> DataFrame:
        study = self._planned.study.name
        task = SimulateTask(
            passed=(),
            keeps_transactions=False,
            engine=self._engine,
            out=str(self._dataset.place),
            folder=str(self._dataset.transactions(study)),
            notes=str(self._notes),
        )
        return run_tasks(frame, task)

    def rows(self, results: pa.Table) -> pa.Table:
        """Return the rows of a job as the table of runs has them, in the order of the plan."""
        repeated = results.filter(pc.greater(results["attempt"], 0))["worker"].to_pylist()
        self._repeated.update(repeated)
        order = {run_id: index for index, run_id in enumerate(self._runs)}
        run_ids = results["run_id"].to_pylist()
        places = sorted(range(len(run_ids)), key=lambda index: order[run_ids[index]])
        results = results.take(pa.array(places, pa.int64()))
        runs = [self._runs[run_ids[index]] for index in places]
        planned = {
            "point": [run.point for run in runs],
            "seed": [run.seed for run in runs],
            "config": [run.config for run in runs],
        }
        values = [axis_values(self._planned.axes, run.values) for run in runs]
        columns = {
            field.name: results[field.name].cast(field.type)
            if field.name in RESULT_SCHEMA.names
            else pa.array(planned.get(field.name) or [each[field.name] for each in values], field.type)
            for field in self._schema
        }
        return pa.table(columns, schema=self._schema)


def runs_frame(spark: SparkSession, tasks: Sequence[Sequence[Part]], runs: Mapping[str, Run]) -> DataFrame:
    """Return the runs of these tasks as a DataFrame with one partition per task."""
    rows: list[dict[str, Any]] = [
        {
            "task": task,
            "part": part.name,
            "run_id": run_id,
            "seed": runs[run_id].seed,
            "point": runs[run_id].point,
            "config": runs[run_id].shared_config,
            "config_hash": runs[run_id].config_hash,
            "keeps_transactions": run_id in part.kept,
        }
        for task, parts in enumerate(tasks)
        for part in parts
        for run_id in part.run_ids
    ]
    frame: DataFrame = spark.createDataFrame(pa.Table.from_pylist(rows, TASK_SCHEMA))
    return frame.repartitionById(len(tasks), "task")


class _Reporter:
    """A thread that reports progress now and then while the block runs, and once at its end."""

    def __init__(self, notes: Place, parts: Sequence[Part], runs: Mapping[str, Run], progress: Progress | None) -> None:
        self._notes, self._parts, self._progress = notes, {part.name: part for part in parts}, progress
        self._cost = {part.name: sum(runs[run_id].cost for run_id in part.run_ids) for part in parts}
        self._total = sum(run.cost for run in runs.values())
        self._runs_total = len(runs)
        self._runs_before = len(runs) - sum(len(part.run_ids) for part in parts)
        self._share_before = 1.0 - sum(self._cost.values()) / self._total
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="endive-progress")

    def __enter__(self) -> None:
        if self._progress is not None:
            self._report()
            self._thread.start()

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._has_ended.set()
            self._thread.join()
            self._report()

    def _watch(self) -> None:
        while not self._has_ended.wait(POLL_S if self._notes.is_local else POLL_STORE_S):
            self._report()

    def _report(self) -> None:
        done = parts_done(self._notes) & self._parts.keys()
        assert self._progress is not None
        self._progress(
            Standing(
                self._runs_before + sum(len(self._parts[name].run_ids) for name in done),
                self._runs_total,
                self._share_before + sum(self._cost[name] for name in done) / self._total,
                has_begun=bool(done),
                runs_before=self._runs_before,
                share_before=self._share_before,
            )
        )


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Spark's complaint about a cancelled job hides the Ctrl-C that cancelled it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def start_warm_up(engine: str) -> threading.Thread | None:
    """Begin to compile the engine; None if that is not needed. Join it before workers start on this machine."""
    from endive.pipeline.spark.worker_daemon import load_engine

    if engine == "reference" or is_kept("simulation.compiled.loop"):
        return None
    thread = threading.Thread(target=load_engine, name="endive-warm-up", daemon=True)
    thread.start()
    return thread
