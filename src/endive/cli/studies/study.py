"""``endive study``: sweep a study, analyse it and draw it, in one go and on one Spark session.

Each is also a command of its own, in ``sweep``, ``analyze`` and ``report``. A folder that holds a part of
the study is gone on with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from endive.cli import options
from endive.cli.options import Detail, Engine
from endive.cli.progress import shown_step
from endive.cli.studies.report import draw, require_vega
from endive.cli.studies.sweep import exit_if_failed, print_outcome, sweep_study, warn_if_long, worker_settings
from endive.config.study import load_study

Out = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the dataset, instead of out/NAME.")]


def study(
    file: options.StudyFile,
    out: Out = None,
    seeds: options.Seeds = None,
    master: options.Master = None,
    detail: options.DetailChoice = Detail.TRANSACTIONS,
    overrides: options.StudyOverrides = None,
    slo: options.Slo = None,
    engine: options.EngineChoice = Engine.AUTO,
    conf: options.Conf = None,
    yes: options.Large = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a study, analyse it, draw it as DIR/report.html, and say what was found in five lines.

    The same as endive sweep, analyze and report one after another, with one start of Spark. The same
    command goes on where it was stopped. Ends with 3 if runs failed.
    """
    from endive.pipeline import PlannedStudy
    from endive.pipeline.analysis.run_analysis import SETTINGS, analyze
    from endive.pipeline.dataset.files import place_of
    from endive.pipeline.spark.session import session_on_demand, with_workers

    require_vega()
    settings = worker_settings(SETTINGS, engine, conf)
    planned = PlannedStudy.of(load_study(file, overrides or (), seeds, slo))
    if not yes:
        planned.refuse_if_large()
    if not quiet:
        warn_if_long(planned, master, engine, detail)
    folder = out if out is not None else Path("out") / planned.study.name
    with session_on_demand(f"endive {planned.study.name}", master=master, conf=settings) as session:
        awake = with_workers(session)
        outcome = sweep_study(planned, folder, awake, detail=detail, engine=engine, quiet=quiet)
        print_outcome(outcome)
        with shown_step(quiet) as tell:
            analyze(place_of(folder), awake, tell=tell)
    draw(folder, quiet=quiet)
    exit_if_failed(outcome)
