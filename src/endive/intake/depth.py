"""How deep a document is, found without recursion: a deep one would break whoever walks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NESTING_MAX: Final = 32


def is_deeper_than(document: Any, levels: int = NESTING_MAX) -> bool:
    """Whether anything lies below more objects and lists than are allowed."""
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
