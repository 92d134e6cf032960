"""Where a dataset lies: a folder of this machine's, a folder of HDFS, or a prefix of an object store.

Few things differ between them: how a file appears as a whole, who may write, how a plan is replaced, how a tree is
taken away, and what Spark calls it. Everything else is the same for all, since a ``StorePath`` answers like a ``Path``.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.parquet as pq

from endive.errors import OutputError
from endive.pipeline.dataset.hdfs_path import HDFS, LEASE_S, HdfsPath
from endive.pipeline.dataset.seal import read_document, read_sealed
from endive.pipeline.dataset.store_path import S3, StorePath
from endive.results.writer import AtomicFile, output_errors, sync_folder, write_atomically

DatasetPath = Path | StorePath

ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)  # one slash: a Path has lost the second
# What a place is called, by Spark or by its own tools, and the name it has here.
_STORES: Final = {"s3": S3, "s3a": S3, "gs": "gs", "gcs": "gs", "abfss": "abfss", "abfs": "abfss", HDFS: HDFS}


def place_of(path: str | DatasetPath) -> DatasetPath:
    """The place that a folder's name or a URL means; OutputError if it is of a kind nobody knows."""
    if isinstance(path, StorePath):
        return path
    text = str(path)
    url = _URL.fullmatch(f"{text}/" if text.endswith(":") and text[:-1].lower() in _STORES else text)
    if url is None:
        return Path(path)
    bucket, _, key = url[2].partition("/")
    scheme = _STORES.get(url[1].lower())
    if url[1].lower() == "file":
        return Path(f"/{url[2]}")
    is_nameless = scheme == HDFS and ":///" in str(path)
    if scheme is None or not bucket or (scheme == "abfss" and "@" not in bucket) or is_nameless:
        raise OutputError(
            f"{url[1]}://{url[2]} is no place for a dataset. Name a folder that every worker sees (of DBFS "
            "/dbfs/FOLDER), hdfs://NAMENODE:PORT/FOLDER, or a prefix of an object store: s3://BUCKET/PREFIX (or s3a), "
            "gs://BUCKET/PREFIX, abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX."
        )
    kind = HdfsPath if scheme == HDFS else StorePath
    return kind(bucket, "/".join(part for part in key.split("/") if part), scheme)


def has_lock(place: DatasetPath) -> bool:
    """Whether one process alone can be at work there; in an object store several may."""
    return isinstance(place, (Path, HdfsPath))


def place_errors(place: DatasetPath) -> AbstractContextManager[None]:
    """Turn what a disk or a store says about ``place`` into an ``OutputError`` that says what to do."""
    return output_errors(cast(Path, place))  # which only prints it


def write_whole(place: DatasetPath, content: bytes) -> None:
    """Write a small file; nobody sees half of it."""
    if isinstance(place, Path):
        write_atomically(place, content)
        return
    with place_errors(place):
        place.write(content)


def replace_plan(place: DatasetPath, content: bytes, version: str | None) -> str | None:
    """Write a file that several sweeps might write; the version of it that is there now.

    A folder has a lock for that. In a store the file must still be the version that was read, else OutputError.
    """
    if isinstance(place, Path):
        write_atomically(place, content)
        return None
    try:
        return place.write_version(content, version)
    except FileExistsError:
        raise OutputError(
            f"Another sweep has written {place} since this one read it. Start the same command again: it goes on with "
            "what is there."
        ) from None
    except OSError as error:
        raise OutputError(f"Cannot write {place}: {error.strerror}.") from error


def read_plan(place: DatasetPath) -> tuple[bytes, str | None]:
    """The file that ``replace_plan`` has written, and its version."""
    return (read_document(place), None) if isinstance(place, Path) else place.read_version()


def recover_plan(place: DatasetPath) -> None:
    """Bring back a plan whose writer died between the two steps in which HDFS replaces a file."""
    if not isinstance(place, HdfsPath) or place.is_file():
        return
    for partial in place.parent.glob(f".{place.name}.*.tmp"):
        with suppress(OSError, ValueError):
            read_sealed(partial)
            partial.move_to(place)
            return


class StagedObject:
    """A file of this machine that becomes an object when it is published; in use like an ``AtomicFile``."""

    def __init__(self, place: StorePath) -> None:
        self.path = place
        with place_errors(place):
            descriptor, name = tempfile.mkstemp(prefix="endive-part-")
            self.stream = os.fdopen(descriptor, "w+b")
        self.temporary = Path(name)

    def publish(self) -> None:
        """The upload, whose last step lets the object appear."""
        try:
            with place_errors(self.path):
                self.stream.close()
                self.path.write(self.temporary)
        finally:
            self.discard()

    def discard(self) -> None:
        """Leave nothing behind; safe to call twice, and after ``publish``."""
        self.stream.close()
        self.temporary.unlink(missing_ok=True)


def new_file(place: DatasetPath) -> AtomicFile | StagedObject:
    """A large file to write into, which nobody sees before it is published."""
    return AtomicFile(place) if isinstance(place, Path) else StagedObject(place)


def move_file(source: DatasetPath, place: DatasetPath) -> None:
    """Give a file another name, at which nobody sees half of it; what was there gives way."""
    if isinstance(source, Path):
        assert isinstance(place, Path)
        os.replace(source, place)
        sync_folder(place.parent)
    else:
        assert isinstance(place, StorePath)
        source.move_to(place)


def glob_sorted(place: DatasetPath, pattern: str) -> list[DatasetPath]:
    """What matches a pattern below a place, in order."""
    return sorted(place.glob(pattern), key=str)


def remove_tree(place: DatasetPath) -> None:
    """Take away a folder and all that is in it."""
    if isinstance(place, Path):
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.remove_all()


def parquet_file(place: DatasetPath, **options: Any) -> Any:
    """A Parquet file to read; of an object only what is read is fetched."""
    return pq.ParquetFile(place if isinstance(place, Path) else place.open(), **options)


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    """A table as a small Parquet file."""
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd", **options)
    return stream.getvalue()


# ---- copies on this machine --------------------------------------------------------------------------


def copy_near(place: DatasetPath) -> Path:
    """A folder of this machine with the files of ``place``: itself, or one with copies that goes with this process.

    For files that are never changed under their names.
    """
    if isinstance(place, Path):
        return place
    folder = Path(_near(place).name)
    for path in place.glob("**/*"):
        copy = folder / path.key.removeprefix(f"{place.key}/")
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(copy, path.read_bytes())
    return folder


@cache
def _near(place: StorePath) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="endive-files-")


# ---- Spark -------------------------------------------------------------------------------------------


def spark_path(place: DatasetPath) -> str:
    """What Spark's readers call the place; a folder by its scheme, since a cluster's default may be HDFS."""
    if isinstance(place, Path):
        return f"file://{place.absolute()}"
    return f"s3a://{place.bucket}/{place.key}" if place.scheme == S3 else str(place)


def spark_options(place: DatasetPath) -> dict[str, str]:
    """What a reader of Spark has to know of the place: the endpoint of the environment, if it is not Amazon's."""
    endpoint = next((os.environ[name] for name in ENDPOINT_VARIABLES if os.environ.get(name)), None)
    if isinstance(place, Path) or place.scheme != S3 or endpoint is None:
        return {}
    return {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}


# ---- one sweep at a time -----------------------------------------------------------------------------
# The operating system holds the lock for a process and lets go of it when the process ends, however it ends; HDFS does
# the same within a minute, and an object store has none. The file is empty: a dataset tells nothing of who made it.


LOCK_FILE: Final = "_endive.lock"


@contextmanager
def lock_of(place: DatasetPath) -> Iterator[None]:
    """The lock on a place, to be held while a sweep writes there; entering raises OutputError if another holds it."""
    with ExitStack() as held:
        try:
            if isinstance(place, HdfsPath):
                held.enter_context((place / LOCK_FILE).locked())
            elif isinstance(place, Path):
                descriptor = os.open(place / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
                held.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            killed = f", or was killed there less than {LEASE_S} s ago" if isinstance(place, HdfsPath) else ""
            raise OutputError(
                f"Another sweep is writing into {place}{killed}. Wait until it has ended, or choose another folder."
            ) from None
        except OSError as error:
            with place_errors(place / LOCK_FILE if isinstance(place, Path) else place):
                raise error
        yield
