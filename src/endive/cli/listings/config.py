"""``endive config``: check a configuration, show what it means, print what may stand in one.

The rules of a configuration are ``endive.config``'s.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from endive.cli.console import EXIT_ERROR, EndiveGroup, print_error
from endive.config import (
    apply_overrides,
    configuration_file,
    load_simulation_config,
    nearest_key,
    parse_overrides,
    read_toml,
)
from endive.config.json_schema import json_schema
from endive.config.key_page import reference_markdown
from endive.config.key_reference import ReferenceSection, reference, reference_csv
from endive.config.reading.durations import with_durations
from endive.config.reading.upgrade import upgrade as upgrade_document
from endive.config.toml_text import toml_text
from endive.errors import ConfigError

app = typer.Typer(
    cls=EndiveGroup,
    help="Check configurations, show what they mean, and list every key there is.",
    no_args_is_help=True,
)

KEY_COLUMNS = 4  # key, allowed, default, meaning
WIDTH = 100

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override one key of the configuration; repeatable. The value is TOML, a bare word is a text: "
        "--set catalog.scope=table --set source.writers.retry=3.",
    ),
]


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Configuration files (TOML).")],
    overrides: Overrides = None,
) -> None:
    """Say whether configurations can be simulated: OK and the hash, or every problem at once.

    Nothing is simulated. Ends with 2 if any file has a problem. The hash names everything that decides
    results but the seed: equal hashes, equal studies.
    """
    is_refused = False
    for file in files:
        try:
            config = load_simulation_config(file, overrides or ())
        except ConfigError as error:
            is_refused = True
            print_error("\n".join(f"{file}: {problem}" for problem in error.problems))
        else:
            typer.echo(f"{file}: OK {config.config_hash()}")
    if is_refused:
        raise typer.Exit(EXIT_ERROR)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration file (TOML).")],
    overrides: Overrides = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of TOML.")] = False,
) -> None:
    """Print a configuration with every default filled in, as a file that means the same.

    Keys without effect in this combination are left out; durations stay as they were written.
    """
    config = load_simulation_config(file, overrides or ())
    if as_json:
        typer.echo(json.dumps(config.to_dict(), indent=2))
        return
    written = apply_overrides(read_toml(configuration_file(file)), parse_overrides(overrides or ()))
    plain = with_durations(config.to_dict(), written)
    typer.echo(f"# hash {config.config_hash()}\n{toml_text(plain)}", nl=False)


@app.command()
def upgrade(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Configuration file (TOML).")],
    writes: Annotated[bool, typer.Option("--write", help="Replace the file; its comments are lost.")] = False,
) -> None:
    """Rewrite a configuration in the present spelling: the documents' names of keys become today's.

    Prints the result unless --write is given. It means what the file meant; the hash shows it.
    """
    text = toml_text(upgrade_document(read_toml(file), source=str(file)))
    if writes:
        file.write_text(text, encoding="utf-8")
        typer.echo(f"{file}: rewritten")
    else:
        typer.echo(text, nl=False)


@app.command()
def schema(
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Only keys that contain this, for example 'backoff'.")
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference as a page.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every key as a row of comma-separated values.")] = False,
    as_json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Print a JSON schema, with which editors complete and check keys.")
    ] = False,
) -> None:
    """List every key: its meaning, what it may hold, its default, and when it has an effect."""
    if as_json_schema:
        typer.echo(json.dumps(json_schema(), indent=1))
        return
    if as_markdown or as_csv:
        typer.echo(reference_markdown() if as_markdown else reference_csv(), nl=False)
        return
    sections = [_matching(section, key or "") for section in reference()]
    sections = [section for section in sections if section.rows]
    if not sections:
        if "recipe" in (key or ""):
            raise ConfigError("A source's recipe fills in other keys: 'endive recipes' lists recipes, with parameters.")
        guess = nearest_key(key or "")
        raise ConfigError(f"No key contains '{key}'." + (f" Did you mean '{guess}'?" if guess else ""))
    for section in sections:
        typer.echo("\n".join(_lines(section)))


def _matching(section: ReferenceSection, key: str) -> ReferenceSection:
    of_source = key.replace("transaction.", "source.<name>.", 1)  # what [transaction] says of sources is listed there
    return replace(section, rows=tuple(row for row in section.rows if key in row[0] or of_source in row[0]))


def _lines(section: ReferenceSection) -> Iterator[str]:
    """Yield a section as lines of at most a hundred characters: a key, then what there is to say of it."""
    yield f"# {section.title}"
    for row in section.rows:
        name, *rest = (_bare(cell) for cell in row)
        yield name
        if len(section.columns) == KEY_COLUMNS:
            allowed, default, meaning = rest
            rest = [meaning, f"{allowed}; default: {default}" if allowed else ""]
        else:
            rest = [", ".join(f"{column}: {cell}" for column, cell in zip(section.columns[1:], rest, strict=True))]
        for text in rest:
            yield from textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    yield ""


def _bare(cell: str) -> str:
    """Return a cell without its Markdown."""
    return cell.replace("`", "").replace("**", "")
