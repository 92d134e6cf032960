"""What a rule between keys looks at: a resolved configuration, one of its sources, and what was written.

A key without a section is one of the source in question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, value_at
from endive.config.sections.arrivals import Trace

if TYPE_CHECKING:
    from endive.config.sections.source import SourceConfig
    from endive.config.simulation_config import SimulationConfig


@dataclass(frozen=True, slots=True)
class Scene:
    """A resolved configuration, one of its sources, and what was written."""

    config: SimulationConfig
    source: SourceConfig | None = None
    document: Mapping[str, Any] = field(default_factory=dict)
    index: int = 0  # of the source

    def path(self, key: str) -> Path:
        """Where a dotted key stands in the document."""
        parts = tuple(key.split("."))
        return parts if parts[0] in SECTIONS else (SOURCE, self.index, *parts)

    def place(self, key: str) -> str:
        """The same as one text."""
        return ".".join(map(str, self.path(key)))

    def written(self, key: str) -> Any:
        """What the document holds at a key, or None."""
        return value_at(self.document, self.path(key))

    def value(self, key: str) -> Any:
        """What a dotted key holds."""
        is_of_section, get = _getter(key)
        return get(self.config if is_of_section else self.source)

    def is_given(self, key: str) -> bool:
        """Whether a key was written, rather than filled in."""
        holder, _, leaf = key.rpartition(".")
        table: Any = self.value(holder) if holder else self.source
        return leaf in table.model_fields_set

    def can_do(self, kind: str) -> bool:
        """Whether the source may submit this kind: by its weights, or because a trace may name it."""
        assert self.source is not None
        return isinstance(self.source.arrivals, Trace) or getattr(self.source.operation_types, kind) > 0.0


@cache
def _getter(key: str) -> tuple[bool, Callable[[Any], Any]]:
    return key.partition(".")[0] in SECTIONS, attrgetter(key)
