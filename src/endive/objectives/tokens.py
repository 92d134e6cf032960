"""The words of an objective: names, numbers with units, comparisons, brackets.

This file turns text into tokens, each with the place it was found at; what they mean together is the parser's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from endive.errors import ObjectiveError
from endive.objectives.duration import MS_PER_UNIT

NAME: Final = "name"
NUMBER: Final = "number"
DURATION: Final = "duration"
PERCENT: Final = "percent"
SIGN: Final = "sign"
END: Final = "end"

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


@dataclass(frozen=True, slots=True)
class Token:
    """One word, and the character it begins at, counted from 1."""

    kind: str
    text: str
    at: int


def tokens_of(text: str) -> list[Token]:
    """The words of ``text``, closed by one of kind ``END``."""
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
        kind = str(match.lastgroup)
        tokens.append(Token(kind, _SAME.get(match.group(), match.group().strip()), position + 1))
        position = match.end()
    tokens.append(Token(END, "", len(text) + 1))
    return tokens
