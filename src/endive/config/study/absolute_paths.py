"""Paths in a study: made absolute, so that it means the same wherever it is read from.

Two keys hold a path: a storage profile and an arrival trace. It opens no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from endive.config.capabilities import is_profile_path
from endive.config.study.axis import Axis
from endive.config.study.study import Study


def with_absolute_paths(base: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A configuration whose profile and traces are named by absolute paths."""
    absolute = dict(base)
    storage = absolute.get("storage")
    if isinstance(storage, Mapping) and "provider" in storage:
        absolute["storage"] = {**storage, "provider": _absolute("storage.provider", storage["provider"], folder)}
    sources = absolute.get("source")
    if isinstance(sources, list):
        absolute["source"] = [_with_absolute_trace(source, folder) for source in sources]
    return absolute


def _with_absolute_trace(source: Any, folder: Path) -> Any:
    arrivals = source.get("arrivals") if isinstance(source, Mapping) else None
    if not isinstance(arrivals, Mapping) or "path" not in arrivals:
        return source
    return {**source, "arrivals": {**arrivals, "path": _absolute("arrivals.path", arrivals["path"], folder)}}


def _absolute(key: str, value: Any, folder: Path) -> Any:
    is_path = isinstance(value, str) and (
        key.endswith("arrivals.path") or (key == "storage.provider" and is_profile_path(value))
    )
    return str((folder / value).resolve()) if is_path else value


def absolute_axis(axis: Axis, folder: Path) -> Axis:
    """The same for the values of an axis."""
    return Axis(axis.key, tuple(_absolute(axis.key, value, folder) for value in axis.values))


def absolute_point(point: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The same for the values of a point."""
    return {key: _absolute(key, value, folder) for key, value in point.items()}


def with_paths(study: Study, new: Mapping[str, str]) -> Study:
    """The same study with other paths in place of these; whatever is not among them stays."""

    def moved(value: Any) -> Any:
        if isinstance(value, str):
            return new.get(value, value)
        if isinstance(value, Mapping):
            return {key: moved(item) for key, item in value.items()}
        return [moved(item) for item in value] if isinstance(value, (list, tuple)) else value

    return replace(
        study,
        base=moved(study.base),
        groups=tuple(tuple(Axis(axis.key, tuple(map(moved, axis.values))) for axis in group) for group in study.groups),
        points=tuple(moved(point) for point in study.points),
    )
