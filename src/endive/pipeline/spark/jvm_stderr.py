"""What the JVM and the workers it starts say on stderr: into a file, or past the user without the empty phrases.

Processes started inside one of the blocks keep it for life; this one gets its own back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

EMPTY_PHRASES: Final = (
    b"WARNING: Using incubator modules",
    b"Setting default log level to",
    b"To adjust logging level use",
    b"Setting Spark log level to",
)
_STDERR: Final = 2


@contextmanager
def stderr_into(path: Path) -> Iterator[None]:
    """Everything goes into a file, which no link may stand in for."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with _stderr_is(descriptor):
            yield
    finally:
        os.close(descriptor)


@contextmanager
def stderr_without_empty_phrases() -> Iterator[None]:
    """Everything passes but the lines that mean nothing to the user of a sweep."""
    reading, writing = os.pipe()
    ours = os.dup(_STDERR)
    threading.Thread(target=_forward, args=(reading, ours), daemon=True, name="endive-jvm-stderr").start()
    try:
        with _stderr_is(writing):
            yield
    finally:
        os.close(writing)


@contextmanager
def _stderr_is(descriptor: int) -> Iterator[None]:
    ours = os.dup(_STDERR)
    os.dup2(descriptor, _STDERR)
    try:
        yield
    finally:
        os.dup2(ours, _STDERR)
        os.close(ours)


def _forward(reading: int, stderr: int) -> None:
    """Pass lines on until the last process that holds the other end is gone."""
    with os.fdopen(reading, "rb") as lines:
        for line in lines:
            if not line.startswith(EMPTY_PHRASES):
                try:
                    os.write(stderr, line)
                except OSError:
                    pass  # nobody listens any more; keep the pipe empty
    os.close(stderr)
