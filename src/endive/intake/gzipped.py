"""Gzipped bytes, expanded no further than was said: a megabyte can hold a gigabyte of zeros."""

from __future__ import annotations

import zlib
from typing import Final

from endive.errors import IntakeError

MAGIC: Final = b"\x1f\x8b"
_WITH_HEADER: Final = 16 + zlib.MAX_WBITS


def is_gzip(content: bytes) -> bool:
    """Whether bytes begin as a gzip file does."""
    return content[:2] == MAGIC


def expand_gzip(content: bytes, *, bytes_max: int, name: str) -> bytes:
    """What was compressed; several members, one after another, count together."""
    parts: list[bytes] = []
    left, rest = bytes_max + 1, content
    while rest and left > 0:
        expander = zlib.decompressobj(_WITH_HEADER)
        try:
            parts.append(expander.decompress(rest, left))
        except zlib.error as error:
            raise IntakeError(name, f"is not whole gzip data ({error}).") from None
        left -= len(parts[-1])
        if left > 0 and not expander.eof:
            raise IntakeError(name, "is not whole gzip data (it ends too early).")
        rest = expander.unused_data
    if left <= 0:
        raise IntakeError(name, f"expands to more than {bytes_max:,} bytes.")
    return b"".join(parts)
