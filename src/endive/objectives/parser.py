"""From the text of an objective to its tree.

Words are found by ``endive.objectives.tokens``. The grammar::

    objective   = all { "or" all }
    all         = condition { "and" condition }
    condition   = "(" objective ")" | quantity ("<=" | ">=" | "<" | ">") quantity
    quantity    = number [unit] | [number "*"] ["every"] name
"""

from __future__ import annotations

from typing import Final

from endive.errors import ObjectiveError
from endive.objectives.duration import parse_duration_ms
from endive.objectives.fields import DURATION, NUMBER, SHARE
from endive.objectives.names import Name
from endive.objectives.tokens import DURATION as DURATION_TOKEN
from endive.objectives.tokens import END, PERCENT, Token, tokens_of
from endive.objectives.tokens import NAME as NAME_TOKEN
from endive.objectives.tokens import NUMBER as NUMBER_TOKEN
from endive.objectives.tree import AND, OR, Comparison, Constant, Junction, Multiple, Node, Quantity

SIGNS: Final = ("<=", ">=", "<", ">")
EVERY: Final = "every"
DEPTH_MAX: Final = 50


def parse_tree(text: str) -> Node:
    """The tree of an objective; names are not looked up yet."""
    parser = _Parser(tokens_of(text))
    tree = parser.objective(0)
    parser.expect_end()
    return tree


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def objective(self, depth: int) -> Node:
        return self._join(OR, lambda: self._join(AND, lambda: self._condition(depth)))

    def expect_end(self) -> None:
        token = self._peek()
        if token.kind != END:
            raise self._unexpected("'and', 'or' or the end")

    def _join(self, word: str, read: object) -> Node:
        assert callable(read)
        parts: list[Node] = [read()]
        while self._is_word(word):
            self._take()
            parts.append(read())
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def _condition(self, depth: int) -> Node:
        if self._peek().text == "(":
            if depth >= DEPTH_MAX:
                raise ObjectiveError(f"Brackets are nested more than {DEPTH_MAX} deep.")
            self._take()
            inner = self.objective(depth + 1)
            if self._peek().text != ")":
                raise self._unexpected("')'")
            self._take()
            return inner
        left = self._quantity()
        if self._peek().text not in SIGNS:
            raise self._unexpected("one of <=, >=, <, >")
        sign = self._take().text
        right = self._quantity()
        if isinstance(left, Constant) and isinstance(right, Constant):
            raise ObjectiveError(f"'{left} {sign} {right}' at character {left.at} compares two numbers; name a figure.")
        return Comparison(left, sign, right)

    def _quantity(self) -> Quantity:
        token = self._peek()
        if token.kind == NAME_TOKEN and not self._is_word(AND) and not self._is_word(OR):
            return Multiple(1.0, self._name())
        if token.kind not in (NUMBER_TOKEN, PERCENT, DURATION_TOKEN):
            raise self._unexpected("a figure such as merge.success_rate, or a number")
        constant = _constant(self._take())
        if self._peek().text != "*":
            return constant
        if constant.unit:
            raise self._unexpected("a comparison: only a plain number can multiply a figure")
        self._take()
        return Multiple(constant.value, self._name())

    def _name(self) -> Name:
        if self._peek().kind != NAME_TOKEN:
            raise self._unexpected("a figure such as merge.success_rate")
        token = self._take()
        if token.text.lower() == EVERY:
            token = self._take()
            if token.kind != NAME_TOKEN:
                raise ObjectiveError(f"'every' is followed by nothing at character {token.at}; say every source.FIELD.")
            return Name(_parts(token.text), token.at, every=True)
        return Name(_parts(token.text), token.at)

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._tokens[self._next]
        if token.kind != END:
            self._next += 1
        return token

    def _is_word(self, word: str) -> bool:
        token = self._peek()
        return token.kind == NAME_TOKEN and token.text.lower() == word

    def _unexpected(self, wanted: str) -> ObjectiveError:
        token = self._peek()
        instead = "the objective ends" if token.kind == END else f"found '{token.text}'"
        return ObjectiveError(f"At character {token.at} {instead}; expected {wanted}.")


def _constant(token: Token) -> Constant:
    digits = token.text.replace("_", "")
    if token.kind == PERCENT:
        return Constant(float(digits.rstrip("%percntPERCNT ")) / 100.0, SHARE, token.at)
    if token.kind == DURATION_TOKEN:
        ms = parse_duration_ms(token.text)
        assert ms is not None, "the tokeniser knows durations by the same units"
        return Constant(ms, DURATION, token.at)
    assert token.kind == NUMBER_TOKEN
    return Constant(float(digits), NUMBER, token.at)


def _parts(text: str) -> tuple[str, ...]:
    """The parts of a dotted name; quoted ones may hold anything, dots included."""
    parts: list[str] = []
    rest = text
    while rest:
        if rest[0] in "\"'`":
            end = rest.index(rest[0], 1)
            parts.append(rest[1:end])
            rest = rest[end + 2 :]
        else:
            part, _, rest = rest.partition(".")
            parts.append(part)
    return tuple(parts)
