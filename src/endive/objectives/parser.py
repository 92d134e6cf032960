"""From the text of an objective to its tree.

The grammar::

    objective   = all { "or" all }
    all         = condition { "and" condition }
    condition   = "(" objective ")" | quantity ("<=" | ">=" | "<" | ">") quantity
    quantity    = number [unit] | [number "*"] ["every"] name
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from endive.errors import ObjectiveError
from endive.objectives.duration import MS_PER_UNIT, parse_duration_ms
from endive.objectives.fields import DURATION, NUMBER, SHARE
from endive.objectives.names import Name
from endive.objectives.tree import AND, OR, Comparison, Constant, Junction, Multiple, Node, Quantity

SIGNS: Final = ("<=", ">=", "<", ">")
EVERY: Final = "every"
DEPTH_MAX: Final = 50

_UNITS: Final = "|".join(sorted(MS_PER_UNIT, key=len, reverse=True))
_FIGURE: Final = r"\d[\d_]*(?:\.\d+)?"
_PART: Final = r"(?:[A-Za-z_][\w-]*|\"[^\"]+\"|'[^']+'|`[^`]+`)"
_TOKEN: Final = re.compile(
    rf"(?P<duration>(?:{_FIGURE}\s*(?:{_UNITS})(?![A-Za-z_])\s*|{_FIGURE}(?:{_UNITS})(?=\d))+)"
    rf"|(?P<percent>{_FIGURE}\s*(?:%|percent\b))"
    rf"|(?P<number>{_FIGURE})"
    rf"|(?P<name>{_PART}(?:\.(?:{_PART}|\d+))*)"
    r"|(?P<sign><=|>=|<|>|≤|≥|\*|\(|\))",
    re.IGNORECASE,
)
_SAME: Final = {"≤": "<=", "≥": ">="}
_NAME: Final = "name"  # a group of the pattern, as the other kinds are
_END: Final = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One word, and the character it begins at, counted from 1."""

    kind: str
    text: str
    at: int


def parse_tree(text: str) -> Node:
    """Return the tree of an objective; names are not looked up yet."""
    return _Parser(_tokens(text)).read()


def _tokens(text: str) -> list[Token]:
    """Return the words of ``text``, closed by one of kind ``_END``."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            raise ObjectiveError(
                f"{text[position]!r} at character {position + 1} is not part of an objective. "
                "Write comparisons such as merge.success_rate >= 99 %, joined by 'and' or 'or'."
            )
        tokens.append(Token(str(match.lastgroup), _SAME.get(match.group(), match.group().strip()), position + 1))
        position = match.end()
    return [*tokens, Token(_END, "", len(text) + 1)]


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def read(self) -> Node:
        tree = self._objective(0)
        if self._token.kind != _END:
            raise self._unexpected("'and', 'or' or the end")
        return tree

    def _objective(self, depth: int) -> Node:
        return self._join(OR, lambda: self._join(AND, lambda: self._condition(depth)))

    def _join(self, word: str, read: Callable[[], Node]) -> Node:
        parts = [read()]
        while self._is_word(word):
            self._take()
            parts.append(read())
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def _condition(self, depth: int) -> Node:
        if self._token.text == "(":
            if depth >= DEPTH_MAX:
                raise ObjectiveError(f"Brackets are nested more than {DEPTH_MAX} deep.")
            self._take()
            inner = self._objective(depth + 1)
            if self._token.text != ")":
                raise self._unexpected("')'")
            self._take()
            return inner
        left = self._quantity()
        if self._token.text not in SIGNS:
            raise self._unexpected("one of <=, >=, <, >")
        sign = self._take().text
        right = self._quantity()
        if isinstance(left, Constant) and isinstance(right, Constant):
            raise ObjectiveError(f"'{left} {sign} {right}' at character {left.at} compares two numbers; name a figure.")
        return Comparison(left, sign, right)

    def _quantity(self) -> Quantity:
        if self._token.kind == _NAME and not self._is_word(AND) and not self._is_word(OR):
            return Multiple(1.0, self._name())
        if self._token.kind not in _CONSTANTS:
            raise self._unexpected("a figure such as merge.success_rate, or a number")
        constant = _constant(self._take())
        if self._token.text != "*":
            return constant
        if constant.unit:
            raise self._unexpected("a comparison: only a plain number can multiply a figure")
        self._take()
        return Multiple(constant.value, self._name())

    def _name(self) -> Name:
        if self._token.kind != _NAME:
            raise self._unexpected("a figure such as merge.success_rate")
        token = self._take()
        is_every = token.text.lower() == EVERY
        if is_every:
            token = self._take()
            if token.kind != _NAME:
                raise ObjectiveError(f"'every' is followed by nothing at character {token.at}; say every source.FIELD.")
        parts = re.findall(rf"{_PART}|\d+", token.text)
        return Name(tuple(part[1:-1] if part[0] in "\"'`" else part for part in parts), token.at, every=is_every)

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        if token.kind != _END:
            self._next += 1
        return token

    def _is_word(self, word: str) -> bool:
        return self._token.kind == _NAME and self._token.text.lower() == word

    def _unexpected(self, wanted: str) -> ObjectiveError:
        token = self._token
        instead = "the objective ends" if token.kind == _END else f"found '{token.text}'"
        return ObjectiveError(f"At character {token.at} {instead}; expected {wanted}.")


_CONSTANTS: Final = {"number": NUMBER, "percent": SHARE, "duration": DURATION}  # kind of token -> unit


def _constant(token: Token) -> Constant:
    unit = _CONSTANTS[token.kind]
    if unit == DURATION:
        ms = parse_duration_ms(token.text)
        assert ms is not None, "the tokeniser knows durations by the same units"
        return Constant(ms, unit, token.at)
    value = float(token.text.replace("_", "").rstrip("%percntPERCNT "))
    return Constant(value / 100.0 if unit == SHARE else value, unit, token.at)
