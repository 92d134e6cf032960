"""JSON with limits: how large, how deep, how many values, and only what JSON itself allows.

Python's reader takes more than the standard (NaN, halves of surrogate pairs), and raises what is no JSON error for
whole numbers of thousands of digits and for deep nesting.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from os import PathLike
from typing import Any, Final, NoReturn, TypeGuard

from endive.errors import IntakeError
from endive.intake.regular_file import read_bytes

NESTING_MAX: Final = 32
VALUES_MAX: Final = 6_000_000  # a list of empty lists takes twenty times its text in memory
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def parse_json(content: bytes | str, *, name: str, bytes_max: int, values_max: int = VALUES_MAX) -> Any:
    """The document in a text."""
    if len(content) > bytes_max:
        raise IntakeError(name, f"has {len(content):,} bytes of JSON; at most {bytes_max:,} are read.")
    text = content if isinstance(content, str) else _decode(content, name)
    refuse_json_size(text, name=name, values_max=values_max)
    try:
        document = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise IntakeError(name, f"is not JSON ({error.msg}, at character {error.pos}).") from None
    except RecursionError:
        raise IntakeError(name, f"is nested more than {NESTING_MAX} levels deep.") from None
    except ValueError as error:  # a whole number of thousands of digits, or NaN
        raise IntakeError(name, f"is not JSON ({str(error).partition(';')[0]}).") from None
    if text.count("[") + text.count("{") > NESTING_MAX and is_deeper_than(document):
        raise IntakeError(name, f"is nested more than {NESTING_MAX} levels deep.")
    if "\\" in text and "\\ud" in text.lower() and _HALF_PAIR.search(json.dumps(document, ensure_ascii=False)):
        raise IntakeError(name, "holds half of a surrogate pair, which is no character.")
    return document


def read_json(path: str | PathLike[str], *, bytes_max: int, noun: str) -> Any:
    """The document in a file; ``noun`` says what may be so large."""
    return parse_json(read_bytes(path, bytes_max=bytes_max, noun=noun), name=f"'{path}'", bytes_max=bytes_max)


def is_count(value: Any, largest: int) -> TypeGuard[int]:
    """Whether a value is a whole number from 0 on; JSON's true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= largest


def is_deeper_than(document: Any, levels: int = NESTING_MAX) -> bool:
    """Whether anything lies below more objects and lists than are allowed; without recursion, which it would break."""
    level: list[Any] = [document]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = [item for item in inner if isinstance(item, (Mapping, list))]
        if not level:
            return False
    return True


def refuse_json_size(text: str | bytes, *, name: str, values_max: int = VALUES_MAX) -> None:
    """IntakeError if a text may hold more values than are read; counted at the speed of a search."""
    is_text = isinstance(text, str)
    counts = (text.count(mark) if is_text else text.count(mark.encode()) for mark in ",[{")  # type: ignore[arg-type]
    if sum(counts) > values_max:
        raise IntakeError(name, f"may hold more than {values_max:,} values; so many are not read.")


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise IntakeError(name, f"is not UTF-8 text (byte {error.start}).") from None


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON's")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant)  # made once: a log has a document on each line
