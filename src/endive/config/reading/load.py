"""From a TOML file or a mapping to a resolved configuration, or to every problem of it at once.

A key with a problem of its own is taken out before the checks across sections run, and what they find that rests on it
is not told: it might not be true once the key is right. No part of a simulation is built yet.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from endive.config.checks import check_combinations
from endive.config.effects import idle_notes
from endive.config.keys import SECTIONS, SOURCE, nearest_key
from endive.config.problems import TOLD_MAX, Problem, Spelt, problems_of, show, value_at
from endive.config.problems import Path as KeyPath
from endive.config.reading.document import document_in
from endive.config.reading.former_names import REPLACED, ConfigNote
from endive.config.reading.overrides import apply_overrides, parse_overrides, plain_copy
from endive.config.reading.resolve import resolve
from endive.config.reading.spellings import spell
from endive.config.sections.source import SourceConfig
from endive.config.simulation_config import SimulationConfig
from endive.config.values import abridge, nearest
from endive.errors import ConfigError
from endive.intake import NESTING_MAX, is_deeper_than

STUDY_SECTIONS: Final = frozenset({"study", "axes", "linked", "base"})
OBSERVED_FILE: Final = "endive.toml"  # what ``endive observe`` calls the configuration in its folder


def configuration_file(path: str | PathLike[str]) -> Path:
    """The file itself; of a folder that ``endive observe`` wrote, the configuration in it."""
    inner = Path(path) / OBSERVED_FILE
    try:
        return inner if inner.is_file() else Path(path)
    except (OSError, ValueError):  # no such path can be; reading it says why
        return Path(path)


def load_simulation_config(path: str | PathLike[str], overrides: Sequence[str] = ()) -> SimulationConfig:
    """The configuration in a TOML file, with ``key=value`` overrides applied on top."""
    file = configuration_file(path)
    mapping = apply_overrides(read_toml(file), parse_overrides(overrides))
    return parse_config(mapping, source=str(file))


def parse_config(
    mapping: Mapping[str, Any], source: str = "<dict>", notes: dict[str, list[str]] | None = None
) -> SimulationConfig:
    """Return the configuration that a mapping describes; raise ConfigError with every problem there is.

    ``source`` is the file it came from, if any: relative paths of profiles and traces start at its folder, else at the
    current one. Keys without effect go into ``notes``, by the switch that turns them off, or else are warned of.
    """
    if isinstance(mapping, Mapping) and STUDY_SECTIONS & mapping.keys():
        raise ConfigError(_is_study(mapping, source))
    folder = None if source.startswith("<") else Path(source).parent
    config, problems, idle = examine(mapping, folder)
    if problems or config is None:
        raise ConfigError(problems)
    if notes is None:
        for switch, keys in idle.items():
            tell(note_text(switch, keys))
    else:
        notes.update(idle)
    return config


def tell(note: str) -> None:
    """Issue a note: the command line prints it, a program may filter it like any warning."""
    warnings.warn(note, ConfigNote, stacklevel=3)


def note_text(switch: str, keys: Sequence[str]) -> str:
    """Describe keys without effect; those in the table of the switch go by their last name. A remark has none."""
    if not keys:
        return switch
    table = switch.partition(" ")[0].rpartition(".")[0]
    names = [key.removeprefix(f"{table}.") if table else key for key in keys]
    return f"no effect while {switch}: {', '.join(names)}"


def _is_study(mapping: Mapping[str, Any], source: str) -> str:
    section = next(name for name in mapping if name in STUDY_SECTIONS)
    name = "This" if source.startswith("<") else f"'{source}'"
    return (
        f"{name} is a study, not a configuration: it has the section '{section}'. Run it with `endive study`, or give "
        "one configuration, with the keys of its [base] at the top."
    )


def read_toml(path: str | PathLike[str]) -> dict[str, Any]:
    """The document in a TOML file; a file that cannot be read is a ConfigError of one line."""
    document = document_in(path)
    if isinstance(document, str):
        raise ConfigError(f"'{path}' {document}")
    return document


# ---- every problem at once ------------------------------------------------------------------------------------


def examine(mapping: object, folder: Path | None) -> tuple[SimulationConfig | None, list[str], dict[str, list[str]]]:
    """Return the resolved configuration or every problem in the order of the sections, and the keys without effect."""
    if not isinstance(mapping, Mapping):
        return None, [f"{show(mapping)} is not a configuration. Give a table of sections."], {}
    if is_deeper_than(mapping):
        return None, [f"The configuration is nested more than {NESTING_MAX} levels deep."], {}
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
        across = check_combinations(config, pruned)
        problems += [problem for problem in across if not _rests_on(problem, at_fault)]
    texts = list(dict.fromkeys(problem.text for problem in problems))
    if texts or config is None:
        return None, texts, {}
    return config, [], {**{remark: [] for remark in document.remarks}, **idle_notes(config, document)}


def _read_sections(document: dict[str, Any]) -> tuple[SimulationConfig | None, list[Problem]]:
    """The sections as they were written, each valid by itself."""
    problems = _unknown_sections(document)
    sections: dict[str, Any] = {}
    for name, table in SECTIONS.items():
        try:
            sections[name] = table.model_validate(document.get(name, {}))
        except ValidationError as error:
            problems += problems_of(error, table, (name,), document)
    sources, refused = _read_sources(document)
    problems += refused
    return (None if problems else SimulationConfig.model_construct(**sections, sources=sources)), problems


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


def _place(path: KeyPath) -> str:
    return ".".join(str(part) for part in path)


def _rests_on(problem: Problem, at_fault: set[str]) -> bool:
    for key in (_place(problem.path), *problem.about):
        for fault in at_fault:
            if f"{key}.".startswith(f"{fault}.") or f"{fault}.".startswith(f"{key}."):
                return True
    return False
