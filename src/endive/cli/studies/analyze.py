"""``endive analyze``: turn the dataset of a sweep into tables.

The tables are made in ``endive.pipeline.analysis``; how they look on a terminal is ``analyze_text``'s.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from endive.cli import options
from endive.cli.console import print_json, print_line, stdout
from endive.cli.progress import shown_step
from endive.cli.tables import print_warnings
from endive.errors import ConfigError

if TYPE_CHECKING:
    from endive.pipeline.analysis.run_analysis import Analysis


class Format(StrEnum):
    """How the answer is printed."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def analyze(
    folder: options.SweptFolder,
    master: options.Master = None,
    bins: Annotated[
        int | None, typer.Option(metavar="N", help="Bins of simulated time per run, instead of 60.")
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Axis along which the sustained load is sought, instead of the one found."),
    ] = None,
    slo: options.Slo = None,
    conf: options.Conf = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="What to print: table, what fits the terminal; csv, one table in full; json, all."
        ),
    ] = Format.TABLE,
    table: Annotated[str, typer.Option(metavar="NAME", help="The table that --format csv prints.")] = "configurations",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of tables: the same as --format json.")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--explain", help="Print Spark's physical plan of the analysis, and analyse nothing.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure every run, operation type and source of a sweep, compare seeds, and judge them by the objective.

    Writes DIR/analysis: each table as Parquet, CSV and Markdown, and index.json. An earlier analysis is replaced.
    """
    from endive.pipeline.analysis.run_analysis import TITLES, explain, session_settings
    from endive.pipeline.analysis.run_analysis import analyze as run_analysis
    from endive.pipeline.spark.session import parse_conf, session_on_demand

    if table not in TITLES:
        raise ConfigError(f"--table {table} is no table of an analysis. Choose one of: {', '.join(TITLES)}.")
    settings = {**session_settings(folder, master), **parse_conf(conf or [])}
    if plan:
        with session_on_demand("endive analyze", master=master, conf=settings) as session:
            typer.echo(explain(folder, session, bins=bins))
        return
    with session_on_demand("endive analyze", master=master, conf=settings) as session, shown_step(quiet) as tell:
        analysis = run_analysis(folder, session, bins=bins, load=load, slo=slo, tell=tell)
    if as_json or form is Format.JSON:
        print_json(analysis_dict(analysis))
    elif form is Format.CSV:
        typer.echo(_csv(analysis, table), nl=False)
    else:
        _print(analysis)


def analysis_dict(found: Analysis) -> dict[str, Any]:
    """The index, and the three tables that answer most questions."""
    tables = ("configurations", "sustained", "warnings")
    return {"folder": str(found.folder), **found.index, **{name: found.tables[name].to_pylist() for name in tables}}


def _csv(found: Analysis, table: str) -> str:
    from endive.pipeline.analysis.table_files import to_csv

    if table not in found.tables:
        raise ConfigError(f"--table {table}: this analysis has none, because no txns were kept. Sweep with --detail.")
    return to_csv(found.tables[table]).decode()


def _print(found: Analysis) -> None:
    from endive.cli.studies.analyze_text import shown, warning_lines
    from endive.results import MODEL_VERSION

    console = stdout()
    for part in shown(found, console):
        console.print(part)
    print_warnings(console, warning_lines(found.tables["warnings"].to_pylist()))
    if (theirs := found.index["model_version"]) != MODEL_VERSION:
        console.print(f"Results of model version {theirs}; this is {MODEL_VERSION}.", markup=False)
    print_line(f"{len(found.tables)} tables in {found.folder}")
