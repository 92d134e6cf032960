"""The ``endive`` command.

This file defines the list of commands. Not here: what any of them does; heavy imports belong to the commands, so
that ``--help`` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from endive import __version__
from endive.cli import (
    advise,
    analyze,
    catalogs,
    check,
    compare,
    config,
    explain,
    explore,
    limit,
    measure,
    observe,
    providers,
    recipes,
    replay,
    report,
    run,
    study,
    sweep,
    verify,
)
from endive.cli.console import EndiveGroup

app = typer.Typer(
    cls=EndiveGroup,
    help="Simulate optimistic commits of Apache Iceberg tables on object storage.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("limit")(limit.limit)
app.command("compare")(compare.compare)
app.command("advise")(advise.advise)
app.command("explain")(explain.explain)
app.command("explore")(explore.explore)
app.command("study")(study.study)
app.command("sweep")(sweep.sweep)
app.command("check")(check.check)
app.command("analyze")(analyze.analyze)
app.command("report")(report.report)
app.command("verify")(verify.verify)
app.add_typer(config.app, name="config")
app.command("providers")(providers.providers)
app.command("recipes")(recipes.recipes)
app.command("catalogs")(catalogs.catalogs)
app.command("observe")(observe.observe)
app.add_typer(measure.app, name="measure")
app.command("replay")(replay.replay)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"endive {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Simulate optimistic commits of Apache Iceberg tables on object storage."""


if __name__ == "__main__":
    app()
