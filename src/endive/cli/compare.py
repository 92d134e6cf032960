"""``endive compare``: two configurations, or the runs in two folders, side by side.

The comparison lives in ``endive.answers.compare``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from endive.cli.console import print_json, stdout
from endive.cli.options import AsJson
from endive.cli.tables import new_table, print_warnings
from endive.config import nearest_key, parse_overrides
from endive.config.problems import show
from endive.errors import ConfigError, IntakeError, OutputError

if TYPE_CHECKING:
    from endive.answers.compare import Comparison
    from endive.answers.variation import Base

_CONFIG: Final = "config.toml"
_SUMMARY: Final = "summary.json"
_SUMMARY_BYTES_MAX: Final = 64 * 2**20


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Configuration file (TOML), or the folder of a run.")],
    b: Annotated[
        Path | None, typer.Argument(metavar="B", help="The other one; without it, A with the keys of --set replaced.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override one key of B; repeatable.")
    ] = None,
    vary: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="A choice, such as table.format: compare A with itself under each other value."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=2, help="Seeds, the same for both, instead of as many as they need.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Page (HTML) to write as well.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what differs between two configurations, in their keys and in what comes out."""
    from endive.answers.compare import compare_bases, comparison_page
    from endive.results.writer import write_atomically

    if vary is not None:
        if b is not None or html is not None:
            raise ConfigError("--vary compares A with itself: leave out B and --html.")
        _compare_turns(a, vary, overrides or [], seeds, as_json)
        return
    if b is None and not overrides:
        raise ConfigError("Nothing to compare with: name a second configuration, or change a key with --set.")
    other = b or a
    changed = f"{other.stem} with {', '.join(overrides)}" if overrides else other.stem
    comparison = compare_bases(_base(a, []), _base(other, overrides or []), names=(a.stem, changed), seeds=seeds)
    if html is not None:
        write_atomically(html, comparison_page(comparison).encode())
    if as_json:
        print_json(comparison_json(comparison))
    else:
        _print(comparison)


def _compare_turns(a: Path, key: str, overrides: list[str], seeds: int | None, as_json: bool) -> None:
    """A against itself under every other value of a choice, one comparison after another."""
    from endive.answers.alternatives import turns_of
    from endive.answers.compare import compare_bases

    ours = _base(a, [])
    turns = turns_of(a / _CONFIG if a.is_dir() else a, key, parse_overrides(overrides))
    if not turns:
        guess = nearest_key(key)
        hint = f" Did you mean '{guess}'?" if guess and guess != key else ""
        raise ConfigError(f"--vary {key}: it is no choice between names, such as table.format.{hint}")
    others = [
        turn for turn in turns if turn.base is None or turn.base.config.config_hash() != ours.config.config_hash()
    ]
    told: list[dict[str, Any]] = []
    for turn in others:
        if turn.base is None:
            told.append({"b": turn.name, "problem": turn.problem})
            if not as_json:
                stdout().print(f"{turn.name}: {turn.problem}", markup=False)
            continue
        comparison = compare_bases(ours, turn.base, names=(a.stem, turn.name), seeds=seeds)
        told.append(comparison_json(comparison))
        if not as_json:
            _print(comparison)
    if as_json:
        print_json({"choice": key, "comparisons": told})


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The comparison as plain values."""
    from endive.answers.run_answer import estimate_json

    return {
        "a": found.a,
        "b": found.b,
        "seeds": found.seeds,
        "keys": [{"key": key, "a": ours, "b": theirs} for key, ours, theirs in found.keys],
        "differences": [
            {
                "figure": str(row.subject),
                "a": estimate_json(row.a),
                "b": estimate_json(row.b),
                "difference": estimate_json(row.difference),
                "outcome": row.outcome,
            }
            for row in found.differences
        ],
        "notes": list(found.notes),
        "warnings": list(found.caveats),
    }


def _base(path: Path, overrides: list[str]) -> Base:
    """The configuration in a file, or the one that made the run in a folder."""
    from endive.answers.variation import base_of

    if path.is_dir():
        if not (path / _CONFIG).is_file() or not (path / _SUMMARY).is_file():
            raise ConfigError(f"'{path}' is not the folder of a run: it has no {_CONFIG} and {_SUMMARY}.")
        if not overrides:
            _refuse_other_model(path)
        path = path / _CONFIG
    return base_of(path).varied(parse_overrides(overrides))


def _refuse_other_model(path: Path) -> None:
    """A folder's run is run again, so the model must be the one that made it."""
    from endive.intake import parse_json, read_bytes
    from endive.results import MODEL_VERSION

    try:
        content = read_bytes(path / _SUMMARY, bytes_max=_SUMMARY_BYTES_MAX, noun="a summary")
        made_by = parse_json(content, name="it", bytes_max=_SUMMARY_BYTES_MAX)["provenance"]["model_version"]
    except (IntakeError, KeyError, TypeError):
        raise OutputError(f"{path / _SUMMARY} cannot be read as the summary of a run.") from None
    if made_by != MODEL_VERSION:
        raise OutputError(
            f"'{path}' was made by model version {made_by}, this is {MODEL_VERSION}: its figures cannot be compared. "
            f"Run {path / _CONFIG} again."
        )


def _print(found: Comparison) -> None:
    console = stdout()
    if found.keys:
        console.print(_keys(found))
    console.print(_differences(found))
    for note in found.notes:
        console.print(Text.assemble(("note: ", "bold yellow"), note))
    print_warnings(console, found.caveats)


def _keys(found: Comparison) -> Table:
    table = new_table("What differs in the configurations", "key", f"A: {found.a}", f"B: {found.b}")
    for key, ours, theirs in found.keys:
        table.add_row(key, "-" if ours is None else show(ours), "-" if theirs is None else show(theirs))
    return table


def _differences(found: Comparison) -> Table:
    from endive.answers.compare import difference_cells

    title = f"What comes out; {found.seeds} seeds, the same for both; all brackets hold 95 times in 100"
    table = new_table(title, "figure", ">A", ">B", ">B less A", "B is")
    for row in found.differences:
        table.add_row(*difference_cells(row))
    return table
