"""``endive compare``: two configurations, or the runs in two folders, side by side.

The comparison lives in ``endive.answers.compare``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from endive.cli.console import print_json, print_line
from endive.cli.console import show as show_answer
from endive.cli.options import AsJson, Details
from endive.cli.progress import shown_step
from endive.config import nearest_key, parse_overrides
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
            metavar="KEY",
            help="Compare A with itself under other values of a key: table.format, or storage.provider=s3,azure.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=2, help="Seeds, the same for both, instead of as many as they need.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Page (HTML) to write as well.")] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Compare two configurations: their keys, and every metric under the same seeds."""
    from endive.answers.compare import compare_bases
    from endive.answers.compare_answer import compare_answer
    from endive.render.html import answer_page
    from endive.results.writer import write_atomically

    if vary is not None:
        if b is not None or html is not None:
            raise ConfigError("--vary compares A with itself: leave out B and --html.")
        _compare_choice(a, vary, overrides or [], seeds, as_json, details)
        return
    if b is None and not overrides:
        raise ConfigError("Nothing to compare with: name a second configuration, or change a key with --set.")
    other = b or a
    changed = other.stem if not overrides else ", ".join([*([other.stem] if b else []), *overrides])
    with shown_step() as progress:
        progress("simulating both sides")
        comparison = compare_bases(_base(a, []), _base(other, overrides or []), names=(a.stem, changed), seeds=seeds)
    answer = compare_answer(comparison)
    if html is not None:
        write_atomically(html, answer_page(answer, f"{comparison.a} and {comparison.b}").encode())
    if as_json:
        print_json({**comparison_json(comparison), "answer": answer.to_dict()})
    else:
        show_answer(answer, with_details=details)


def _compare_choice(
    a: Path, key: str, overrides: list[str], seeds: int | None, as_json: bool, with_details: bool
) -> None:
    """Compare A with itself under every other value of a choice, ``KEY`` or ``KEY=ONE,TWO``."""
    from endive.answers.alternatives import variants_of
    from endive.answers.compare import compare_bases
    from endive.answers.compare_answer import compare_answer

    key, _, listed = key.partition("=")
    ours = _base(a, [])
    variants = variants_of(a / _CONFIG if a.is_dir() else a, key, parse_overrides(overrides), listed)
    if not variants:
        guess = nearest_key(key)
        hint = f" Did you mean '{guess}'?" if guess and guess != key else ""
        raise ConfigError(f"--vary {key} takes a key whose values are names, such as table.format.{hint}")
    others = [
        each for each in variants if each.base is None or each.base.config.config_hash() != ours.config.config_hash()
    ]
    found: list[dict[str, Any]] = []
    for variant in others:
        if variant.base is None:
            found.append({"b": variant.name, "problem": variant.problem})
            if not as_json:
                print_line(f"{variant.name}: {variant.problem}")
            continue
        with shown_step() as progress:
            progress(f"simulating {variant.name}")
            comparison = compare_bases(ours, variant.base, names=(a.stem, variant.name), seeds=seeds)
        found.append(comparison_json(comparison))
        if not as_json:
            if variant is not others[0]:
                print_line("")
            show_answer(compare_answer(comparison), with_details=with_details)
    if as_json:
        print_json({"choice": key, "comparisons": found})


def comparison_json(found: Comparison) -> dict[str, Any]:
    """Return the comparison as plain values."""
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
        "warnings": [warned.line for warned in found.warnings],
    }


def _base(path: Path, overrides: list[str]) -> Base:
    """Return the configuration in a file, or the one that made the run in a folder."""
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
