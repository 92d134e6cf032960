"""Combinations of keys that cannot be simulated, refused in words. The rules are in ``contradictions.toml``.

Keys without effect are in ``key_effects``, what a storage provider must be able to do in ``provider_needs``, what sizes
add up to in ``sizes``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import Any, Final

from endive.config.keys import SOURCE
from endive.config.problems import Problem, dotted, show, value_at
from endive.config.rules.condition import Condition, SceneValues, condition, read_rows
from endive.config.rules.provider_needs import provider_problems
from endive.config.rules.scene import Scene
from endive.config.rules.sizes import size_problems
from endive.config.simulation_config import SimulationConfig
from endive.config.slo import objective_of
from endive.errors import ObjectiveError

FILE: Final = FilePath(__file__).with_name("contradictions.toml")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A combination that is refused: the key at fault, when, and what the user reads."""

    key: str
    when: Condition
    says: str


@cache
def contradiction_rows() -> tuple[tuple[Contradiction, ...], tuple[Contradiction, ...]]:
    """The rows about sections, and those about one source."""
    tables = read_rows(FILE)
    sections, sources = (
        tuple(Contradiction(row["key"], condition(row["when"]), row["says"]) for row in tables[name])
        for name in ("section", SOURCE)
    )
    return sections, sources


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
    values = SceneValues(scene)
    for row in rows:
        if values.holds(row.when):
            path = scene.path(row.key)
            values |= {"key": dotted(path, scene.document), "value": show(value_at(scene.document, path))}
            yield Problem(values.say(row.says), path, tuple(map(scene.place, row.when.about)))


def _objective(config: SimulationConfig) -> Iterator[Problem]:
    """A name in the objective that stands for nothing in this configuration."""
    try:
        objective_of(config)
    except ObjectiveError as error:
        reason = str(error).partition("': ")[2]
        yield Problem(f"slo.objective = {show(config.slo.objective)}: {reason}", ("slo", "objective"), (SOURCE,))


def _source_names(config: SimulationConfig) -> Iterator[Problem]:
    names = [source.name for source in config.sources]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(
                f"source.{index}.name = {show(name)} is already the name of source.{names.index(name)}. "
                "Give each source a name of its own.",
                (SOURCE, index, "name"),
            )
