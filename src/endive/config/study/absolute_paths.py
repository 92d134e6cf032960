"""Paths in a study: made absolute, so that it means the same wherever it is read from.

Two keys hold a path: a storage profile and an arrival trace. It opens no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from endive.config.capabilities import is_profile_path
from endive.config.study.axis import Axis
from endive.config.study.study import Study


def with_absolute_paths(study: Study, folder: Path) -> Study:
    """The study with absolute paths in place of those that start at ``folder``."""

    def absolute(key: str, text: str) -> str:
        is_path = key.endswith("arrivals.path") or (key == "storage.provider" and is_profile_path(text))
        return str((folder / text).resolve()) if is_path else text

    return _with_texts(study, absolute)


def with_paths(study: Study, new: Mapping[str, str]) -> Study:
    """The same study with other paths in place of these; whatever is not among them stays."""
    return _with_texts(study, lambda _, text: new.get(text, text))


def _with_texts(study: Study, change: Callable[[str, str], str]) -> Study:
    """The study with every text changed, given the dotted key it stands at."""

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return change(key, value)
        if isinstance(value, Mapping):
            return {name: walk(item, f"{key}.{name}".lstrip(".")) for name, item in value.items()}
        return [walk(item, key) for item in value] if isinstance(value, (list, tuple)) else value

    groups = ((Axis(axis.key, tuple(walk(axis.values, axis.key))) for axis in group) for group in study.groups)
    return replace(
        study, base=walk(study.base), groups=tuple(map(tuple, groups)), points=tuple(map(walk, study.points))
    )
