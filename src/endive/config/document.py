"""TOML documents from files and command lines, read with limits: a file that nobody can mean is refused at once.

This file defines what may be read and how much of it; what a document means is decided by whoever asked for it.
"""

from __future__ import annotations

import re
import stat
import tomllib
from os import PathLike
from pathlib import Path
from typing import Any, Final

BYTES_MAX: Final = 2**20  # the largest study of the project has 6 kB
NESTING_MAX: Final = 32
KEY_PARTS_MAX: Final = 32

_LONG_KEY: Final = re.compile(rf"^[^=\n]*(?:\.[^=.\n]*){{{KEY_PARTS_MAX},}}=", re.MULTILINE)
GIVE_FILE: Final = "Give the path of a TOML file."


def document_in(path: str | PathLike[str]) -> dict[str, Any] | str:
    """The document in a file, or the end of a sentence on what is wrong with the file."""
    place = Path(path)
    try:
        found = place.stat()
        if stat.S_ISDIR(found.st_mode):
            return f"is a folder. {GIVE_FILE}"
        if not stat.S_ISREG(found.st_mode):
            return f"is not a regular file but a pipe or a device. {GIVE_FILE}"
        if found.st_size > BYTES_MAX:
            return f"has {found.st_size:,} bytes; a TOML file may have {BYTES_MAX:,}."
        with place.open("rb") as file:
            content = file.read(BYTES_MAX + 1)  # what grows while it is read is cut, and refused below
    except FileNotFoundError:
        return f"does not exist. {GIVE_FILE}"
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        return f"cannot be read: {getattr(error, 'strerror', None) or error}."
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
    return f"is nested more than {NESTING_MAX} levels deep." if _is_too_deep(document) else document


def _is_too_deep(document: dict[str, Any]) -> bool:
    """Whether anything lies below more tables and lists than are allowed; without recursion."""
    level: list[Any] = [document]
    for _ in range(NESTING_MAX + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        level = [item for item in inner if isinstance(item, (dict, list))]
        if not level:
            return False
    return True
