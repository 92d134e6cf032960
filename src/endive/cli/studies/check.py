"""``endive check``: is a dataset still what was written?

What is compared with what is in ``endive.pipeline.dataset.check``.
"""

from __future__ import annotations

from typing import Final

import typer

from endive.cli.console import print_error
from endive.cli.options import SweptFolder

EXIT_DAMAGED: Final = 1


def check(folder: SweptFolder) -> None:
    """Read every file of a dataset and say which are damaged, and what to run to mend them.

    Ends with 1 if anything is. Changes nothing.
    """
    from endive.pipeline.dataset.check import check_dataset
    from endive.pipeline.dataset.places import place_of

    place = place_of(folder)
    checked = check_dataset(place)
    for damage in checked.damages:
        print_error(damage.text)
    missing = f"; {checked.missing_parts:,} parts are planned and not there" if checked.missing_parts else ""
    typer.echo(f"{place}: {checked.parts:,} parts with {checked.runs:,} runs checked{missing}.")
    if not checked.damages:
        typer.echo("Nothing is damaged.")
        return
    for study in dict.fromkeys(damage.study for damage in checked.damages if damage.study):
        typer.echo(f"Mend study {study}: endive sweep STUDY --out {place} --repair, with the study file of {study}.")
    raise typer.Exit(EXIT_DAMAGED)
