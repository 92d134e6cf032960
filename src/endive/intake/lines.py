"""Lines of a file, one after another: read whole, short ones take many times their text in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from os import PathLike
from typing import Final

from endive.errors import IntakeError
from endive.intake.regular_file import open_regular

LINES_MAX: Final = 5_000_000


def read_lines(
    path: str | PathLike[str], *, bytes_max: int, line_bytes_max: int, noun: str, name: str | None = None
) -> Iterator[bytes]:
    """Each line without its end; a longer one is cut a byte beyond its limit, so that ``parse_json`` refuses it."""
    called = name or f"'{path}'"
    with open_regular(path, bytes_max=bytes_max, noun=noun, name=name) as file:
        left = bytes_max  # it may grow while it is read
        for number in count():
            line = file.readline(line_bytes_max + 1)
            rest = line
            left -= len(rest)
            while rest and not rest.endswith(b"\n") and left >= 0:
                rest = file.readline(line_bytes_max + 1)
                left -= len(rest)
            if left < 0:
                raise IntakeError(called, f"grows while it is read; {noun} may have {bytes_max:,} bytes.")
            if not line:
                return
            if number >= LINES_MAX:
                raise IntakeError(called, f"has more than {LINES_MAX:,} lines; so many are not read.")
            yield line.rstrip(b"\r\n")
