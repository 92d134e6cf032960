"""``endive report``: one page from what a sweep left, analysed first if it is not yet.

The page is made in ``endive.report``.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from endive.cli.console import print_aside, print_line, show, stdout
from endive.cli.options import Quiet, Slo
from endive.cli.progress import shown_step
from endive.cli.tables import print_warnings
from endive.errors import ConfigError


class Bands(StrEnum):
    """What a band around a curve shows."""

    INTERVAL = "interval"
    STDDEV = "stddev"


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder that 'endive sweep' or 'endive run --out' has filled.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The HTML file to write, instead of DIR/report.html (a run: DIR.html)."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every chart as PNG, SVG and a Markdown table.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A second folder of a sweep, to compare with the first.")
    ] = None,
    bands: Annotated[
        Bands, typer.Option(help="What bands around a curve mean: 95 % intervals, or one standard deviation.")
    ] = Bands.INTERVAL,
    slo: Slo = None,
    quiet: Quiet = False,
) -> None:
    """Draw a sweep, or one run, as one HTML file that needs no network, and say what it found in a few lines.

    A sweep that is not analysed yet, went on since or was judged by another objective is analysed first, on Spark. The
    folder of a run is what 'endive run --out' has filled.
    """
    require_vega()
    from endive.report.run_page import is_run_folder

    if is_run_folder(folder):
        if figures is not None or compare is not None:
            raise ConfigError(f"{folder} holds one run: --figures and --compare are for sweeps. See endive compare.")
        _draw_run(folder, out, slo)
        return
    for each in (folder, compare):
        if each is not None:
            _analyse_if_needed(each, slo, quiet=quiet)
    draw(folder, out, figures, compare, bands=bands.value, quiet=quiet)


def draw(
    folder: Path,
    out: Path | None = None,
    figures: Path | None = None,
    compare: Path | None = None,
    *,
    bands: str = "interval",
    quiet: bool = False,
) -> None:
    """Write the page, and print what was found."""
    from endive.pipeline.dataset.files import place_of
    from endive.report import REPORT, make_report, write_figures, write_report

    console = stdout()
    path = place_of(out) if out is not None else place_of(folder) / REPORT
    report = make_report(place_of(folder), None if compare is None else place_of(compare), bands)
    size = write_report(report, path)
    if figures is not None:
        written = write_figures(report, figures)
        if not quiet:
            print_aside(f"{len(written)} files in {figures}")
    for note in report.notes:
        print_line(f"note: {note}")
    for index, section in enumerate(report.sections):
        if index:
            print_line("")
        show(section.answer)
    if report.comparison is not None:
        for line in report.comparison.lines:
            print_line(line)
    print_warnings(console, report.unsaid())
    print_line(f"report: {path} ({size / 1e6:.1f} MB)")


def _draw_run(folder: Path, out: Path | None, slo: str | None) -> None:
    """Write the page of one run, and print what became of every source."""
    from endive.report.run_page import run_page
    from endive.results.writer import output_errors, write_atomically

    beside = folder.resolve()  # not inside: a run replaces only what is its own
    path = out if out is not None else beside.with_name(f"{beside.name}.html")
    text, lines = run_page(folder, slo)
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text.encode())
    for line in (*lines, f"{path} ({len(text.encode()) / 1e6:.1f} MB)"):
        print_line(line)


def require_vega() -> None:
    """Raise ConfigError if nothing here can draw a chart."""
    import importlib.util

    if importlib.util.find_spec("vl_convert") is None:
        raise ConfigError(
            "'endive report' needs the package vl-convert-python. Install it: pip install 'endive[report]'"
        )


def _analyse_if_needed(folder: Path, slo: str | None, *, quiet: bool) -> None:
    """Make the analysis that the report is drawn from, unless it is there and says what is asked."""
    from endive.pipeline.dataset.files import place_of
    from endive.report.reading import analysis_needed

    why = analysis_needed(place_of(folder), slo)
    if why is None:
        return
    from endive.pipeline.analysis.run_analysis import SETTINGS, analyze
    from endive.pipeline.spark.session import session_on_demand

    if not quiet:
        print_aside(f"{why}: analysing it")
    with session_on_demand("endive analyze", conf=SETTINGS) as session, shown_step(quiet) as tell:
        analyze(folder, session, slo=slo, tell=tell)
