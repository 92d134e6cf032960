"""``endive check``: is a dataset still what was written?"""

from __future__ import annotations

from typing import Annotated, Final

import typer

from endive.cli import options
from endive.cli.console import print_error
from endive.cli.options import SweptFolder
from endive.cli.progress import shown_step
from endive.pipeline.dataset.files import Place

EXIT_DAMAGED: Final = 1


def check(
    folder: SweptFolder,
    recount: Annotated[
        bool, typer.Option("--recount", help="Also compute every metric of every run again from its transactions.")
    ] = False,
    master: options.Master = None,
    conf: options.Conf = None,
    quiet: options.Quiet = False,
) -> None:
    """Read every file of a dataset, report which are damaged, and what to run to fix them.

    Ends with 1 if anything is. Changes nothing.
    """
    from endive.pipeline.dataset.check import check_dataset
    from endive.pipeline.dataset.files import place_of

    place = place_of(folder)
    checked = check_dataset(place)
    for damage in checked.damages:
        print_error(damage.text)
    missing = f"; {checked.missing_runs:,} runs are planned and not there" if checked.missing_runs else ""
    typer.echo(f"{place}: {checked.parts:,} objects of transactions and {checked.runs:,} runs checked{missing}.")
    if checked.damages:
        for study in dict.fromkeys(damage.study for damage in checked.damages if damage.study):
            typer.echo(f"Fix study {study}: endive sweep STUDY --out {place} --repair, with the study file of {study}.")
        raise typer.Exit(EXIT_DAMAGED)
    typer.echo("Nothing is damaged.")
    if recount:
        _recount(place, master, conf, quiet=quiet)


def _recount(place: Place, master: str | None, conf: list[str] | None, *, quiet: bool) -> None:
    """Compare the table of runs with the transactions."""
    from endive.pipeline.analysis.open_dataset import open_dataset
    from endive.pipeline.analysis.run_analysis import spark_errors
    from endive.pipeline.spark.session import parse_conf, session_on_demand

    dataset = open_dataset(place)
    settings = parse_conf(conf or [])
    with session_on_demand("endive check", master=master, conf=settings) as session, shown_step(quiet) as tell:
        tell(f"computing the metrics of {dataset.runs.num_rows:,} runs again")
        spark = session()
        with spark_errors():
            from endive.pipeline.analysis.recount import recount

            agreements = recount(spark, dataset)
    wrong = [each for each in agreements if each.equal != each.values]
    for each in wrong:
        print_error(
            f"{each.study}: {each.figure} differs in {each.values - each.equal:,} of {each.values:,} values; first, "
            f"written and recomputed: {each.difference}"
        )
    values = sum(each.values for each in agreements)
    typer.echo(f"{values - sum(each.values - each.equal for each in wrong):,} of {values:,} values are confirmed.")
    if wrong:
        raise typer.Exit(EXIT_DAMAGED)
