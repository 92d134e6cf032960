"""One sweep at a time in one folder.

The operating system holds the lock for a process and lets go of it when the process ends, however it ends, so a lock
never outlives its owner; HDFS does the same within a minute, and an object store has none. The file is empty: a
dataset that is passed around tells nothing of who made it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import Final

from endive.errors import OutputError
from endive.pipeline.dataset.hdfs_path import LEASE_S, HdfsPath
from endive.pipeline.dataset.places import DatasetPath
from endive.results.writer import output_errors

LOCK_FILE: Final = "_endive.lock"


def lock_of(place: DatasetPath) -> AbstractContextManager[object]:
    """The lock on a place, to be held while a sweep writes there; entering raises OutputError if another holds it."""
    if isinstance(place, HdfsPath):
        return _hdfs_lock(place)
    return FolderLock(place) if isinstance(place, Path) else nullcontext()


@contextmanager
def _hdfs_lock(folder: HdfsPath) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context((folder / LOCK_FILE).locked())
        except BlockingIOError:
            raise OutputError(
                f"Another sweep is writing into {folder}, or was killed there less than {LEASE_S} s ago. Wait until it "
                "has ended, or choose another folder."
            ) from None
        except OSError as error:
            raise OutputError(f"Cannot write {folder}: {error.strerror or error}.") from None
        yield


class FolderLock:
    """A context manager; entering raises OutputError if another process holds the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def __enter__(self) -> FolderLock:
        path = self._folder / LOCK_FILE
        with output_errors(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(descriptor)
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
                raise OutputError(
                    f"Another sweep is writing into {self._folder}. Wait until it has ended, or choose another folder."
                ) from None
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
