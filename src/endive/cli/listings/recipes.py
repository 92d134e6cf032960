"""``endive recipes``: the writers that a source can name, and what each of them does to a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from endive.cli.console import print_json, stdout
from endive.cli.options import AsJson
from endive.cli.tables import new_table
from endive.config import Recipe
from endive.config import recipes as all_recipes
from endive.config.toml_text import toml_text
from endive.config.values import nearest
from endive.errors import ConfigError


def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A recipe, to be printed in full; all if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the recipes for sources, or print one: what it commits, how often, and where that is said."""
    known = all_recipes()
    if name is not None and name not in known:
        guess = nearest(name, tuple(known))
        hint = f" Did you mean '{guess}'?" if guess else ""
        raise ConfigError(f"no recipe is called '{name}'.{hint} Choose one of: {', '.join(known)}.")
    if as_json:
        chosen = {each: asdict(recipe) for each, recipe in known.items() if name in (None, each)}
        print_json(chosen if name is None else chosen[name])
    elif name is None:
        _print_all(list(known.values()))
    else:
        typer.echo(recipe_text(known[name]))


def _print_all(recipes: list[Recipe]) -> None:
    table = new_table('Recipes: [[source]] with recipe = "NAME"; endive recipes NAME prints one')
    for column in ("name", "who", "parameters"):
        table.add_column(column, no_wrap=column == "name", overflow="fold")
    for recipe in recipes:
        parameters = ", ".join(f"{each.name} = {each.default:.12g}" for each in recipe.parameters)
        table.add_row(recipe.name, escape(recipe.title), parameters)
    stdout().print(table)


def recipe_text(recipe: Recipe) -> str:
    """Return a recipe in words, with a source that uses it and what that source becomes."""
    lines = [f"{recipe.name}: {recipe.title}", ""]
    for heading in ("commits", "table", "retries", "isolation", "failure"):
        lines.append(f"  {heading + ':':<11}{getattr(recipe, heading)}")
    lines.append(f"  {'release:':<11}{recipe.release}")
    lines += [f"  {'source:' if index == 0 else '':<11}{text}" for index, text in enumerate(recipe.sources)]
    lines += ["", "parameters, keys of the source:"]
    lines += [f"  {each.name} = {each.default!r}  {each.meaning}" for each in recipe.parameters]
    written = {"name": "mine", "recipe": recipe.name, **{each.name: each.default for each in recipe.parameters}}
    lines += ["", "written so:", "", toml_text({"source": [written]}).rstrip()]
    lines += ["", "it means:", "", toml_text({"source": [recipe.expand(written)]}).rstrip()]
    return "\n".join(lines)
