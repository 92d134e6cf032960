"""A temporary folder for what the JVM of a command writes, and the removal of those that killed commands left."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from endive.results.writer import hold_folder, is_abandoned

_PREFIX: Final = "endive-spark-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder that goes with the block, and hold it, so that no other command takes it for abandoned."""
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))  # new, and nobody else's
    try:
        with hold_folder(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def keep_log(log: Path) -> Path:
    """Copy a log out of its folder into a new file that nobody else reads."""
    descriptor, name = tempfile.mkstemp(prefix=_PREFIX, suffix=".log")
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(log.read_bytes())
    return Path(name)


def _remove_abandoned() -> None:
    for leftover in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            status = leftover.lstat()
            is_ours = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if is_ours and leftover.is_dir() and not leftover.is_symlink() and is_abandoned(leftover):
                shutil.rmtree(leftover, ignore_errors=True)
