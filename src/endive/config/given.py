"""Keys that were given but that nothing reads: refused, because a flag that does nothing is a lie.

This file defines the comparison of what a document holds with ``endive.config.unread``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, Problem, dotted, shown, value_at
from endive.config.simulation_config import SimulationConfig
from endive.config.transaction import SourceConfig, SourceKeys
from endive.config.unread import Unread, unread_keys, unread_source_keys


def unread_problems(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """One problem for each key or table of the document that nothing reads."""
    problems: list[Problem] = []
    for key, unread in unread_keys(config).items():
        path: Path = tuple(key.split("."))
        problems += _problem_if_given(path, unread, unread.about, document)
    problems += _unread_defaults(config, document)
    written = document.get(SOURCE, [])
    for index, source in enumerate(config.sources if written else ()):
        problems += _unread_of_source(index, source, config, document)
    order = {name: place for place, name in enumerate((*SECTIONS, SOURCE))}
    return sorted(problems, key=lambda problem: order[str(problem.path[0])])


def _unread_of_source(
    index: int, source: SourceConfig, config: SimulationConfig, document: Mapping[str, Any]
) -> list[Problem]:
    problems: list[Problem] = []
    for key, unread in unread_source_keys(source, config).items():
        about = _about_source(unread, index)
        problems += _problem_if_given((SOURCE, index, *key.split(".")), unread, about, document)
    return problems


def _unread_defaults(config: SimulationConfig, document: Mapping[str, Any]) -> list[Problem]:
    """Keys of ``[transaction]`` that no source takes over, or that none of those that do reads."""
    problems: list[Problem] = []
    given: Mapping[str, Any] = document.get("transaction", {})
    written: list[Any] = document.get(SOURCE, [])
    for key in given:
        if key not in SourceKeys.model_fields:
            continue
        heirs = [index for index in range(len(config.sources)) if not written or key not in written[index]]
        path: Path = ("transaction", key)
        if not heirs:
            unread = Unread(f"every [[source]] gives its own {key}", ())
            problems += _problem_if_given(path, unread, (SOURCE,), document)
            continue
        reasons = [unread_source_keys(config.sources[index], config) for index in heirs]
        for name, unread in reasons[0].items():
            if name.split(".")[0] == key and all(name in other for other in reasons):
                is_told = not any(other[name].is_tolerated for other in reasons)
                about = tuple(item for index in heirs for item in _about_source(unread, index))
                if is_told:
                    problems += _problem_if_given(("transaction", *name.split(".")), unread, about, document)
    return problems


def _about_source(unread: Unread, index: int) -> tuple[str, ...]:
    """The keys a reason rests on, in the source itself and where it may have inherited them."""
    sections = tuple(key for key in unread.about if key.split(".")[0] in SECTIONS)
    own = [key for key in unread.about if key not in sections]
    inherited = tuple(f"transaction.{key}" for key in own)
    return (*sections, *inherited, *(f"{SOURCE}.{index}.{key}" for key in own))


def _problem_if_given(path: Path, unread: Unread, about: tuple[str, ...], document: Mapping[str, Any]) -> list[Problem]:
    holder = value_at(document, path[:-1])
    if unread.is_tolerated or not isinstance(holder, Mapping) or path[-1] not in holder:
        return []
    value = holder[str(path[-1])]
    if value == {}:
        return []  # a table without a key gives none; a study writes it where a choice leaves the table out
    key = dotted(path, document)
    head = key if isinstance(value, Mapping) else f"{key} = {shown(value)}"
    return [Problem(f"{head} is read by nothing: {unread.because}. Remove it.", path, about)]
