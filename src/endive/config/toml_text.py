"""Plain values as TOML text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def key_text(name: str) -> str:
    """A key as TOML writes it: bare if it can be, else quoted."""
    return name if BARE_KEY.fullmatch(name) else _text(name)


def value_text(value: Any) -> str:
    """One value as TOML writes it; tables are written inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key_text(key)} = {value_text(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, (date, time)):
        return value.isoformat()
    assert isinstance(value, Sequence), f"no TOML form for {type(value).__name__}"
    return f"[{', '.join(value_text(item) for item in value)}]"


def toml_text(document: Mapping[str, Any]) -> str:
    """A document whose top level is tables and arrays of tables."""
    blocks: list[str] = []
    for name, section in document.items():
        is_array = not isinstance(section, Mapping)
        heading = f"[[{key_text(name)}]]" if is_array else f"[{key_text(name)}]"
        for table in section if is_array else [section]:
            lines = [f"{key_text(key)} = {value_text(value)}" for key, value in table.items()]
            blocks.append("\n".join([heading, *lines]))
    return "\n\n".join(blocks) + "\n"


def _text(value: str) -> str:
    characters = (ESCAPES.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in value)
    return f'"{"".join(characters)}"'
