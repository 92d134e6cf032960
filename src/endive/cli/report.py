"""``endive report``: one page from the tables of an analysis.

This file defines what is said on a terminal. Not here: the page (``endive.report``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from endive.errors import ConfigError


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that 'endive sweep' has filled and 'endive analyze' has read.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The HTML file to write, instead of DIR/report.html.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every chart as PNG, SVG and a Markdown table.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A second analysed folder to compare with the first.")
    ] = None,
) -> None:
    """Draw an analysis as one HTML file that needs no network, and say what it found in five lines."""
    require_vega()
    draw(folder, out, figures, compare)


def draw(folder: Path, out: Path | None = None, figures: Path | None = None, compare: Path | None = None) -> None:
    """Write the page, and pictures if they are wanted; say what was found."""
    from endive.cli.console import stderr, stdout
    from endive.report import REPORT, make_report, write_figures, write_report

    console = stdout()
    path = out if out is not None else folder / REPORT
    found = make_report(folder, compare)
    size = write_report(found, path)
    if figures is not None:
        written = write_figures(found, figures)
        stderr().print(f"{len(written)} files in {figures}", markup=False, soft_wrap=True)
    for note in found.notes:
        console.print(f"note: {note}", markup=False, soft_wrap=True)
    for line in found.lines():
        console.print(line, markup=False, soft_wrap=True)
    console.print(f"{path} ({size / 1e6:.1f} MB)", markup=False, soft_wrap=True)


def require_vega() -> None:
    """Raise ConfigError if nothing here can draw a chart."""
    import importlib.util

    if importlib.util.find_spec("vl_convert") is None:
        raise ConfigError(
            "'endive report' needs the package vl-convert-python. Install it: pip install 'endive[report]'"
        )
