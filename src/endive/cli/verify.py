"""``endive verify``: hold the model against closed forms, measurements, real Iceberg and real Delta Lake.

The comparisons are made in ``endive.verification``, the pages from them in ``endive.verification.pages``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from endive.cli.console import print_json, print_line, stdout
from endive.cli.options import AsJson
from endive.cli.progress import shown_step
from endive.cli.tables import new_table
from endive.errors import ConfigError

if TYPE_CHECKING:
    from endive.verification import Check, Outcome, Suite

EXIT_WRONG: Final = 1
EXIT_NOTHING_RAN: Final = 3
_STYLES: Final = {"right": "green", "wrong": "bold red", "unclear": "yellow", "shown": "dim", "skipped": "bold yellow"}


def verify(
    suite: Annotated[str | None, typer.Argument(metavar="SUITE", help="A suite; all if left out.")] = None,
    list_suites: Annotated[bool, typer.Option("--list", help="Say which suites there are and stop.")] = False,
    as_json: AsJson = False,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Run only a part of each suite: seconds, not minutes.")
    ] = False,
    is_live: Annotated[
        bool,
        typer.Option(
            "--live", help="Run real Iceberg now (in a checkout), instead of reading what was recorded from it."
        ),
    ] = False,
    iceberg_jars: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with Iceberg's jars; else they come from Maven.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for pages (Markdown) and plots (SVG).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show every check, not only a line per kind.")] = False,
) -> None:
    """Hold the model against closed forms, measurements, real Iceberg and real Delta Lake.

    Ends with 0 if nothing is wrong, 1 if something is, 2 if it was asked wrongly, 3 if a suite could not run at all: it
    says why and what to do about it, and the others still run.
    """
    from endive.verification import Options, find_suite, run_suite, suites_here

    chosen = [find_suite(suite)] if suite is not None else suites_here()
    if list_suites:
        _print_list(chosen, as_json)
        return
    options = Options(is_quick=is_quick, is_live=is_live, iceberg_jars=_existing(iceberg_jars))
    pages = None
    if out is not None:
        from endive.verification.pages import PageFolder

        pages = PageFolder(out)  # the place is tried before anything runs
    outcomes: list[Outcome] = []
    for each in chosen:
        with shown_step() as tell:
            found = run_suite(each, options, tell=tell)
        for outcome in found if not as_json else ():
            _print(outcome, every)
        outcomes += found
    if pages is not None:
        pages.write(outcomes)
    _finish(outcomes, as_json, out)


def _finish(outcomes: list[Outcome], as_json: bool, out: Path | None) -> None:
    """What all of it says, and the code that the command ends with."""
    if as_json:
        print_json(verification_dict(outcomes))
    else:
        _print_verdict(outcomes, out)
    if not all(outcome.holds for outcome in outcomes):
        raise typer.Exit(EXIT_WRONG)
    if suites_skipped(outcomes):
        raise typer.Exit(EXIT_NOTHING_RAN)


def suites_skipped(outcomes: list[Outcome]) -> list[str]:
    """Suites of which every part was skipped."""
    ran = {outcome.suite for outcome in outcomes if outcome.skipped is None}
    return [name for name in dict.fromkeys(outcome.suite for outcome in outcomes) if name not in ran]


def verification_dict(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return everything the suites found, as one JSON object."""
    skipped = suites_skipped(outcomes)
    holds = not skipped and all(outcome.holds for outcome in outcomes)
    return {"holds": holds, "skipped": skipped, "outcomes": [each.to_dict() for each in outcomes]}


def _existing(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise ConfigError(
            f"--iceberg-jars = '{folder}' is not a folder. Give the folder that holds "
            "iceberg-spark-runtime-3.5_2.12 and iceberg-aws-bundle, or leave the option out to fetch the jars by Maven."
        )
    return folder


# ---- what is shown -----------------------------------------------------------------------------------


def _print_list(suites: list[Suite], as_json: bool) -> None:
    if as_json:
        print_json({suite.name: suite.title for suite in suites})
        return
    table = new_table("", show_header=False)
    for suite in suites:
        table.add_row(suite.name, suite.title)
    stdout().print(table)


def _print(outcome: Outcome, every: bool) -> None:
    console = stdout()
    title = f"{outcome.suite} {outcome.part}".strip()
    if outcome.skipped is not None:
        console.print(Text.assemble((f"{title}: skipped. ", "bold yellow"), outcome.skipped), soft_wrap=True)
        return
    console.print(_every(title, outcome) if every else _kinds(title, outcome))
    if not every:
        for check in outcome.checks:
            if not check.holds:
                console.print(Text.assemble(("wrong: ", "bold red"), line(check)), soft_wrap=True)


def _kinds(title: str, outcome: Outcome) -> RenderableType:
    """Return a line per kind of check: how many, how far off the worst is."""
    from endive.verification.texts import error_text, limits_text, worst_of, worst_verdict

    table = new_table(title, "check", ">checks", ">right", ">worst", ">allowed", "")
    kinds: dict[str, list[Check]] = {}
    for check in outcome.checks:
        kinds.setdefault(check.name, []).append(check)
    for name, checks in kinds.items():
        judged = [check for check in checks if check.verdict != "shown"]
        verdict = worst_verdict(judged)
        right = str(sum(check.verdict == "right" for check in judged)) if judged else "-"
        style = _STYLES[verdict]
        table.add_row(
            escape(name),
            str(len(checks)),
            right,
            error_text(worst_of(checks)),
            limits_text(checks),
            f"[{style}]{verdict}[/{style}]",
        )
    return table


def _every(title: str, outcome: Outcome) -> RenderableType:
    from endive.verification.texts import allowed_text, cell_text, error_text, value_text

    table = new_table(title, "check", "cell", ">expected", ">actual", ">error", ">allowed", "")
    for check in outcome.checks:
        style = _STYLES[check.verdict]
        table.add_row(
            escape(check.name),
            escape(cell_text(check)),
            value_text(check.expected),
            value_text(check.actual),
            error_text(check),
            allowed_text(check),
            f"[{style}]{check.verdict}[/{style}]",
        )
    return table


def _print_verdict(outcomes: list[Outcome], out: Path | None) -> None:
    wrong = sum(outcome.count("wrong") for outcome in outcomes)
    right = sum(outcome.count("right") for outcome in outcomes)
    skipped = sum(outcome.skipped is not None for outcome in outcomes)
    unclear = sum(outcome.count("unclear") for outcome in outcomes)
    missing = suites_skipped(outcomes)
    word = "wrong" if wrong else "skipped" if missing else "right"
    counts = [f"{wrong:,} wrong"] * bool(wrong) + [f"{right:,} checks right"] + [f"{unclear:,} unclear"] * bool(unclear)
    counts += [f"{skipped} skipped"] + [f"nothing ran of {', '.join(missing)}"] * bool(missing)
    console = stdout()
    console.print(Text.assemble((word, _STYLES[word]), f": {', '.join(counts)}"), soft_wrap=True)
    if out is not None:
        print_line(f"pages in {out}")


def line(check: Check) -> str:
    """Return a check as one line."""
    from endive.verification.texts import allowed_text, cell_text, error_text, value_text

    allowed = f", allowed {allowed_text(check)}" if check.allowed is not None else ""
    error = f", off by {error_text(check)}" if check.error is not None else ""
    return (
        f"{check.name} ({cell_text(check)}): expected {value_text(check.expected)}, got {value_text(check.actual)}"
        f"{f' {check.unit}' if check.unit else ''}{error}{allowed}{f'; {check.note}' if check.note else ''}"
    )
