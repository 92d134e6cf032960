"""Combinations of keys that cannot be simulated, refused in words. The rules are in ``contradictions.toml``.

Keys without effect are in ``key_effects``, what a storage provider must be able to do in ``provider_needs``, what sizes
add up to in ``sizes``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.expression import Expression
from endive.config.keys import SOURCE
from endive.config.problems import Problem, dotted, shown, value_at
from endive.config.rules.conditions import Scene
from endive.config.rules.facts import FACTS
from endive.config.rules.provider_needs import provider_problems
from endive.config.rules.sizes import size_problems
from endive.config.simulation_config import SimulationConfig
from endive.config.slo import objective_of
from endive.errors import ObjectiveError

FILE: Final = FilePath(__file__).with_name("contradictions.toml")
GIVEN: Final = "given."
WRITTEN: Final = "written."


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A combination that is refused: the key at fault, when, and what the user reads."""

    key: str
    when: Expression
    says: str

    @property
    def about(self) -> Iterator[str]:
        """The keys it rests on."""
        for name in self.when.names:
            if name in FACTS:
                yield from FACTS[name].about.split()
            else:  # which keys arrivals have depends on their kind, so a fault in one of them is a fault in all
                key = name.removeprefix(GIVEN).removeprefix(WRITTEN)
                yield "arrivals" if key.startswith("arrivals.") else key


@cache
def contradiction_rows() -> tuple[tuple[Contradiction, ...], tuple[Contradiction, ...]]:
    """The rows about sections, and those about one source."""
    document = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(_rows(document["section"])), tuple(_rows(document[SOURCE]))


def _rows(tables: list[dict[str, Any]]) -> Iterator[Contradiction]:
    for table in tables:
        for word in table.get("for", ["$"]):
            key, when, says = (table[name].replace("$", word) for name in ("key", "when", "says"))
            yield Contradiction(key, Expression.parse(when, key), says)


class _Values(dict[str, Any]):
    """What the names in a rule stand for in a scene, looked up when they are asked for."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene

    def __missing__(self, name: str) -> Any:
        if name in FACTS:
            value = FACTS[name].of(self.scene)
        elif name.startswith(GIVEN):
            value = self.scene.is_given(name.removeprefix(GIVEN))
        elif name.startswith(WRITTEN):
            value = self.scene.written(name.removeprefix(WRITTEN)) is not None
        else:
            value = self.scene.value(name)
        self[name] = value
        return value


def contradictions(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Every contradiction of a resolved configuration; ``document`` is what was written."""
    of_sections, of_sources = contradiction_rows()
    scenes = [Scene(config, source, document, index) for index, source in enumerate(config.sources)]
    return [
        *provider_problems(config, document),
        *_problems(of_sections, Scene(config, document=document)),
        *_objective(config),
        *_source_names(config),
        *size_problems(config),
        *(problem for scene in scenes for problem in _problems(of_sources, scene)),
    ]


def _problems(rows: tuple[Contradiction, ...], scene: Scene) -> Iterator[Problem]:
    values = _Values(scene)
    for row in rows:
        if row.when.evaluate(values, row.key):
            path = scene.path(row.key)
            values |= {"key": dotted(path, scene.document), "value": shown(value_at(scene.document, path))}
            yield Problem(scene.say(row.says, values), path, tuple(map(scene.place, row.about)))


def _objective(config: SimulationConfig) -> Iterator[Problem]:
    """A name in the objective that stands for nothing in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        reason = str(error).partition("': ")[2]
        yield Problem(f"slo.objective = {shown(config.slo.objective)}: {reason}", ("slo", "objective"), (SOURCE,))


def _source_names(config: SimulationConfig) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {shown(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )
