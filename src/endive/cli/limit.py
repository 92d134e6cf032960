"""``endive limit``: how far a number can go before the objective is no longer met."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from endive.cli.console import print_json, print_note, show, with_note
from endive.cli.options import AsJson, ConfigFile, Details, ObjectiveToMeet, Overrides
from endive.cli.progress import counted_progress
from endive.cli.run import percentage
from endive.config import parse_overrides
from endive.errors import ObjectiveError
from endive.objectives import parse_duration_ms

if TYPE_CHECKING:
    from endive.answers.alternatives import Variant
    from endive.answers.limit import Limit


def limit(
    config: ConfigFile,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="KEY",
            help="Key to vary; 'load' is a factor on all sources, source.*.KEY all of them. A choice, such as "
            "table.format, asks for the limit under each of its values: of the load, or of a second --vary.",
        ),
    ],
    slo: ObjectiveToMeet = None,
    low: Annotated[
        str | None, typer.Option("--from", metavar="VALUE", help="Smallest value to try; durations as text, too.")
    ] = None,
    high: Annotated[str | None, typer.Option("--to", metavar="VALUE", help="Largest value to try.")] = None,
    tolerance: Annotated[str, typer.Option(metavar="PERCENT", help="Target relative precision of the result.")] = "2%",
    seeds: Annotated[int, typer.Option(min=1, help="Maximum seeds per value.")] = 96,
    simulations: Annotated[int, typer.Option(min=1, help="Maximum simulations in all.")] = 2_000,
    overrides: Overrides = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Find the largest (or smallest) value of a key that meets the objective."""
    from endive.answers.alternatives import choice_answer, find_limits, number_and_choice, variants_of
    from endive.answers.limit import find_limit
    from endive.answers.limit_answer import limit_answer
    from endive.answers.replicate import Replicator
    from endive.answers.variation import base_of

    number, choice = number_and_choice(vary)
    options: dict[str, Any] = {
        "slo": slo,
        "low": _number(low, "--from"),
        "high": _number(high, "--to"),
        "tolerance": percentage(tolerance, "--tolerance"),
        "seeds_max": seeds,
        "simulations_max": simulations,
    }
    file = shlex.join([str(config), *(word for text in overrides or [] for word in ("--set", text))])
    with counted_progress("searching") as report:
        if choice is not None:
            variants = variants_of(config, choice, parse_overrides(overrides or []))
            limits = find_limits(variants, number, progress=report, **options)
            found = choice_answer(choice, number, limits)
            document = {"choice": choice, "key": number, "limits": [_choice_json(*each) for each in limits]}
        else:
            base = base_of(config, overrides or [])
            single = find_limit(base, number, replicator=Replicator(progress=report), **options)
            found = limit_answer(single, base.config, file)
            document = limit_json(single)
    if as_json:
        print_json(with_note(config, {**document, "answer": found.to_dict()}))
        return
    print_note(config)
    show(found, with_details=details)


def _choice_json(variant: Variant, found: Limit | str) -> dict[str, Any]:
    return {"value": variant.name, **({"problem": found} if isinstance(found, str) else limit_json(found))}


def limit_json(found: Limit) -> dict[str, Any]:
    """Return the answer as plain values."""
    from endive.answers.run_answer import verdict_json

    return {
        **{
            name: getattr(found, name) for name in ("key", "objective", "which", "value", "low", "high", "now", "doubt")
        },
        "simulations": found.simulations,
        "notes": list(found.notes),
        "warnings": [warned.line for warned in found.warnings],
        "cases": [each.to_dict() for each in found.cases],
        "points": [
            {"value": point.value, "seeds": point.seeds, "objective": verdict_json(point.verdict)}
            for point in found.points
        ],
    }


def _number(text: str | None, option: str) -> float | None:
    if text is None:
        return None
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text.replace("_", ""))
    duration_ms = parse_duration_ms(text)
    if duration_ms is None:
        raise ObjectiveError(f"{option} '{text}' is not a number. Write, for example, 100 or 5s.")
    return duration_ms
