"""Turns ``recipe = "flink_sink"`` in a ``[[source]]`` into the keys of that source.

A recipe is a data file in ``recipes/``: what a real writer commits, how often, with which retries and isolation, where
that is said, and the release it was read from. Its parameters are keys of the source beside ``recipe``; a key that the
source gives itself wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from endive.config.keys import keys_of
from endive.config.problems import Problem, join_path, show
from endive.config.sections.source import SourceConfig
from endive.config.values import nearest
from endive.objectives.duration import DURATION_EXAMPLES, parse_duration_ms

RECIPE = "recipe"
SOURCE = "source"
FOLDER = Path(__file__).parents[1] / "recipes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A figure that only the user knows, and what it is if nothing is said."""

    name: str
    default: float
    meaning: str

    def value_of(self, given: Mapping[str, Any]) -> Any:
        """What a source says, a duration as text in milliseconds, or the default."""
        value = given.get(self.name, self.default)
        milliseconds = parse_duration_ms(value) if isinstance(value, str) and self.is_duration else None
        return value if milliseconds is None else milliseconds

    @property
    def is_duration(self) -> bool:
        return self.name.endswith("_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What one kind of writer does to a table."""

    name: str
    title: str
    release: str  # it was read from
    commits: str
    table: str
    retries: str
    isolation: str
    failure: str  # what follows a commit that failed
    sources: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    template: Mapping[str, Any]
    client: str | None = None  # of Delta Lake, which the whole run has: the only one that does this

    @property
    def reads_partitions(self) -> bool:
        """Whether it is a statement with a predicate on partitions, and so needs a table that has some."""
        return bool(self.template.get("read") == "partitions")

    def expand(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keys of a source: the template with its parameters filled in, below what ``given`` says itself."""
        names = {parameter.name for parameter in self.parameters}
        values = {parameter.name: parameter.value_of(given) for parameter in self.parameters}
        own = {key: value for key, value in given.items() if key not in names and key != RECIPE}
        return {"name": self.name, **_fill_in(self.template, values), **own}


@lru_cache(maxsize=1)
def recipes() -> dict[str, Recipe]:
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.toml"))}


def spell_out(source: Mapping[str, Any]) -> dict[str, Any]:
    """A source with the keys that its recipe gives it, if it has one."""
    recipe = recipes().get(str(source.get(RECIPE)))
    return dict(source) if recipe is None else recipe.expand(source)


def parameter_of(source: Mapping[str, Any], name: str) -> Any:
    """What a parameter of a source's recipe is; None if it has no recipe, or that no such parameter."""
    recipe = recipes().get(str(source.get(RECIPE)))
    parameters = recipe.parameters if recipe is not None else ()
    return next((parameter.value_of(source) for parameter in parameters if parameter.name == name), None)


def expand_recipes(document: dict[str, Any]) -> list[Problem]:
    """Every source with a recipe, spelt out in place; what is wrong with a recipe or a parameter."""
    written = document.get(SOURCE)
    sources: list[Any] = written if isinstance(written, list) else []
    problems: list[Problem] = []
    for index, source in enumerate(sources):
        if not isinstance(source, dict) or RECIPE not in source:
            continue
        refused = _problems(index, source, document)
        problems += refused
        name = source[RECIPE]
        if isinstance(name, str) and name in recipes():
            at_fault = {problem.path[-1] for problem in refused}
            sources[index] = recipes()[name].expand({key: source[key] for key in source if key not in at_fault})
        else:
            arrivals = {"kind": "poisson", "mean_ms": 1.0}  # that they are missing too is not worth telling
            sources[index] = {"arrivals": arrivals, **{key: value for key, value in source.items() if key != RECIPE}}
    return problems


def _problems(index: int, source: Mapping[str, Any], document: dict[str, Any]) -> list[Problem]:
    name = source[RECIPE]
    path = (SOURCE, index, RECIPE)
    recipe = recipes().get(name) if isinstance(name, str) else None
    if recipe is None:
        guess = nearest(str(name), tuple(recipes()))
        hint = f" Did you mean '{guess}'?" if guess else ""
        text = f"{join_path(path, document)} = {show(name)} is not known.{hint} Choose one of: {', '.join(recipes())}."
        return [Problem(text, path)]
    problems = _misspelt(index, source, recipe, document) + _other_client(path, recipe, document)
    for parameter in recipe.parameters:
        value = parameter.value_of(source)
        place = (SOURCE, index, parameter.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            or_text = f", or a duration as text, such as {DURATION_EXAMPLES}" if parameter.is_duration else ""
            allowed = f"a number greater than 0{or_text}"
        elif isinstance(parameter.default, int) and value != int(value):
            allowed = "a whole number"
        else:
            continue
        text = f"{join_path(place, document)} = {show(value)} must be {allowed}. {parameter.meaning}"
        problems.append(Problem(text, place))
    return problems


def _other_client(path: tuple[str | int, ...], recipe: Recipe, document: dict[str, Any]) -> list[Problem]:
    """A writer of one client of Delta Lake in a run of the other: its figures would be the other's."""
    section = document.get("delta")
    client = section.get("client", "spark") if isinstance(section, Mapping) else "spark"
    if recipe.client in (None, client):
        return []
    text = (
        f"{join_path(path, document)} = {show(recipe.name)} commits as {recipe.client} does, and delta.client is "
        f"{show(client)}. Set delta.client = {show(recipe.client)}."
    )
    return [Problem(text, path)]


def _misspelt(index: int, source: Mapping[str, Any], recipe: Recipe, document: dict[str, Any]) -> list[Problem]:
    """Keys of a source that are none, and close to a parameter of its recipe."""
    names = [parameter.name for parameter in recipe.parameters]
    known = {RECIPE, *names, *keys_of(SourceConfig)}
    problems = []
    for key in (key for key in source if key not in known):
        guess = nearest(f"{key}_ms", names) or nearest(key, names)
        if guess:
            path = (SOURCE, index, key)
            text = f"{join_path(path, document)} is not known. Did you mean '{guess}', a parameter of '{recipe.name}'?"
            problems.append(Problem(text, path))
    return problems


def _fill_in(value: Any, values: Mapping[str, float]) -> Any:
    if isinstance(value, Mapping):
        return {key: _fill_in(item, values) for key, item in value.items()}
    if isinstance(value, str) and value.startswith("$"):
        return values[value[1:]]
    return value


def _read(path: Path) -> Recipe:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    tables = document.pop("parameters", {})
    parameters = tuple(Parameter(name=name, **table) for name, table in tables.items())
    sources, template = tuple(document.pop("sources")), document.pop(SOURCE)
    return Recipe(name=path.stem, sources=sources, parameters=parameters, template=template, **document)
