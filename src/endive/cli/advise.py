"""``endive advise``: try what people can change, and rank it by its effect.

The trials are in ``endive.answers.advice.advise``.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from endive.cli.console import print_json, print_note, show, with_note
from endive.cli.options import AsJson, ConfigFile, Details, ObjectiveToMeet, Overrides
from endive.cli.progress import counted_progress

if TYPE_CHECKING:
    from endive.answers.advice.advise import Advice, Advised


def advise(
    config: ConfigFile,
    slo: ObjectiveToMeet = None,
    levers: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Changes to try, separated by commas: retries,backoff,store; else all."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="Seeds, the same for every change.")] = 16,
    hypothetical: Annotated[
        bool,
        typer.Option(
            "--hypothetical", help="Try also features no release supports; listed last and labelled hypothetical."
        ),
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show every change that was tried, not only those that help.")
    ] = False,
    overrides: Overrides = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Try changes one at a time, and in pairs if none is enough; show the smallest that meets the objective."""
    from endive.answers.advice.advice_answer import advice_answer
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
    file = shlex.join([str(config), *(word for text in overrides or [] for word in ("--set", text))])
    found = advice_answer(advice, file, show_all=show_all)
    if as_json:
        print_json(with_note(config, {**advised_json(advice), "answer": found.to_dict()}))
    else:
        print_note(config)
        show(found, with_details=details)


def advised_json(found: Advised) -> dict[str, Any]:
    """Return the advice as plain values."""
    return {
        "objective": found.objective,
        "figure": str(found.subject),
        "simulations": found.simulations,
        "seeds": found.seeds,
        "now": _advice_json(found.now),
        "advice": [_advice_json(advice) for advice in found.advice],
        "why": list(found.why),
        "cases": [each.to_dict() for each in found.cases],
        "warnings": [warned.line for warned in found.warnings],
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
