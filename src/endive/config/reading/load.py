"""From a TOML file or a mapping to a resolved configuration, or to every problem of it at once.

Each step has a file of its own; no part of a simulation is built yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from endive.config.reading.document import document_in
from endive.config.reading.examine import examine
from endive.config.reading.overrides import apply_overrides, parse_overrides
from endive.config.simulation_config import SimulationConfig
from endive.errors import ConfigError

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


def parse_config(mapping: Mapping[str, Any], source: str = "<dict>") -> SimulationConfig:
    """The configuration a mapping describes.

    ``source`` is the file it came from, if any: relative paths of profiles and traces start at its folder,
    else at the current one. Raises ConfigError with every problem there is.
    """
    if isinstance(mapping, Mapping) and STUDY_SECTIONS & mapping.keys():
        raise ConfigError(_is_study(mapping, source))
    folder = None if source.startswith("<") else Path(source).parent
    config, problems = examine(mapping, folder)
    if problems or config is None:
        raise ConfigError(problems)
    return config


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
