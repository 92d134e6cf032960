"""``endive explain``: replay a run and show what happened to some of its transactions.

Choice and replay live in ``endive.answers.stories.explain``.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from endive.cli.console import print_json, print_note, show, stderr, with_note
from endive.cli.options import AsJson, Overrides

if TYPE_CHECKING:
    from endive.answers.stories.explain import Explanation


def explain(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="Configuration file (TOML), or config.toml of a run's folder.")
    ],
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of the run, instead of simulation.seed.")] = None,
    txn: Annotated[int | None, typer.Option(metavar="N", help="The transaction with this id.")] = None,
    worst: Annotated[int | None, typer.Option(min=1, help="The N worst transactions: failed, then slow.")] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Only transactions like this: \"kind = 'validated_overwrite' and status = 'aborted'\"."
        ),
    ] = None,
    blame: Annotated[
        bool, typer.Option("--blame", help="Report time lost to each conflicting transaction over the run.")
    ] = False,
    trace: Annotated[Path | None, typer.Option(metavar="FILE", help="Timeline to write, for ui.perfetto.dev.")] = None,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened to a transaction: what it read, what it paid, which commits landed first, why it ended."""
    from endive.answers.stories.explain import explain_base, trace_text
    from endive.answers.stories.explain_answer import explain_answer
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
        show(explain_answer(explanation))


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
        "warnings": [warned.line for warned in found.warnings],
    }
