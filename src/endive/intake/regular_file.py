"""Files: regular ones only, and no more of them than was said; their lines, and what is gzipped in them.

A file is judged after it is opened, so that nothing can take its place in between, and opened without waiting, so that
a pipe that nobody writes to does not hold the program.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from os import PathLike
from typing import BinaryIO, Final

from endive.errors import EndiveError, IntakeError

LINES_MAX: Final = 5_000_000
MAGIC: Final = b"\x1f\x8b"
_WITH_HEADER: Final = 16 + zlib.MAX_WBITS


def read_bytes(path: str | PathLike[str], *, bytes_max: int, noun: str, name: str | None = None) -> bytes:
    """All bytes of a file; ``noun`` says what may be so large, ``name`` how messages call the file."""
    called = name or f"'{path}'"
    with open_regular(path, bytes_max=bytes_max, noun=noun, name=name) as file:
        try:
            content = file.read(bytes_max + 1)  # it may grow while it is read
        except OSError as error:
            raise IntakeError(called, f"cannot be read: {error.strerror or error}.") from None
    if content is None:  # such as /proc/kmsg, which says that it is regular, and waits
        raise IntakeError(called, "cannot be read: it has nothing to read yet.")
    if len(content) > bytes_max:
        raise IntakeError(called, f"grows while it is read; {noun} may have {bytes_max:,} bytes.")
    return content


def open_regular(path: str | PathLike[str], *, bytes_max: int, noun: str, name: str | None = None) -> BinaryIO:
    """A regular file of at most so many bytes, open for reading; IntakeError for anything else."""
    called = name or f"'{path}'"
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError as error:
        raise IntakeError(called, "does not exist.") from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte, or what no file system can encode
        raise IntakeError(called, f"cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IntakeError(called, "is a folder.")
        if not stat.S_ISREG(status.st_mode):
            raise IntakeError(called, "is not a regular file but a pipe or a device.")
        if status.st_size > bytes_max:
            raise IntakeError(called, f"has {status.st_size:,} bytes; {noun} may have {bytes_max:,}.")
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_lines(
    path: str | PathLike[str], *, bytes_max: int, line_bytes_max: int, noun: str, name: str | None = None
) -> Iterator[bytes]:
    """Each line without its end; a longer one is cut a byte beyond its limit, so that ``parse_json`` refuses it.

    One after another: read whole, short lines take many times their text in memory.
    """
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


def is_gzip(content: bytes) -> bool:
    """Whether bytes begin as a gzip file does."""
    return content[:2] == MAGIC


def expand_gzip(content: bytes, *, bytes_max: int, name: str) -> bytes:
    """What was compressed, no further than was said: a megabyte can hold a gigabyte of zeros.

    Several members, one after another, count together.
    """
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


@contextmanager
def refused_as(kind: type[EndiveError], *, begin: str = "") -> Iterator[None]:
    """What is refused here becomes the error of whoever asked; ``begin`` goes before its sentence."""
    try:
        yield
    except IntakeError as error:
        raise kind(f"{begin}{error}") from None
