"""``endive advise``: try what people can change, and rank it by its effect.

Options and the table; the trials are ``endive.answers.advice.advise``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from endive.cli.console import print_json, print_note, stdout, with_note
from endive.cli.options import AsJson, ConfigFile, ObjectiveToMeet, Overrides
from endive.cli.progress import counted_progress
from endive.cli.tables import new_table, number, print_warnings
from endive.config.availability import HYPOTHETICAL
from endive.objectives.verdict_text import figure_text

if TYPE_CHECKING:
    from endive.answers.advice.advise import Advice, Advised

_SHOWN: Final = 12


def advise(
    config: ConfigFile,
    slo: ObjectiveToMeet = None,
    levers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Levers to try, separated by commas: retries,backoff,store; else all."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="Seeds, the same for every change.")] = 16,
    hypothetical: Annotated[
        bool, typer.Option("--hypothetical", help="Try also what no release has: shown last, and said to be so.")
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show every change that was tried, not only those that help.")
    ] = False,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Try the levers one at a time, and pairs of them if none is enough; name the least that meets the objective."""
    from endive.answers.advice.advise import advise_on
    from endive.answers.replicate import Replicator
    from endive.answers.variation import base_of

    names = None if levers is None else tuple(name.strip() for name in levers.split(",") if name.strip())
    with counted_progress("simulating") as report:
        advice = advise_on(
            base_of(config, overrides or []),
            slo=slo,
            levers=names,
            seeds=seeds,
            with_hypothetical=hypothetical,
            replicator=Replicator(progress=report),
        )
    if as_json:
        print_json(with_note(config, advised_json(advice)))
    else:
        print_note(config)
        _print(advice, show_all)


def advised_json(found: Advised) -> dict[str, Any]:
    """The advice as plain values."""
    return {
        "objective": found.objective,
        "figure": str(found.subject),
        "simulations": found.simulations,
        "seeds": found.seeds,
        "now": _advice_json(found.now),
        "advice": [_advice_json(advice) for advice in found.advice],
        "warnings": list(found.caveats),
    }


def _advice_json(advice: Advice) -> dict[str, Any]:
    from endive.answers.run_answer import estimate_json

    return {
        "words": advice.words,
        "gives_up": advice.gives_up,
        "availability": [{"lever": each.name, "is": each.had, "how": each.how} for each in advice.levers],
        "seeds": advice.seeds,
        "keys": dict(advice.keys),
        "outcome": advice.verdict.outcome,
        "found": estimate_json(advice.found),
        "effect": estimate_json(advice.effect),
        "requests_per_commit": advice.requests_per_commit,
        "usd_per_1000_commits": advice.usd_per_1000_commits,
    }


def _print(found: Advised, show_all: bool) -> None:
    from endive.answers.advice.advise import advice_sentence

    console = stdout()
    console.print(Text(advice_sentence(found), style="bold"))
    shown = found.advice if show_all else found.helpful[:_SHOWN]
    console.print(_table(found, shown))
    useless = [advice.words for advice in found.advice if advice not in found.helpful and advice not in shown]
    if useless:
        console.print(Text(f"No help ({len(useless)} of {len(found.advice)}): {'; '.join(useless)}."))
    for advice in shown[:3]:
        console.print(Text(f"{advice.words}: {advice.availability}. Gives up: {advice.gives_up}."))
    print_warnings(console, found.caveats)


def _takes(advice: Advice) -> str:
    from endive.answers.advice.levers import EFFORTS

    if any(lever.had == HYPOTHETICAL for lever in advice.levers):
        return HYPOTHETICAL
    return EFFORTS[advice.effort[1]] if advice.levers else ""


def _table(found: Advised, shown: Sequence[Advice]) -> Table:
    from endive.answers.compare import signed_estimate

    field = found.subject.field
    table = new_table(
        f"{found.subject}; {found.simulations:,} simulations; brackets are 95 % intervals of the effect",
        *("change", "objective", "takes", f">{field.name}", ">effect", ">requests", ">USD / 1,000"),
    )
    for advice in (found.now, *shown):
        table.add_row(
            advice.words,
            advice.verdict.outcome,
            _takes(advice),
            figure_text(field, advice.found.value),
            "" if advice is found.now else signed_estimate(field, advice.effect),
            number(advice.requests_per_commit, 1),
            number(advice.usd_per_1000_commits, 4),
        )
    hidden = len(found.advice) - len(shown)
    table.caption = f"requests and list price of a commit{f'; {hidden} more with --all' if hidden else ''}"
    table.caption_justify = "left"
    return table
