"""The ``endive`` command.

Heavy imports belong to the commands, so that ``--help`` is quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Final

import typer

from endive import __version__
from endive.cli import advise, compare, explain, explore, limit, measure, observe, replay, run, verify
from endive.cli.console import EndiveGroup
from endive.cli.listings import catalogs, config, providers, recipes
from endive.cli.studies import analyze, check, report, study, sweep

app = typer.Typer(
    cls=EndiveGroup,
    help="Simulate optimistic commits of Apache Iceberg and Delta Lake tables on object storage.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
_ONE: Final = "One configuration"
_STUDY: Final = "Studies"
_REAL: Final = "Real tables, stores and catalogs"
_KNOWN: Final = "What there is"
# (panel of the overview, name, command, examples)
_COMMANDS: Final[tuple[tuple[str, str, Callable[..., None], str], ...]] = (
    (_ONE, "run", run.run, "endive run experiments/quickstart.toml --set transaction.retry=10 --seeds 3"),
    (_ONE, "limit", limit.limit, "endive limit experiments/quickstart.toml --vary load --slo 'success_rate >= 99 %'"),
    (_ONE, "compare", compare.compare, "endive compare experiments/quickstart.toml --set storage.provider=s3x"),
    (_ONE, "advise", advise.advise, "endive advise experiments/quickstart.toml --slo 'success_rate >= 99 %'"),
    (_ONE, "explain", explain.explain, "endive explain experiments/quickstart.toml --worst 1"),
    (_ONE, "explore", explore.explore, "endive explore experiments/quickstart.toml"),
    (_STUDY, "study", study.study, "endive study experiments/demo.toml --out out/demo"),
    (_STUDY, "sweep", sweep.sweep, "endive sweep experiments/demo.toml --out out/demo --detail runs"),
    (_STUDY, "check", check.check, "endive check out/demo"),
    (_STUDY, "analyze", analyze.analyze, "endive analyze out/demo"),
    (_STUDY, "report", report.report, "endive report out/demo --figures out/figures"),
    (_REAL, "observe", observe.observe, "endive observe db.events --catalog prod --out observed"),
    (_REAL, "replay", replay.replay, "endive replay observed --profile store.toml"),
    (_REAL, "verify", verify.verify, "endive verify requests"),
    (_KNOWN, "providers", providers.providers, "endive providers s3x"),
    (_KNOWN, "catalogs", catalogs.catalogs, "endive catalogs"),
    (_KNOWN, "recipes", recipes.recipes, "endive recipes flink_sink"),
)


def _describe(function: Callable[..., None]) -> str:
    """Return the docstring of a command, each paragraph as one line: the terminal breaks it."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for panel, name, command, example in _COMMANDS:
    app.command(name, help=_describe(command), epilog=f"Example: {example}", rich_help_panel=panel)(command)
app.add_typer(
    measure.app, name="measure", epilog="Example: endive measure store s3://bucket/prefix", rich_help_panel=_REAL
)
app.add_typer(config.app, name="config", epilog="Example: endive config schema backoff", rich_help_panel=_KNOWN)


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
    """Simulate optimistic commits of Apache Iceberg and Delta Lake tables on object storage."""


if __name__ == "__main__":
    app()
