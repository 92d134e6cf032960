"""``endive run``: simulate one configuration and show what came out.

Owns the order of things: configuration, places to write to, simulation, files, answer. Refuses to own
any of them; each has a module of its own.
"""

from __future__ import annotations

import contextlib
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from endive.config import SimulationConfig
    from endive.results import SimulationResult


class Engine(StrEnum):
    """Which implementation of the same rules runs."""

    AUTO = "auto"
    REFERENCE = "reference"
    COMPILED = "compiled"


def run(
    config: Annotated[Path, typer.Argument(help="Configuration file (TOML).")],
    seed: Annotated[int | None, typer.Option(help="Luck of the run, instead of simulation.seed.")] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override one key of the configuration; repeatable."),
    ] = None,
    engine: Annotated[Engine, typer.Option(help="Both give the same result; compiled is fast.")] = Engine.AUTO,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for transactions.parquet, summary.json and config.toml; new, empty or a run's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Simulate one configuration and show throughput, latency, retries and requests."""
    from endive.cli.tables import print_result
    from endive.config import load_simulation_config

    given = [*(overrides or ()), *([] if seed is None else [f"simulation.seed={seed}"])]
    resolved = load_simulation_config(config, given)
    result = _simulate(resolved, engine, out)
    if as_json:
        typer.echo(json.dumps(result.to_json_dict(), allow_nan=False))
    else:
        print_result(result, resolved.experiment.label or config.stem)


def _simulate(config: SimulationConfig, engine: Engine, out: Path | None) -> SimulationResult:
    """Run, with every place to write to opened first and nothing left in it if the run fails."""
    from endive.cli.progress import run_progress
    from endive.results import ResultWriter, RunFolder
    from endive.simulation import Simulation

    simulation = Simulation(config)
    if sys.stderr.isatty():
        chosen, reason = simulation.engine_for(engine.value)
        typer.echo(f"engine: {chosen} ({reason})", err=True)
    with contextlib.ExitStack() as places:
        writers = []
        if config.simulation.output_path is not None:
            writers.append(places.enter_context(ResultWriter(config.simulation.output_path)))
        folder = None if out is None else places.enter_context(RunFolder(out))
        if folder is not None:
            writers.append(folder.writer)
        with run_progress(config.simulation.duration_ms) as progress:
            sink = simulation.new_sink(writers=writers, keep_transactions=False)
            result = simulation.run(engine=engine.value, sink=sink, progress=progress)
        if folder is not None:
            folder.publish(result, config.to_toml())
    return result
