"""``endive run``: simulate one configuration, with one or many seeds, and print the answer.

In this order: configuration, places to write to, simulations, files, answer.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from endive.cli.console import print_json, print_line, print_note, show, stdout, with_note
from endive.cli.options import AsJson, Assumed, ConfigFile, Details, Engine, EngineChoice, NoCases, Overrides
from endive.cli.progress import counted_progress, run_progress
from endive.config import SimulationConfig
from endive.config.slo import objective_of
from endive.errors import ConfigError, ObjectiveError, OutputError
from endive.objectives import Objective

if TYPE_CHECKING:
    from endive.answers.cases import Assessment
    from endive.answers.price import Bill
    from endive.answers.run_answer import RunAnswer
    from endive.answers.sample import Sample
    from endive.results import SimulationResult


def run(
    config: ConfigFile,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Seed of the (first) run, instead of simulation.seed.")
    ] = None,
    overrides: Overrides = None,
    slo: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Objective to judge by, instead of the configuration's, as in 'success_rate >= 99 %'."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs, each with the next seed; with --precision at most.")
    ] = None,
    precision: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Run until the objective's figures are known this well: 2%.")
    ] = None,
    per_table: Annotated[bool, typer.Option("--per-table", help="Show each table by itself, too.")] = False,
    engine: EngineChoice = Engine.AUTO,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for transactions.parquet, summary.json and config.toml; new, empty or a run's."
        ),
    ] = None,
    read_sets: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write which versions and partitions each txn read and wrote, as Parquet; on the reference engine.",
        ),
    ] = None,
    bill: Annotated[
        bool, typer.Option("--bill", help="Also what a month of this load costs, by the list prices of the store.")
    ] = False,
    assume: Assumed = None,
    no_cases: NoCases = False,
    details: Details = False,
    as_json: AsJson = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file at simulation.output_path whatever it is.")
    ] = False,
) -> None:
    """Simulate one configuration: which sources commit, how fast, and whether the objective is met.

    Without --seeds as many runs are taken as tell how runs differ: sixteen, fewer of large ones.
    """
    from endive.answers.length import long_enough
    from endive.answers.run_answer import RunAnswer
    from endive.answers.variation import assumed, base_of

    given = [*(overrides or ()), *assumed(config, assume), *([] if seed is None else [f"simulation.seed={seed}"])]
    base = long_enough(base_of(config, given), slo)
    resolved = base.config
    if not force:
        _refuse_foreign_output(resolved, out)
    if read_sets is not None:
        _write_read_sets(resolved, read_sets, force)
    objective = objective_of(resolved, slo)
    is_per_table = per_table or any(subject.scope == "table" for subject in objective.subjects)
    result, samples, assessment = _simulate(
        resolved, objective, seeds, precision, engine, out, is_per_table, with_cases=not no_cases
    )
    name = resolved.experiment.label or config.stem
    answer = RunAnswer(resolved, tuple(samples), objective, name, base.notes, assessment)
    _print(config, answer, result, as_json, details, _bill_of(answer) if bill else None, given)


def _print(
    config: Path,
    answer: RunAnswer,
    first: SimulationResult | None,
    as_json: bool,
    with_details: bool,
    bill: Bill | None,
    overrides: list[str],
) -> None:
    file = shlex.join([str(config), *(word for text in overrides for word in ("--set", text))])
    found = answer.to_answer(file, _identity(answer, first))
    if as_json:
        document = {} if first is not None else answer.to_json_dict()
        if first is not None:
            document = {**first.to_json_dict(), **answer.judgement()}
            if "by_table" in document["estimates"]:
                document["by_table"] = answer.to_json_dict()["by_table"]
        document["answer"] = found.to_dict()
        print_json(with_note(config, document if bill is None else {**document, "bill": bill.to_json_dict()}))
        return
    print_note(config)
    show(found, with_details=with_details)
    if bill is not None:
        print_bill(bill)
    simulated = answer.config.simulation
    if simulated.output_path is not None:
        typer.echo(f"{simulated.output_path}: the transactions of seed {simulated.seed}")


def _identity(answer: RunAnswer, first: SimulationResult | None) -> str:
    """Return what another run has to match to give the same result."""
    hashed = f"config {answer.config.config_hash()[:12]}"
    if first is None:
        return hashed
    of = f" of seed {first.provenance.seed}" if len(answer.seeds) > 1 else ""
    return f"{hashed}, engine {first.provenance.engine}, fingerprint{of} {first.fingerprint}"


def print_bill(bill: Bill) -> None:
    """Print what a month of the load costs, most expensive first."""
    from endive.answers.answer import Column, make_table
    from endive.render.terminal import table_lines

    console = stdout()
    rows = [
        (line.what, f"{line.per_month:,.0f}", f"{line.usd:,.2f}", line.source)
        for line in sorted(bill.lines, key=lambda line: -line.usd)
    ]
    title = f"Cost: {bill.usd:,.2f} USD for a month of 30 days at this load, by list price"
    table = make_table(("item", ">per month", ">USD", Column(name="price by", priority=1)), rows, title=title)
    console.print()
    for line in table_lines(table, console.width):
        console.print(line, soft_wrap=True)
    for note in bill.notes:
        print_line(note)


def _refuse_foreign_output(config: SimulationConfig, out: Path | None) -> None:
    """What lies where the txns are to go must be ours."""
    from endive.results.folder import place_below
    from endive.results.writer import refuse_foreign_file

    if config.simulation.output_path is not None:
        refuse_foreign_file(place_below(out or Path(), config.simulation.output_path))


def _bill_of(answer: RunAnswer) -> Bill:
    from endive.answers.price import bill_of

    bill = bill_of(answer.config, answer.samples)
    if bill is None:
        provider = answer.config.storage.provider
        raise ConfigError(
            f"storage.provider = '{provider}' has no list prices, so there is no bill. Choose one that has, such as "
            "s3 or gcp, or leave --bill out."
        )
    return bill


def _write_read_sets(config: SimulationConfig, path: Path, force: bool) -> None:
    """What every txn of the run read and wrote, in a file of its own."""
    import pyarrow.parquet as pq

    from endive.results.read_sets import ReadSet, read_set_table
    from endive.results.writer import output_errors, refuse_foreign_file
    from endive.simulation import Simulation

    if not force:
        refuse_foreign_file(path)
    collected: list[ReadSet] = []
    simulation = Simulation(config)
    simulation.run(sink=simulation.new_sink(keep_transactions=False), read_sets=collected)
    with output_errors(path):
        pq.write_table(read_set_table(collected), path)


def _simulate(
    config: SimulationConfig,
    objective: Objective,
    seeds: int | None,
    precision: str | None,
    engine: Engine,
    out: Path | None,
    is_per_table: bool,
    *,
    with_cases: bool,
) -> tuple[SimulationResult | None, list[Sample], Assessment]:
    """Return the runs that are asked for, or as many as show how runs differ: then also the result of the first."""
    from endive.answers.cases import assess
    from endive.answers.replicate import Replicator
    from endive.answers.run_count import replicate, take_enough

    is_open = seeds is None and precision is None
    is_kept = out is not None or config.simulation.output_path is not None
    if is_kept and not is_open and (seeds != 1 or precision is not None):
        place = "--out" if out is not None else "simulation.output_path"
        raise OutputError(
            f"{place} takes the txns of one run. Give --seeds 1, leave out --seeds and --precision to keep the first "
            "of the runs that are taken, or use endive sweep."
        )
    wanted = None if precision is None else percentage(precision, "--precision")
    with counted_progress("simulating") as report, Replicator(is_per_table=is_per_table, progress=report) as replicator:
        if is_open or is_kept:
            result, first = _run_once(config, engine, out, is_per_table)
            samples = take_enough(replicator, config, objective, first) if is_open else [first]
        else:
            samples = replicate(replicator, config, objective, seeds=seeds, precision=wanted)
        assessment = assess(config, objective, samples, replicator if with_cases else None)
        return result if is_open else None, samples, assessment


def _run_once(
    config: SimulationConfig, engine: Engine, out: Path | None, is_per_table: bool
) -> tuple[SimulationResult, Sample]:
    """Return run, with every place to write to opened first and nothing left in it if the run fails."""
    from endive.answers.sample import SampleSink
    from endive.results import ResultWriter, RunFolder
    from endive.results.folder import place_below
    from endive.simulation import Simulation

    simulation = Simulation(config)
    if sys.stderr.isatty():
        chosen, reason = simulation.engine_for(engine.value)
        typer.echo(f"engine: {chosen} ({reason})", err=True)
    with contextlib.ExitStack() as places:
        writers = []
        named = config.simulation.output_path
        folder = None if out is None else places.enter_context(RunFolder(out, named))
        if folder is not None:
            writers.append(folder.writer)
        if named is not None:
            writers.append(places.enter_context(ResultWriter(place_below(out or Path(), named))))
        with run_progress(config.simulation.duration_ms) as progress:
            sink = SampleSink(config, is_per_table=is_per_table, writers=writers, keep_transactions=False)
            result = simulation.run(engine=engine.value, sink=sink, progress=progress)
        if folder is not None:
            folder.publish(result, config.to_toml(folder.path))
    return result, sink.sample(config.simulation.seed)


def percentage(text: str, option: str) -> float:
    """Return a share as people write it: ``2%`` or ``0.02``."""
    written = text.strip()
    with contextlib.suppress(ValueError):
        value: Any = float(written.removesuffix("%")) / (100.0 if written.endswith("%") else 1.0)
        if 0.0 < value < 1.0:
            return float(value)
    raise ObjectiveError(f"{option} '{text}' is not a share. Write, for example, 2%.")
