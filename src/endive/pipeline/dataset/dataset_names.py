"""Names in a dataset, checked when they are read: a folder from a stranger is data, and no way out of the folder.

The rules are those that hold when the names are made (``endive.config.study``, ``endive.pipeline.sweep.plan``).
"""

from __future__ import annotations

import re
from typing import Any, Final

from endive.config.study.axis import key_problem
from endive.config.study.study_file import FREE_NAME, NAME

_PATTERNS: Final = {
    "study": NAME,
    "run": re.compile(r"[0-9a-f]{16}"),
}
_AXIS_CHARACTERS_MAX: Final = 300


def checked_name(kind: str, name: Any) -> str:
    """Return the name of a study or a run, or raise ValueError."""
    if not isinstance(name, str) or not _PATTERNS[kind].fullmatch(name):
        raise ValueError(f"a {kind} cannot be called {name!r}")
    return name


def is_axis_name(name: str) -> bool:
    """Whether an axis can be called so: a key of a configuration, or a name of the study's own."""
    if len(name) > _AXIS_CHARACTERS_MAX or not name.isprintable():
        return False
    return bool(FREE_NAME.fullmatch(name)) or key_problem(name, "axes") is None
