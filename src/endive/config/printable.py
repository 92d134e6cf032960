"""Texts from files, as they may be shown: without the control characters that a terminal obeys.

A text keeps its line breaks and tabs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

CONTROL_CHARACTERS: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # ESC among them
_HIDDEN: Final = re.compile(f"{CONTROL_CHARACTERS}|[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # and turned-round text
REPLACEMENT: Final = "\ufffd"


def printable(text: str) -> str:
    """The text with a replacement character for what a terminal would obey or could not show."""
    return _HIDDEN.sub(REPLACEMENT, text)


def printable_line(text: str) -> str:
    """The same in one line, as a name is shown."""
    return printable(text).replace("\n", REPLACEMENT).replace("\t", " ")


def printable_values(value: Any) -> Any:
    """The same for every text in a document, keys too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable_values(key): printable_values(item) for key, item in value.items()}
    return [printable_values(item) for item in value] if isinstance(value, list) else value
