"""Every problem of a configuration at once, or the configuration resolved.

A key with a problem of its own is taken out before the checks across sections run, and what they find that rests on it
is not told: it might not be true once the key is right.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from endive.config.keys import SECTIONS, SOURCE, nearest_key
from endive.config.problems import TOLD_MAX, Path, Problem, Spelt, problems_of, show, value_at
from endive.config.reading.former_names import REPLACED
from endive.config.reading.overrides import plain_copy
from endive.config.reading.resolve import WrittenConfig, resolve
from endive.config.reading.spellings import spell
from endive.config.rules.contradictions import contradictions
from endive.config.rules.unread import unread_problems
from endive.config.sections.source import SourceConfig
from endive.config.simulation_config import SimulationConfig
from endive.config.values import abridge, nearest


def examine(mapping: object, folder: FilePath | None) -> tuple[SimulationConfig | None, list[str]]:
    """The resolved configuration, or every problem of the mapping in the order of the sections."""
    if not isinstance(mapping, Mapping):
        return None, [f"{show(mapping)} is not a configuration. Give a table of sections."]
    document, problems = spell(mapping)
    written, refused = _read_sections(document)
    problems += refused
    if problems:
        pruned = _without(document, problems)
        written = _read_sections(pruned)[0]
    else:
        pruned = document
    config = resolve(written, folder) if written else None
    if config:
        at_fault = {_place(problem.path) for problem in problems}
        across = contradictions(config, pruned) + unread_problems(config, pruned)
        problems += [problem for problem in across if not _rests_on(problem, at_fault)]
    texts = list(dict.fromkeys(problem.text for problem in problems))
    return (None if texts else config), texts


def _read_sections(document: dict[str, Any]) -> tuple[WrittenConfig | None, list[Problem]]:
    problems = _unknown_sections(document)
    sections: dict[str, Any] = {}
    for name, table in SECTIONS.items():
        try:
            sections[name] = table.model_validate(document.get(name, {}))
        except ValidationError as error:
            problems += problems_of(error, table, (name,), document)
    sources, refused = _read_sources(document)
    problems += refused
    return (None if problems else WrittenConfig(**sections, sources=sources)), problems


def _unknown_sections(document: dict[str, Any]) -> list[Problem]:
    known = (*SECTIONS, SOURCE)
    problems: list[Problem] = []
    for name, value in document.items():
        if name in known:
            continue
        if len(problems) == TOLD_MAX:
            problems.append(Problem(f"{len(document)} sections are given; sections are: {', '.join(known)}.", (name,)))
            break
        guess = nearest(str(name), known)
        if not isinstance(value, (dict, list)):
            guess = nearest_key(str(name)) or guess
        hint = f"Did you mean '{guess}'?" if guess else f"Sections are: {', '.join(known)}."
        hint = f"Give {REPLACED[name]}." if name in REPLACED else hint
        problems.append(Problem(f"{abridge(str(name))} is not known. {hint}", (name,)))
    return problems


def _read_sources(document: dict[str, Any]) -> tuple[tuple[SourceConfig, ...], list[Problem]]:
    written = document.get(SOURCE, [])
    if not isinstance(written, list):
        example = "[[source]], with two brackets, one for each stream of txns"
        return (), [Problem(f"source = {show(written)} must be written {example}.", (SOURCE,))]
    sources: list[SourceConfig] = []
    problems: list[Problem] = []
    for index, table in enumerate(written):
        try:
            sources.append(SourceConfig.model_validate(table))
        except ValidationError as error:
            problems += problems_of(error, SourceConfig, (SOURCE, index), document)
    return tuple(sources), problems


def _without(document: Spelt, problems: list[Problem]) -> Spelt:
    """The document without the keys at fault; a table that misses a key goes as a whole."""
    pruned = Spelt(plain_copy(document), document.origins)
    for problem in problems:
        holder = value_at(pruned, problem.path[:-1])
        if isinstance(holder, dict) and problem.path[-1] in holder:
            del holder[problem.path[-1]]
        elif len(problem.path) > 2 and isinstance(value_at(pruned, problem.path[:-2]), dict):
            value_at(pruned, problem.path[:-2]).pop(problem.path[-2], None)
    return pruned


def _place(path: Path) -> str:
    return ".".join(str(part) for part in path)


def _rests_on(problem: Problem, at_fault: set[str]) -> bool:
    for key in (_place(problem.path), *problem.about):
        for fault in at_fault:
            if f"{key}.".startswith(f"{fault}.") or f"{fault}.".startswith(f"{key}."):
                return True
    return False
