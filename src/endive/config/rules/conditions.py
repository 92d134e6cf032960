"""Conditions on a resolved configuration that can be tested and said: "catalog.type = 'append'".

A rule between keys is made of them (``key_effects``), so that its test, the keys it rests on and the
words on the schema page cannot differ. A key without a section is one of the source in question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from endive.config.keys import SECTIONS, SOURCE
from endive.config.problems import Path, shown, value_at
from endive.config.sections.arrivals import Trace
from endive.config.toml_text import value_text

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

    def say(self, template: str, words: Mapping[str, Any] | None = None) -> str:
        """A sentence with what it names (``{catalog.type}``, quoted as ``{catalog.type!q}``): words given, or keys."""
        return _Sentence(self, words).format(template)


@cache
def _getter(key: str) -> tuple[bool, Callable[[Any], Any]]:
    return key.partition(".")[0] in SECTIONS, attrgetter(key)


class _Sentence(Formatter):
    def __init__(self, scene: Scene, words: Mapping[str, Any] | None) -> None:
        self.scene = scene
        self.words = words

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        value = self.scene.value(field_name) if self.words is None else self.words[field_name]
        return value, field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return shown(value) if conversion == "q" else super().convert_field(value, conversion)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds for a scene or does not: its words, the keys it rests on, its test."""

    words: str
    about: tuple[str, ...]
    holds: Callable[[Scene], bool]


ALWAYS: Final = Condition("always", (), lambda _: True)
NEVER: Final = Condition("never", (), lambda _: False)


def is_(key: str, *values: Any) -> Condition:
    """A key has one of these values."""
    words = f"`{key} = {' or '.join(value_text(value) for value in values)}`"
    return Condition(words, (key,), lambda scene: scene.value(key) in values)


def is_not(key: str, *values: Any) -> Condition:
    """A key has none of these values."""
    words = f"`{key}` other than `{' or '.join(value_text(value) for value in values)}`"
    return Condition(words, (key,), lambda scene: scene.value(key) not in values)


def is_above(key: str, least: float) -> Condition:
    """A number is greater."""
    return Condition(f"`{key}` above {least:g}", (key,), lambda scene: scene.value(key) > least)


def is_given(key: str) -> Condition:
    """A key was written."""
    return Condition(f"`{key}` given", (key,), lambda scene: scene.is_given(key))


def is_absent(key: str) -> Condition:
    """A key says nothing."""
    return Condition(f"no `{key}`", (key,), lambda scene: scene.value(key) is None)


def does(*kinds: str) -> Condition:
    """A source may submit one of these kinds."""
    words = " or ".join(f"`operation_types.{kind}`" for kind in kinds)
    return Condition(words, ("operation_types",), lambda scene: any(scene.can_do(kind) for kind in kinds))


def names(*kinds: str) -> Condition:
    """The weight of one of these kinds is written, be it 0: a sweep over it needs the keys of the kind."""
    about = ("operation_types",)
    return Condition("", about, lambda scene: any(scene.is_given(f"operation_types.{kind}") for kind in kinds))


def any_of(*conditions: Condition) -> Condition:
    """One of these holds."""
    return _joined(" or ", conditions, any)


def all_of(*conditions: Condition) -> Condition:
    """Every one of these holds."""
    return _joined(" and ", conditions, all)


def _joined(word: str, parts: tuple[Condition, ...], join: Callable[[Iterable[bool]], bool]) -> Condition:
    about = tuple(dict.fromkeys(key for part in parts for key in part.about))
    said = [part.words for part in parts if part.words]
    words = word.join(f"({text})" if " and " in text else text for text in said)
    return Condition(words, about, lambda scene: join(part.holds(scene) for part in parts))
