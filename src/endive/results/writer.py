"""Transactions go to one Parquet file, whole or not at all.

Memory stays bounded while it grows; it has a temporary name until it is complete, and the rename cannot be seen half
done. Rows are kept in the order they arrive.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from endive.errors import OutputError
from endive.results.schema import TRANSACTION_SCHEMA

try:
    import fcntl
except ImportError:  # not on Windows: there nothing is known of those who left a file
    fcntl = None  # type: ignore[assignment]

SETTLED_S: Final = 5.0  # between making a temporary file and holding it, many times over
ROW_GROUP_ROWS: Final = 65_536  # about 25 MB of Arrow memory
_DELTAS: Final = "DELTA_BINARY_PACKED"  # of numbers that count up or hardly repeat, where a dictionary is no use

_CAUSES: Final = {
    errno.ENOSPC: "the disk is full; free some space or write elsewhere",
    errno.EDQUOT: "the disk quota is used up; free some space or write elsewhere",
    errno.EACCES: "permission denied; choose a folder you may write to",
    errno.EPERM: "permission denied; choose a folder you may write to",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.ENOENT: "the folder does not exist; create it first",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
}


@contextlib.contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Turn what the operating system says about ``path`` into an ``OutputError`` that says what to do."""
    try:
        yield
    except OSError as error:
        cause = _CAUSES.get(error.errno or 0, error.strerror or str(error))
        raise OutputError(f"Cannot write {path}: {cause}.") from error


def refuse_unless_file(path: Path) -> None:
    """An existing regular file may be replaced; a folder, pipe or device may not."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise OutputError(f"Cannot write {path}: it is a folder; name a file in it.")
    if not stat.S_ISREG(mode):
        raise OutputError(f"Cannot write {path}: it exists and is not a regular file; choose another name.")


def first_of(names: Sequence[str]) -> str:
    """The first of some files, and how many more there are."""
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def refuse_foreign_file(path: Path) -> None:
    """An existing result of Endive's may be replaced; whatever else is there may not."""
    with output_errors(path):
        refuse_unless_file(path)
        if not path.exists():
            return
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except (OSError, pa.ArrowException):
        metadata = {}
    if not any(key.startswith(b"endive.") for key in metadata):
        raise OutputError(f"Cannot write {path}: it exists and is no result of Endive's. Use --force to replace it.")


def hold(descriptor: int) -> bool:
    """Take the operating system's lock on an open file or folder, which ends with the process; whether it is ours."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold a temporary folder while the block runs, so that nobody takes it for abandoned."""
    descriptor = os.open(folder, os.O_RDONLY)
    hold(descriptor)
    try:
        yield
    finally:
        os.close(descriptor)


def is_abandoned(path: Path) -> bool:
    """Whether the process that made a temporary file or folder, and held it, has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        is_settled = time.time() - os.fstat(descriptor).st_mtime > SETTLED_S
        return is_settled and hold(descriptor)
    finally:
        os.close(descriptor)


class AtomicFile:
    """A binary file that appears under its name only when ``publish`` is called."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with output_errors(path):
            refuse_unless_file(path)
            self.temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
            self.stream = _create(self.temporary)
            hold(self.stream.fileno())

    def publish(self) -> None:
        """Everything to disk, then the rename, then the rename to disk."""
        try:
            with output_errors(self.path):
                self.stream.flush()
                os.fsync(self.stream.fileno())
                self.stream.close()
                os.replace(self.temporary, self.path)
                sync_folder(self.path.parent)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Leave nothing behind; safe to call twice, and after ``publish``."""
        with contextlib.suppress(OSError):
            self.stream.close()
        with contextlib.suppress(OSError):
            self.temporary.unlink()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole small file."""
    file = AtomicFile(path)
    try:
        with output_errors(path):
            file.stream.write(content)
    except BaseException:
        file.discard()
        raise
    file.publish()


def _create(path: Path) -> IO[bytes]:
    """A new file with the permissions the user's umask gives, refusing one that exists."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")


def sync_folder(folder: Path) -> None:
    """Let the names in a folder reach the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(path: Path) -> None:
    """What killed runs left of the same file."""
    with contextlib.suppress(OSError):
        for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
            if is_abandoned(leftover):
                leftover.unlink(missing_ok=True)


class ResultWriter:
    """Record batches in, one Parquet file out; a context manager that discards what was not closed.

    Making one already creates the temporary file, so that an unwritable place is known before the
    simulation runs. Memory is bounded by one row group.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        _remove_abandoned(self.path)
        self._file = AtomicFile(self.path)
        self._parquet: Any = None
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._is_closed = False

    def start(self, metadata: Mapping[str, str]) -> None:
        """Before the first batch: the metadata of the file, which Parquet keeps beside the schema."""
        assert self._parquet is None
        self._parquet = pq.ParquetWriter(
            self._file.stream,
            TRANSACTION_SCHEMA.with_metadata(dict(metadata)),
            compression="zstd",
            use_dictionary=[field.name for field in TRANSACTION_SCHEMA if field.type not in (pa.float64(), pa.int64())],
            column_encoding={field.name: _DELTAS for field in TRANSACTION_SCHEMA if field.type == pa.int64()},
            write_page_checksum=True,
        )

    @property
    def _is_open(self) -> bool:
        return self._parquet is not None and not self._is_closed

    def write(self, batch: pa.RecordBatch) -> None:
        """Take a batch of ``TRANSACTION_SCHEMA``."""
        assert self._is_open
        while batch.num_rows:
            part = batch.slice(0, ROW_GROUP_ROWS - self._pending_rows)
            batch = batch.slice(part.num_rows)
            self._pending.append(part)
            self._pending_rows += part.num_rows
            if self._pending_rows == ROW_GROUP_ROWS:
                self._write_pending()

    def close(self) -> None:
        """Write the rest and let the file appear under its name."""
        assert self._is_open
        with self._discard_on_error():
            self._write_pending()
            self._parquet.close()
        self._is_closed = True
        self._file.publish()

    def discard(self) -> None:
        """Give up: no file, no temporary. Does nothing after ``close``."""
        if self._is_closed:
            return
        self._is_closed = True
        self._pending.clear()
        with contextlib.suppress(OSError, pa.ArrowException):
            if self._parquet is not None:
                self._parquet.close()
        self._file.discard()

    def _write_pending(self) -> None:
        if not self._pending:
            return
        with self._discard_on_error():
            self._parquet.write_table(pa.Table.from_batches(self._pending))
        self._pending.clear()
        self._pending_rows = 0

    @contextlib.contextmanager
    def _discard_on_error(self) -> Iterator[None]:
        try:
            with output_errors(self.path):
                yield
        except BaseException:
            self.discard()
            raise

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()
