"""``endive explain``: replay a run and tell what happened to some of its txns.

Choice and replay live in ``endive.answers.stories.explain``.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from endive.cli.console import print_json, print_line, print_note, stderr, stdout, with_note
from endive.cli.options import AsJson, Overrides
from endive.cli.tables import new_table, print_warnings
from endive.objectives import duration_text

if TYPE_CHECKING:
    from endive.answers.stories.explain import Explanation


def explain(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="Configuration file (TOML), or config.toml of a run's folder.")
    ],
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the run, instead of simulation.seed.")] = None,
    txn: Annotated[int | None, typer.Option(metavar="N", help="The txn with this id.")] = None,
    worst: Annotated[int | None, typer.Option(min=1, help="The N worst txns: failed, then slow.")] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Only txns like this: \"kind = 'validated_overwrite' and status = 'aborted'\"."
        ),
    ] = None,
    blame: Annotated[bool, typer.Option("--blame", help="Say who cost whom how much time in the whole run.")] = False,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Timeline to write, for ui.perfetto.dev.")] = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Tell the story of a txn: what it read, what it paid, who overtook it, why it ended."""
    from endive.answers.stories.explain import explain_base, trace_text
    from endive.answers.variation import base_of
    from endive.results.writer import write_atomically

    base = base_of(config, overrides or [])
    explanation = explain_base(base, seed=seed, txn=txn, worst=worst, where=where, with_blame=blame, announce=_announce)
    if trace is not None:
        write_atomically(trace, trace_text(explanation).encode())
    if as_json:
        print_json(with_note(config, explanation_json(explanation)))
    else:
        print_note(config)
        _print(explanation)


def _announce(text: str) -> None:
    stderr().print(f"note: {text}", style="yellow")


def explanation_json(found: Explanation) -> dict[str, Any]:
    """Stories and blame as plain values."""
    return {
        "seed": found.seed,
        "stories": [
            {
                "txn": dict(story.record),
                "attempts": [asdict(attempt) for attempt in story.attempts],
                "lines": story.lines,
            }
            for story in found.stories
        ],
        "blame": [asdict(row) for row in found.blame],
        "warnings": list(found.caveats),
    }


def _print(found: Explanation) -> None:
    console = stdout()
    for story in found.stories:
        head, *rest = story.lines
        print_line(head, style="bold")
        for line in rest:
            print_line(line)
    if found.blame:
        console.print(_blame(found))
    print_warnings(console, found.caveats)


def _blame(found: Explanation) -> Table:
    title = "Who cost whom how much time: attempts refused, by the rival that landed first"
    table = new_table(title, "victim", "rival", ">attempts lost", ">time lost")
    for row in found.blame:
        table.add_row(row.victim, row.rival, f"{row.attempts:,}", duration_text(row.lost_ms))
    return table
