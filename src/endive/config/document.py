"""TOML documents from files and command lines, read with limits: a file that nobody can mean is refused at once.

This file defines what may be read and how much of it; what a document means is decided by whoever asked for it.
"""

from __future__ import annotations

import re
import tomllib
from os import PathLike
from typing import Any, Final

from endive.errors import IntakeError
from endive.intake import NESTING_MAX, is_deeper_than, read_bytes

BYTES_MAX: Final = 2**20  # the largest study of the project has 6 kB
KEY_PARTS_MAX: Final = 32

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
    return f"is nested more than {NESTING_MAX} levels deep." if is_deeper_than(document) else document
