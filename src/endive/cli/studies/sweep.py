"""``endive sweep``: run a study on Spark, or go on with one.

The study is in ``endive.config.study``, the sweep in ``endive.pipeline.sweep``.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.markup import escape
from rich.text import Text

from endive.cli import options
from endive.cli.console import print_aside, print_line, stderr, stdout
from endive.cli.options import Detail, Engine
from endive.cli.progress import bar
from endive.cli.tables import new_table, size
from endive.config.study import load_study
from endive.config.toml_text import value_text
from endive.errors import OutputError

if TYPE_CHECKING:
    from endive.pipeline import PlannedStudy, SweepOutcome
    from endive.pipeline.sweep.run_sweep import Progress, SessionMaker, Standing

EXIT_SOME_FAILED: Final = 3  # the study is complete, but runs in it failed
_LONG_S: Final = 300.0  # a study that takes longer says so
_SHOWN_FAILURES_MAX: Final = 5
_SHOWN_VALUES_MAX: Final = 12


Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder of the dataset, or s3://, gs://, abfss://, hdfs://: new, empty, or of a sweep, which goes on.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the grid and an estimate; run nothing, write nothing.")]
Repair = Annotated[
    bool, typer.Option("--repair", help="Delete what 'endive check' finds damaged, and simulate it again.")
]
CommitEvery = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.1, help="How long a Spark job takes, whose runs are committed together."),
]
RetryFailed = Annotated[bool, typer.Option("--retry-failed", help="Simulate runs again that are recorded as failed.")]


def sweep(
    study: options.StudyFile,
    out: Out = None,
    seeds: options.Seeds = None,
    master: options.Master = None,
    detail: options.DetailChoice = Detail.TRANSACTIONS,
    overrides: options.StudyOverrides = None,
    slo: options.Slo = None,
    engine: options.EngineChoice = Engine.AUTO,
    conf: options.Conf = None,
    dry_run: DryRun = False,
    yes: options.Large = False,
    retry_failed: RetryFailed = False,
    repair: Repair = False,
    commit_every: CommitEvery = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="CATALOG.DB.NAME",
            help="Also append the runs to an Iceberg or Delta table, through a catalog that --conf gives to Spark.",
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Simulate every run of a study that DIR does not hold yet.

    Stop it with Ctrl-C, kill it, lose a machine: the same command goes on where it was. Ends with 3 if the study
    is complete but runs in it failed.
    """
    from endive.pipeline import PlannedStudy
    from endive.pipeline.dataset.runs_copy import append_missing, check_table_name
    from endive.pipeline.spark.session import PYTHON_JOBS, session_on_demand, with_workers

    settings = worker_settings(PYTHON_JOBS, engine, conf)
    planned = PlannedStudy.of(load_study(study, overrides or (), seeds, slo))
    if dry_run:
        _print_plan(planned, out, master, engine, detail)
        return
    if out is None:
        raise OutputError("Where to? Name the folder of the dataset with --out DIR, or use --dry-run.")
    if table is not None:
        check_table_name(table)
    if not yes:
        planned.refuse_if_large()
    if not quiet:
        warn_if_long(planned, master, engine, detail)
    with session_on_demand(f"endive {planned.study.name}", master=master, conf=settings) as session:
        outcome = sweep_study(
            planned,
            out,
            with_workers(session),
            detail=detail,
            engine=engine,
            retries_failed=retry_failed,
            repairs=repair,
            commit_every_s=commit_every,
            quiet=quiet,
        )
        rows = None if table is None else append_missing(session(), outcome.folder, outcome.study, table)
    print_outcome(outcome)
    if rows is not None:
        typer.echo(f"{rows:,} runs added to the table {table}")
    exit_if_failed(outcome)


def worker_settings(settings: Mapping[str, str], engine: Engine, conf: Sequence[str] | None) -> dict[str, str]:
    """Settings of a session whose workers simulate, with those that the user gives."""
    from endive.pipeline.spark.session import SIMULATIONS, parse_conf

    return {**settings, **(SIMULATIONS if engine is not Engine.REFERENCE else {}), **parse_conf(conf or [])}


def sweep_study(
    planned: PlannedStudy,
    out: Path,
    session: SessionMaker,
    *,
    detail: Detail,
    engine: Engine,
    retries_failed: bool = False,
    repairs: bool = False,
    commit_every_s: float | None = None,
    quiet: bool = False,
) -> SweepOutcome:
    """Run what is missing, with a bar on a terminal."""
    from endive.pipeline import run_sweep
    from endive.pipeline.dataset.files import place_of

    with _bar(quiet=quiet) as progress:
        try:
            return run_sweep(
                planned,
                place_of(out),
                session,
                detail=detail.value,
                engine=engine.value,
                retries_failed=retries_failed,
                repairs=repairs,
                progress=progress,
                commit_every_s=commit_every_s,
            )
        except KeyboardInterrupt:
            if not quiet:
                print_aside(f"What was finished is kept in {place_of(out)}; the same command goes on from there.")
            raise


def exit_if_failed(outcome: SweepOutcome) -> None:
    """A study that is complete, but of which runs failed, ends with a code of its own."""
    if outcome.failed:
        raise typer.Exit(EXIT_SOME_FAILED)


# ---- progress ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _bar(*, quiet: bool) -> Iterator[Progress | None]:
    """A bar on a terminal, nothing where nobody looks."""
    with bar("simulating", "starting Spark", is_quiet=quiet) as update:
        begin_s: float | None = None

        def report(standing: Standing) -> None:
            nonlocal begin_s
            if begin_s is None and standing.has_begun:
                begin_s = time.monotonic()
            elapsed_s = 0.0 if begin_s is None else time.monotonic() - begin_s
            if update is not None:
                update(completed=standing.share_done, description=standing_text(standing, elapsed_s))

        yield None if update is None else report


def standing_text(standing: Standing, elapsed_s: float) -> str:
    """What stands beside the bar: runs done, their rate, the time left by the work left."""
    before = f" ({standing.runs_before:,} were there)" if standing.runs_before else ""
    done = f"{standing.runs_done:,} of {standing.runs_total:,} runs{before}"
    new = standing.runs_done - standing.runs_before
    if not new or elapsed_s <= 0.0:
        return done
    left_s = elapsed_s * (1.0 - standing.share_done) / (standing.share_done - standing.share_before)
    return f"{done}, {new / elapsed_s:,.1f} runs/s, {duration(left_s)} left"


def duration(seconds: float) -> str:
    """``75`` as ``1 min 15 s``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


# ---- answers -----------------------------------------------------------------------------------------


def warn_if_long(planned: PlannedStudy, master: str | None, engine: Engine, detail: Detail) -> None:
    """A line about a study that takes long, before it starts."""
    from endive.pipeline.spark.masters import local_cores
    from endive.pipeline.sweep.expected_time import estimate, rule_of_thumb_s

    cores = local_cores(master) or os.cpu_count() or 1
    if rule_of_thumb_s(planned.runs, cores=cores, engine=engine.value) < _LONG_S:
        return
    guess = estimate(planned.runs, cores=cores, engine=engine.value, detail=detail.value)
    if guess.wall_s >= _LONG_S:
        print_aside(
            f"{planned.study.name} takes about {duration(guess.wall_s)} on {cores} cores that do nothing else "
            f"({duration(guess.cpu_s)} of processor time). Stopped with Ctrl-C, the same command goes on."
        )


def _print_plan(planned: PlannedStudy, out: Path | None, master: str | None, engine: Engine, detail: Detail) -> None:
    """The grid, its size, and what it will take."""
    from endive.pipeline.spark.masters import local_cores
    from endive.pipeline.sweep.expected_time import estimate

    study = planned.study
    console = stdout()
    table = new_table(study.title or study.name, "axis", ">values", "")
    for axis in study.axes:
        table.add_row(escape(axis.key), f"{len(axis.values):,}", escape(_values_text(axis.values)))
    for key, expression in study.derived:
        table.add_row(escape(key), "", escape(f"= {expression.text}"))
    if study.points:
        table.add_row("points beside the grid", f"{len(study.points):,}", "")
    console.print(table)
    if study.question:
        console.print(study.question, markup=False)
    points = len({run.point for run in planned.runs})
    dropped = study.combination_count() - points
    lines = [
        f"{points:,} combinations ({dropped:,} dropped) x {len(study.seeds):,} seeds = {len(planned.runs):,} runs",
        f"about {planned.txns:,.0f} txns",
    ]
    cores = local_cores(master) or os.cpu_count() or 1
    guess = estimate(planned.runs, cores=cores, engine=engine.value, detail=detail.value)
    basis = "scaled from runs made now" if guess.is_measured else "a rule of thumb"
    lines.append(
        f"about {duration(guess.wall_s)} on {cores} cores that do nothing else ({duration(guess.cpu_s)} of processor "
        f"time) and {size(round(guess.transactions_bytes))} of Parquet ({basis})"
    )
    for line in lines:
        print_line(line)
    if out is not None:
        _print_present(planned, out)


def _print_present(planned: PlannedStudy, out: Path) -> None:
    from endive.pipeline.dataset.files import place_of
    from endive.pipeline.dataset.runs_table import read_state
    from endive.pipeline.dataset.sweep_dataset import MANIFEST

    place = place_of(out)
    if not (place / MANIFEST).exists():
        return
    there = read_state(place, planned.study.name)["run_id"].to_pylist()
    present = set(there) & {run.run_id for run in planned.runs}
    typer.echo(f"{len(present):,} of these runs are in {place} already")


def _values_text(values: tuple[Any, ...]) -> str:
    shown = [value_text(value) for value in values]
    if len(shown) > _SHOWN_VALUES_MAX:
        half = _SHOWN_VALUES_MAX // 2
        shown = [*shown[:half], "..", *shown[-half:]]
    return ", ".join(shown)


def print_outcome(outcome: SweepOutcome) -> None:
    """Failures on stderr, and one line that says what was done and where it is."""
    for run_id, error in outcome.failed[:_SHOWN_FAILURES_MAX]:
        told = error.splitlines()[0] if error else "failed"
        stderr().print(Text.assemble(("failed: ", "bold red"), f"run {run_id}: {told}"), soft_wrap=True)
    if len(outcome.failed) > _SHOWN_FAILURES_MAX:
        stderr().print(f"and {len(outcome.failed) - _SHOWN_FAILURES_MAX:,} more; the table of runs has them all")
    if outcome.repeated:
        machines = ", ".join(f"{count:,} on {machine}" for machine, count in sorted(outcome.repeated.items()))
        print_aside(f"{sum(outcome.repeated.values()):,} runs were simulated again after a worker was lost: {machines}")
    kept = f" ({outcome.kept:,} were there)" if outcome.kept else ""
    failed = f", {len(outcome.failed):,} failed" if outcome.failed else ""
    written = f", {size(outcome.transactions_bytes)} of txns" if outcome.transactions_bytes else ""
    typer.echo(
        f"{outcome.study}: {outcome.simulated:,} runs simulated in {outcome.wall_s:,.1f} s{kept}{failed}; "
        f"{outcome.txns:,} txns{written} in {outcome.folder}"
    )
