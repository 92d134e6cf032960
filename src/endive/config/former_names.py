"""Names that were changed and are still accepted: values, studies, suites of ``endive verify``.

This file defines which name became which. Whoever meets a former name takes the present one and warns with
``FormerNameWarning``, which the command line prints as a note.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

VALUES: Final[Mapping[tuple[str, str], Mapping[str, str]]] = MappingProxyType(
    {
        ("storage", "vintage"): {"seeds": "original"},
        ("catalog", "append_preset"): {"seed004": "append_design"},
    }
)
REPLACED: Final = MappingProxyType(
    {
        "append_rate": "source.<name>.arrivals.per_s of the source that appends, with arrivals.kind = 'poisson'",
        "overwrite_runtime": "source.<name>.runtime of the source that overwrites",
        "overwrite_interval": "source.<name>.arrivals.period_ms of the source that overwrites, with arrivals.kind = "
        "'periodic'",
        "validation_overlap": "source.<name>.real_conflict_probability of the source that overwrites",
        "data_overlap_probability": "real_conflict_probability, of [transaction] or of a source",
    }
)  # names of the original documents that a configuration never took
SUITES: Final = MappingProxyType({"seeds": "claims"})
_STUDY_FOLDERS: Final = MappingProxyType({"appendix": "original"})


class FormerNameWarning(UserWarning):
    """A name that was changed was met; the present one was taken."""


def translate_values(document: dict[str, Any]) -> None:
    """Put present values in the place of former ones."""
    for (section, key), names in VALUES.items():
        table = document.get(section)
        value = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(value, str) and value in names:
            table[key] = present(f"{section}.{key} = '{value}'", value, names)


def present_vintage(vintage: str) -> str:
    """The present name of a set of figures."""
    return present(f"vintage '{vintage}'", vintage, VALUES["storage", "vintage"])


def present_suite(name: str) -> str:
    """The present name of a suite."""
    return present(f"suite '{name}'", name, SUITES)


def present_path(path: Path) -> Path:
    """Where a shipped study lies now, if its folder was renamed and nothing lies at the former place."""
    folder = _STUDY_FOLDERS.get(path.parent.name)
    if folder is None or path.exists():
        return path
    moved = path.parent.with_name(folder) / path.name
    if not moved.is_file():
        return path
    warnings.warn(f"{path} is now {moved}; use that.", FormerNameWarning, stacklevel=3)
    return moved


def present(what: str, name: str, names: Mapping[str, str]) -> str:
    """The present name; a warning if it is another."""
    if name not in names:
        return name
    warnings.warn(f"{what} is now called '{names[name]}'; use that.", FormerNameWarning, stacklevel=3)
    return names[name]
