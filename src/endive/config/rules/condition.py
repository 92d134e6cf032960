"""Conditions of the rules between keys, read from their tables: they can be tested, and said on the schema page.

The language is that of a study's expressions; what its names stand for is in ``contradictions.toml``.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from types import CodeType
from typing import Any, Final

from endive.config.expression import CONSTANTS, Expression, code_of, dotted_name, value_of
from endive.config.problems import show
from endive.config.rules.facts import FACTS, Scene
from endive.config.toml_text import value_text

GIVEN: Final = "given."
WRITTEN: Final = "written."
DOES: Final = "does."
KINDS_KEY: Final = "operation_types"


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds for a scene or does not, and the keys it rests on."""

    text: str
    about: tuple[str, ...]
    code: CodeType

    @property
    def words(self) -> str:
        """As the schema page says it."""
        return _words(ast.parse(self.text, mode="eval").body)


@cache
def condition(text: str) -> Condition:
    names = Expression.parse(text, "a rule").names
    return Condition(text, tuple(dict.fromkeys(key for name in names for key in _keys(name))), code_of(text))


@cache
def read_rows(file: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table of rules; one with ``for`` is a row for each word, in place of ``$``."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: [row for table in tables for row in _spread(table)] for name, tables in document.items()}


def _spread(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for word in table.get("for", ["$"]):
        yield {name: text.replace("$", word) for name, text in table.items() if name != "for"}


def _keys(name: str) -> list[str]:
    if name in FACTS:
        return FACTS[name].about.split()
    key = name.removeprefix(GIVEN).removeprefix(WRITTEN)
    table = key.partition(".")[0]
    if name.startswith(DOES) or (table == KINDS_KEY and key != name):
        return [KINDS_KEY]
    return [table if table == "arrivals" else key]  # which keys arrivals have depends on their kind


class SceneValues(dict[str, Any]):
    """What names stand for in a scene, and which conditions hold; looked up once, when they are asked for."""

    def __init__(self, scene: Scene) -> None:
        super().__init__()
        self.scene = scene
        self._verdicts: dict[str, bool] = {}

    def __missing__(self, name: str) -> Any:
        if name in FACTS:
            value = FACTS[name].of(self.scene)
        elif name.startswith(GIVEN):
            value = self.scene.is_given(name.removeprefix(GIVEN))
        elif name.startswith(WRITTEN):
            value = self.scene.written(name.removeprefix(WRITTEN)) is not None
        elif name.startswith(DOES):
            value = self.scene.can_do(name.removeprefix(DOES))
        else:
            value = self.scene.value(name)
        self[name] = value
        return value

    def holds(self, rule: Condition) -> bool:
        if rule.text not in self._verdicts:
            self._verdicts[rule.text] = bool(value_of(rule.code, self))
        return self._verdicts[rule.text]

    def say(self, template: str) -> str:
        """A sentence with the values of what it names (``{catalog.type}``, quoted as ``{catalog.type!q}``)."""
        return _Sentence(self).format(template)


class _Sentence(Formatter):
    def __init__(self, values: SceneValues) -> None:
        self.values = values

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return self.values[field_name], field_name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return show(value) if conversion == "q" else super().convert_field(value, conversion)


def _words(node: ast.expr) -> str:
    name = dotted_name(node)
    if name is not None:
        return _words_of_name(name)
    match node:
        case ast.BoolOp(op, parts):
            said = [text for text in map(_words, parts) if text]
            word = " and " if isinstance(op, ast.And) else " or "
            return word.join(f"({text})" if " and " in text else text for text in said)
        case ast.UnaryOp(ast.Not(), operand):
            return f"no {_words(operand)}"
        case ast.Compare(left, [ast.Gt()], [right]):
            return f"{_words(left)} above {_texts(right)}"
        case ast.Compare(left, [ast.NotEq() | ast.NotIn()], [right]):
            return f"{_words(left)} other than `{_texts(right)}`"
        case ast.Compare(left, [ast.Eq() | ast.In()], [right]):
            return f"`{dotted_name(left)} = {_texts(right)}`"
    raise AssertionError(f"no words for {ast.unparse(node)}")


def _words_of_name(name: str) -> str:
    if name in FACTS:
        return FACTS[name].words
    if name in CONSTANTS:
        return ""
    if name.startswith(GIVEN):
        return f"`{name.removeprefix(GIVEN)}` given"
    return f"`{KINDS_KEY}.{name.removeprefix(DOES)}`" if name.startswith(DOES) else f"`{name}`"


def _texts(node: ast.expr) -> str:
    """One value or several as TOML writes them."""
    values = node.elts if isinstance(node, ast.List) else [node]
    return " or ".join(
        value_text(value.value) if isinstance(value, ast.Constant) else str(dotted_name(value)) for value in values
    )
