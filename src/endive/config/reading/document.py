"""TOML documents from files and command lines, read with limits: a file that nobody can mean is refused at once."""

from __future__ import annotations

import re
import tomllib
from os import PathLike
from typing import Any, Final

from endive.errors import IntakeError
from endive.intake import NESTING_MAX, is_deeper_than, read_bytes

BYTES_MAX: Final = 2**20  # the largest study of the project has 6 kB
KEY_PARTS_MAX: Final = 32
DIGITS_MAX: Final = 300
_BITS_MAX: Final = 1_000  # about as many digits

_LONG_KEY: Final = re.compile(rf"^[^=\n]*(?:\.[^=.\n]*){{{KEY_PARTS_MAX},}}=", re.MULTILINE)
GIVE_FILE: Final = "Give the path of a TOML file."


def document_in(path: str | PathLike[str]) -> dict[str, Any] | str:
    """The document in a file, or the end of a sentence on what is wrong with the file."""
    try:
        content = read_bytes(path, bytes_max=BYTES_MAX, noun="a TOML file")
    except IntakeError as error:
        return f"{error.reason} {GIVE_FILE}" if error.reason.startswith(("does not", "is ")) else error.reason
    try:
        return document_of(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        return f"is not UTF-8 text (byte {error.start})."


def document_of(text: str) -> dict[str, Any] | str:
    """The document in a text, or the end of a sentence on what is wrong with the text."""
    if len(text) > BYTES_MAX:
        return f"has {len(text):,} characters; {BYTES_MAX:,} are allowed."
    if _LONG_KEY.search(text):
        return f"has a key of more than {KEY_PARTS_MAX} parts."
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return f"is not valid TOML: {error}."
    except RecursionError:
        return f"is nested more than {NESTING_MAX} levels deep."
    except ValueError as error:  # a whole number of thousands of digits
        return f"is not valid TOML: {error}."
    if is_deeper_than(document):
        return f"is nested more than {NESTING_MAX} levels deep."
    return f"has a whole number of more than {DIGITS_MAX} digits." if _has_huge_number(document) else document


def _has_huge_number(document: dict[str, Any]) -> bool:
    """Whether a number has more digits than Python writes out; hexadecimal ones are read however long they are."""
    level: list[Any] = [document]
    while level:
        inner = [item for each in level for item in (each.values() if isinstance(each, dict) else each)]
        if any(isinstance(item, int) and item.bit_length() > _BITS_MAX for item in inner):
            return True
        level = [item for item in inner if isinstance(item, (dict, list))]
    return False
