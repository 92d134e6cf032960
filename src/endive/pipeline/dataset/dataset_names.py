"""Names in a dataset, checked when they are read: a folder from a stranger is data, and no way out of the folder.

The rules are those that hold when the names are made (``endive.config.study``, ``endive.pipeline.sweep.plan``).
"""

from __future__ import annotations

import re
from typing import Any, Final

from endive.config.study.axis import key_problem
from endive.config.study.study_file import FREE_NAME, NAME

_PART: Final = re.compile(r"part-[0-9]{5,9}-[0-9a-f]{12}")
_RUN: Final = re.compile(r"[0-9a-f]{16}")
_AXIS_CHARACTERS_MAX: Final = 300


def study_name(name: Any) -> str:
    """A study's name, or ValueError."""
    return _matching(NAME, name, "a study")


def part_name(name: Any) -> str:
    """A part's name, or ValueError."""
    return _matching(_PART, name, "a part")


def run_name(name: Any) -> str:
    """A run's name, or ValueError."""
    return _matching(_RUN, name, "a run")


def is_axis_name(name: str) -> bool:
    """Whether an axis can be called so: a key of a configuration, or a name of the study's own."""
    if len(name) > _AXIS_CHARACTERS_MAX or not name.isprintable():
        return False
    return bool(FREE_NAME.fullmatch(name)) or key_problem(name, "axes") is None


def _matching(pattern: re.Pattern[str], name: Any, what: str) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise ValueError(f"{what} cannot be called {name!r}")
    return name
