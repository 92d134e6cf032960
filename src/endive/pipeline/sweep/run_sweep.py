"""A study on Spark: every run that is missing is simulated, and what is there is kept.

The order of things is plan, work, gather. Each step has a file of its own: ``plan``, ``sweep_writer`` with
``part``, ``gather``. Seeds come from the run, never from the partition, so nothing here has any
influence on results. Nothing needs ``sparkContext``, so Spark Connect works too.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from endive.config.study.absolute_paths import with_paths
from endive.config.study.study_text import study_text
from endive.errors import ConfigError, EndiveError, EngineError, OutputError
from endive.kernel_cache import is_kept
from endive.pipeline.dataset.check import forget_damaged, rebuild_plans
from endive.pipeline.dataset.part_files import DETAIL_TRANSACTIONS, DETAILS, Part, Record, record_digest
from endive.pipeline.dataset.places import DatasetPath, place_errors, write_whole
from endive.pipeline.dataset.referred_files import FILES, keep_files
from endive.pipeline.dataset.sweep_folder import PROGRESS, STAGING, STUDIES, StudyPlan, SweepFolder
from endive.pipeline.spark.session import no_workers
from endive.pipeline.sweep.gather import gather
from endive.pipeline.sweep.plan import PlannedStudy, Run, kept_runs, plan_jobs, plan_parts, plan_tasks, txn_s
from endive.pipeline.sweep.sweep_writer import TASK_SCHEMA
from endive.pipeline.sweep.work import Progress, report_progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STUDY_FOLDER: Final = "study="  # of notes on progress, and of parts that nobody has committed
COMMIT_EVERY_S: Final = 60.0  # of work, which is lost if a driver dies

SessionMaker = Callable[[], "SparkSession"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepOutcome:
    """What a sweep did, and what its folder now holds of the study."""

    folder: DatasetPath
    study: str
    simulated: int  # runs, now
    kept: int  # runs that were there before
    failed: tuple[tuple[str, str], ...]  # run_id and error, of all
    txns: int  # of all
    transactions_bytes: int
    wall_s: float


def run_sweep(
    planned: PlannedStudy,
    out: str | DatasetPath,
    session: SessionMaker,
    *,
    detail: str = DETAIL_TRANSACTIONS,
    engine: str = "auto",
    retries_failed: bool = False,
    repairs: bool = False,
    progress: Progress | None = None,
    commit_every_s: float = COMMIT_EVERY_S,
) -> SweepOutcome:
    """Run what is missing of a study in a folder; the session is made only if something is.

    With ``repairs``, what is damaged counts as missing. ``commit_every_s``: about how long a job of Spark's takes,
    whose parts appear together. Raises EndiveError if it cannot be finished. Jobs that were committed until then stay.
    """
    if detail not in DETAILS:
        raise ConfigError(f"detail = '{detail}' is not known. Choose one of: {', '.join(DETAILS)}.")
    start_s = time.monotonic()
    name = planned.study.name
    with SweepFolder.locked(out, rebuild_plans if repairs else None) as folder:
        _refuse_mixing(folder, planned, detail)
        folder.sweep_out()
        if repairs:
            forget_damaged(folder, name)
        kept = _runs_in(folder.records(name))
        if retries_failed:
            kept = _forget_failed(folder, name, kept)
        try:
            if len(kept) < len(planned.runs):
                _simulate_missing(folder, planned, detail, engine, session, progress, commit_every_s)
        finally:
            records = folder.records(name, hashes=False)  # what was there has been checked, the rest was written now
            runs = _runs_in(records)
            if name in folder.studies:
                _finish(folder, planned, runs, {record["part"]: record_digest(record) for record in records})
        if len(runs) == len(planned.runs):
            folder.sweep_out(own=f"{STUDY_FOLDER}{name}")  # what killed sweeps left: nobody will commit it any more
    return SweepOutcome(
        folder=folder.path,
        study=name,
        simulated=len(runs) - len(kept),
        kept=len(kept),
        failed=tuple((run_id, run["error"]) for run_id, run in runs.items() if run["error"]),
        txns=sum(run.get("txns") or 0 for run in runs.values()),
        transactions_bytes=sum(
            files.transactions.stat().st_size for files in folder.complete_parts(name) if files.keeps_transactions
        ),
        wall_s=time.monotonic() - start_s,
    )


# ---- plan --------------------------------------------------------------------------------------------


def _refuse_mixing(folder: SweepFolder, planned: PlannedStudy, detail: str) -> None:
    plan = folder.studies.get(planned.study.name)
    if plan is None:
        return
    if plan.detail != detail:
        raise OutputError(
            f"{folder.path} keeps study '{planned.study.name}' with --detail {plan.detail}, not {detail}. "
            "Choose another folder."
        )
    others = plan.run_ids - {run.run_id for run in planned.runs}
    if others:
        raise OutputError(
            f"{folder.path} holds {len(others):,} runs of a study '{planned.study.name}' that this study does "
            "not have: its base, axes or seeds were changed. Rename the study, or choose another folder."
        )


def _runs_in(records: Sequence[Record]) -> dict[str, Record]:
    """What the records of parts say of runs, by run."""
    return {run["run_id"]: run for record in records for run in record["runs"]}


def _forget_failed(folder: SweepFolder, name: str, records: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    failed = {run_id for run_id, record in records.items() if record["error"]}
    again = [files for files in folder.complete_parts(name) if failed & set(files.part.run_ids)]
    for files in again:
        files.forget()
    gone = {run_id for files in again for run_id in files.part.run_ids}
    return {run_id: record for run_id, record in records.items() if run_id not in gone}


def _extend_plan(folder: SweepFolder, planned: PlannedStudy, detail: str, cores: int) -> None:
    """Give a part to every run that has none, and write the plan before anything runs."""
    plan = folder.studies.setdefault(planned.study.name, StudyPlan(detail))
    known = plan.run_ids
    new = [run for run in planned.runs if run.run_id not in known]
    kept = kept_runs(planned.runs, detail)
    plan.parts += plan_parts(new, cores=cores, kept=kept, first_number=len(plan.parts))
    keep_files(folder.path, _files(planned))
    folder.write_manifest()
    folder.make_places(planned.study.name)


def _files(planned: PlannedStudy) -> dict[str, str]:
    """The files that the study refers to, by their names in the dataset."""
    return {name: path for run in planned.runs for name, path in run.files.items()}


# ---- work --------------------------------------------------------------------------------------------


def _simulate_missing(
    folder: SweepFolder,
    planned: PlannedStudy,
    detail: str,
    engine: str,
    make_session: SessionMaker,
    progress: Progress | None,
    commit_every_s: float,
) -> None:
    from endive.pipeline.spark.session import core_count, is_local
    from endive.pipeline.sweep import datasource

    warm_up = start_warm_up(engine)  # the engine is loaded beside the start of the session
    spark = make_session()
    cores = core_count(spark)
    if warm_up is not None and is_local(spark):
        warm_up.join()
    _extend_plan(folder, planned, detail, cores)
    name = planned.study.name
    runs = {run.run_id: run for run in planned.runs}
    missing = folder.missing_parts(name)
    own = f"{STUDY_FOLDER}{name}/{secrets.token_hex(4)}"
    notes = folder.path / PROGRESS / own
    with place_errors(notes):
        notes.mkdir(parents=True)
    options = {"study": name, "engine": engine, "notes": str(notes), "staging": str(folder.path / STAGING / own)}
    try:
        with report_progress(notes, missing, runs, progress):
            # Spark keeps workers by their environment. A source that it finds by itself lacks what the driver gives to
            # its functions, and does not get those that were woken with the session; one that is registered does.
            if is_local(spark):
                spark.dataSource.register(datasource.EndiveDataSource)
            first_cost = commit_every_s * cores / txn_s(engine)  # until a job has been timed
            _run_jobs(spark, missing, runs, cores, commit_every_s, first_cost, partial(_write, folder, options))
    except BaseException as error:
        with suppress(Exception):
            spark.interruptAll()
        if isinstance(error, EndiveError) or not isinstance(error, Exception):
            raise
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        if not folder.missing_parts(name):
            return  # Spark ended after the last part was done: nothing is missing
        raise EngineError(_describe_error(error)) from error
    finally:
        folder.sweep_out(own=own)


def _run_jobs(
    spark: SparkSession,
    missing: Sequence[Part],
    runs: Mapping[str, Run],
    cores: int,
    commit_every_s: float,
    cost_max: float,
    write: Callable[[DataFrame], None],
) -> None:
    """One job after another: what one has committed is kept, whatever happens then."""
    from endive.pipeline.spark.session import job_named, quiet_interrupts

    waiting = list(missing)
    while waiting:
        job, waiting = plan_jobs(waiting, runs, cost_max)
        run_ids = [run_id for part in job for run_id in part.run_ids]
        begin_s = time.monotonic()
        with quiet_interrupts(), job_named(spark, f"simulate {len(run_ids):,} runs"):
            write(runs_frame(spark, plan_tasks(job, runs, cores=cores), runs))
        cost_max = sum(runs[run_id].cost for run_id in run_ids) * commit_every_s / (time.monotonic() - begin_s)


def _write(folder: SweepFolder, options: Mapping[str, str], frame: DataFrame) -> None:
    """Simulate every run of a ``runs_frame``; Spark commits the parts."""
    frame.write.format("endive").mode("append").options(**options).save(str(folder.path))


def runs_frame(spark: SparkSession, tasks: Sequence[Sequence[Part]], runs: Mapping[str, Run]) -> DataFrame:
    """The runs of these tasks, one partition per task."""
    rows = [
        {
            "task": task,
            "part": part.name,
            "part_position": part_position,
            "run_position": run_position,
            "point": runs[run_id].point,
            "run_id": run_id,
            "seed": runs[run_id].seed,
            "config": runs[run_id].config,
            "config_hash": runs[run_id].config_hash,
            "keeps_transactions": run_id in part.kept,
        }
        for task, parts in enumerate(tasks)
        for part_position, part in enumerate(parts)
        for run_position, run_id in enumerate(part.run_ids)
    ]
    frame: DataFrame = spark.createDataFrame(pa.Table.from_pylist(rows, TASK_SCHEMA))
    return frame.repartitionById(len(tasks), "task")


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Spark's complaint about a cancelled job hides the Ctrl-C that cancelled it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__context__
    return False


def _describe_error(error: Exception) -> str:
    """What Spark's many lines come down to: the last line of the worker's own traceback, if there is one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("endive.errors.")]
    if ours:
        return ours[-1].partition(": ")[2]
    if workers := no_workers(str(error)):
        return f"{workers} What was finished is kept."
    reason = next((line for line in lines if "Exception" in line or "Error" in line), lines[0] if lines else "?")
    return f"Spark gave up: {reason} What was finished is kept; the same command goes on from there."


# ---- gather ------------------------------------------------------------------------------------------


def _finish(folder: SweepFolder, planned: PlannedStudy, runs: Mapping[str, Record], parts: Mapping[str, str]) -> None:
    """Write what sums up a study; ``parts`` are the digests of those it comes from."""
    folder.make_places(planned.study.name)
    kept = {path: f"../{FILES}/{name}" for name, path in _files(planned).items()}
    text = study_text(with_paths(planned.study, kept))
    write_whole(folder.path / STUDIES / f"{planned.study.name}.toml", text.encode())
    gather(folder, planned.study.name, planned.runs, planned.axes, runs.values())
    folder.summaries(planned.study.name).seal(parts)


def start_warm_up(engine: str) -> threading.Thread | None:
    """Begin to compile the engine; None if that is not needed. Join it before workers start on this machine."""
    from endive.pipeline.spark.worker_daemon import load_engine

    if engine == "reference" or is_kept("simulation.compiled.loop"):
        return None
    thread = threading.Thread(target=load_engine, name="endive-warm-up", daemon=True)
    thread.start()
    return thread
