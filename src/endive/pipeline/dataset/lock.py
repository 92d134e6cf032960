"""One sweep at a time in one folder.

This file defines the lock file. The operating system holds the lock for a process and lets go of it when the process
ends, however it ends, so a lock never outlives its owner; what the file says about the owner is for the message only.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import Final

from endive.errors import OutputError
from endive.results.writer import output_errors

LOCK_FILE: Final = "_endive.lock"


class FolderLock:
    """A context manager; entering raises OutputError if another process holds the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> FolderLock:
        path = self._folder / LOCK_FILE
        with output_errors(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                owner = _owner(descriptor)
                os.close(descriptor)
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
                raise OutputError(
                    f"Another sweep is writing into {self._folder} ({owner}). "
                    "Wait until it has ended, or choose another folder."
                ) from None
            mine = json.dumps({"pid": os.getpid(), "host": socket.gethostname()})
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, mine.encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._descriptor is not None
        os.close(self._descriptor)
        self._descriptor = None


def _owner(descriptor: int) -> str:
    try:
        said = json.loads(os.pread(descriptor, 1_000, 0))
        return f"process {said['pid']} on {said['host']}"
    except (ValueError, KeyError, TypeError):
        return "its owner did not sign"
