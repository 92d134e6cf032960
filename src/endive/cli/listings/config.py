"""``endive config``: check a configuration, show what it means, print what may stand in one.

The rules of a configuration are ``endive.config``'s.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from endive.cli.console import EXIT_ERROR, EndiveGroup, print_error, stdout
from endive.config import load_simulation_config, nearest_key
from endive.config.key_page import reference_markdown
from endive.config.key_reference import ReferenceSection, reference, reference_csv
from endive.errors import ConfigError

app = typer.Typer(
    cls=EndiveGroup,
    help="Check configurations, show what they mean, and list every key there is.",
    no_args_is_help=True,
)

KEY_COLUMNS = 4  # key, allowed, default, meaning

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

    Keys that nothing reads in this combination are left out.
    """
    config = load_simulation_config(file, overrides or ())
    if as_json:
        typer.echo(json.dumps(config.to_dict(), indent=2))
    else:
        typer.echo(f"# hash {config.config_hash()}\n{config.to_toml()}", nl=False)


@app.command()
def schema(
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Only keys that contain this, for example 'backoff'.")
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the reference as a page.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every key as a row of comma-separated values.")] = False,
) -> None:
    """List every key: what it may hold, its default, what it means.

    On a terminal as tables, else as plain lines of key, allowed values, default and meaning.
    """
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
        _print_section(section)


def _matching(section: ReferenceSection, key: str) -> ReferenceSection:
    of_source = key.replace("transaction.", "source.<name>.", 1)  # what [transaction] says of sources is listed there
    return replace(section, rows=tuple(row for row in section.rows if key in row[0] or of_source in row[0]))


def _print_section(section: ReferenceSection) -> None:
    if not sys.stdout.isatty():
        typer.echo(f"# {section.title}")
        for row in section.rows:
            typer.echo("\t".join(_bare(cell) for cell in row))
        return

    is_keys = len(section.columns) == KEY_COLUMNS
    table = Table(title=Text(section.title, style="bold"), title_justify="left", show_header=not is_keys)
    for index, column in enumerate(section.columns[:2] if is_keys else section.columns):
        table.add_column(column, style="cyan" if index == 0 else None, no_wrap=index == 0)
    for row in section.rows:
        cells = [Text(_bare(cell)) for cell in row]
        if is_keys:
            key, allowed, default, meaning = cells
            limits = Text.assemble("\n", allowed, "; default: ", default, style="dim") if allowed else ""
            cells = [key, Text.assemble(meaning, limits)]
        table.add_row(*cells)
    stdout().print(table)


def _bare(cell: str) -> str:
    """A cell without its Markdown."""
    return cell.replace("`", "").replace("**", "")
