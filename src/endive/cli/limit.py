"""``endive limit``: how far a number can go before the objective is no longer met."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from endive.cli.console import print_json, print_note, stdout, with_note
from endive.cli.options import AsJson, ConfigFile, ObjectiveToMeet, Overrides
from endive.cli.run import percentage
from endive.cli.tables import new_table, print_warnings
from endive.config import parse_overrides
from endive.errors import ObjectiveError
from endive.objectives import parse_duration_ms
from endive.objectives.verdict_text import figure_text, interval_text

if TYPE_CHECKING:
    from endive.answers.alternatives import Turn
    from endive.answers.limit import Limit
    from endive.answers.limit_search import Point

_BAR_COLUMNS: Final = 20


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
    tolerance: Annotated[
        str, typer.Option(metavar="PERCENT", help="How narrow the answer should be, if the doubt allows it.")
    ] = "2%",
    seeds: Annotated[int, typer.Option(min=1, help="Most seeds for one value.")] = 96,
    simulations: Annotated[int, typer.Option(min=1, help="Most simulations in all.")] = 2_000,
    overrides: Overrides = None,
    as_json: AsJson = False,
) -> None:
    """Find the largest (or smallest) value of a key that meets the objective."""
    from endive.answers.alternatives import find_limits, number_and_choice, turns_of
    from endive.answers.limit import find_limit
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
    if choice is not None:
        turns = find_limits(turns_of(config, choice, parse_overrides(overrides or [])), number, **options)
        limits = [
            {"value": turn.name, **({"problem": found} if isinstance(found, str) else limit_json(found))}
            for turn, found in turns
        ]
        answer = {"choice": choice, "key": number, "limits": limits}
    else:
        single = find_limit(base_of(config, overrides or []), number, **options)
        answer = limit_json(single)
    if as_json:
        print_json(with_note(config, answer))
        return
    print_note(config)
    if choice is not None:
        _print_turns(choice, number, turns)
    else:
        _print(single)


def _print_turns(choice: str, number: str, turns: tuple[tuple[Turn, Limit | str], ...]) -> None:
    """A row per value of the choice, the most first; below it what some of them have no figure for."""
    console = stdout()
    limits = [(turn, found) for turn, found in turns if not isinstance(found, str)]
    if limits:
        title = f"{number}: how far it can go under each {choice}; {limits[0][1].objective}"
        table = new_table(title, choice, f">{number}", "as far as can be told", ">now", ">simulations")
        for turn, found in sorted(limits, key=lambda each: -each[1].value):
            now = "-" if found.now is None else found.text_of(found.now)
            table.add_row(turn.name, found.bound, found.span, now, f"{found.simulations:,}")
        console.print(table)
    for turn, told in ((turn, found) for turn, found in turns if isinstance(found, str)):
        console.print(Text.assemble((f"{turn.name}: ", "bold"), told))
    for turn, found in limits:
        for note in (*found.notes, *([found.doubt] if found.doubt else [])):
            console.print(Text.assemble((f"{turn.name}: ", "bold yellow"), note))
    print_warnings(console, tuple(dict.fromkeys(f"{t.name}: {c}" for t, found in limits for c in found.caveats)))


def limit_json(found: Limit) -> dict[str, Any]:
    """The answer as plain values."""
    from endive.answers.run_answer import verdict_json

    return {
        **{
            name: getattr(found, name) for name in ("key", "objective", "which", "value", "low", "high", "now", "doubt")
        },
        "simulations": found.simulations,
        "notes": list(found.notes),
        "warnings": list(found.caveats),
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


def _print(found: Limit) -> None:
    console = stdout()
    console.print(Text(found.sentence, style="bold"))
    console.print(_table(found))
    for note in found.notes:
        console.print(Text.assemble(("note: ", "bold yellow"), note))
    print_warnings(console, found.caveats)


def _table(found: Limit) -> Table:
    shown = _comparison(found)
    table = new_table(
        f"What was tried; {found.simulations:,} simulations",
        f">{found.key.rpartition('.')[2]}",
        "objective",
        f">{found.points[0].verdict.parts[shown].subject}",
        *("99 % interval", "", ">seeds"),
    )
    values = [point.verdict.parts[shown].found.value or 0.0 for point in found.points]
    for point, value in zip(found.points, values, strict=True):
        part = point.verdict.parts[shown]
        field = part.subject.field
        bar = "█" * (1 + round(_BAR_COLUMNS * (value - min(values)) / ((max(values) - min(values)) or 1.0)))
        table.add_row(
            found.text_of(point.value),
            point.verdict.outcome,
            figure_text(field, part.found.value),
            interval_text(field, part.found),
            bar,
            str(point.seeds),
        )
    return table


def _comparison(found: Limit) -> int:
    """The comparison that decides at the limit: the first that is not met anywhere."""
    failing: list[Point] = [point for point in found.points if point.verdict.outcome == "not met"]
    for point in sorted(failing, key=lambda point: abs(point.value - found.value)):
        for place, part in enumerate(point.verdict.parts):
            if part.outcome == "not met":
                return place
    return 0
