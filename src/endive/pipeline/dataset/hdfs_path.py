"""A file of HDFS, as a ``StorePath``: what an object store does by one PUT, HDFS does by a rename.

Everything goes through ``pyarrow.fs``, which loads Hadoop's own client (libhdfs) into the process. Unlike a store HDFS
has a lock: a file that one process appends to nobody else can append to, until a minute after that process has died.
"""

from __future__ import annotations

import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Self

from pyarrow import fs

from endive.errors import EngineError, OutputError
from endive.pipeline.dataset.store_path import ANYWHERE, Size, StorePath
from endive.pipeline.spark.java import provide_java
from endive.pipeline.spark.jvm_stderr import stderr_into

HDFS: Final = "hdfs"
LEASE_S: Final = 60  # after which HDFS lets go of a file whose writer has died
_PORT: Final = 8020
_CHUNK_BYTES: Final = 2**20
_PATIENCE: Final = {"ipc.client.connect.max.retries": "2", "ipc.client.connect.timeout": "5000"}
_OPTIONS: Final = "-Xrs -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # Xrs: signals stay Python's


class HdfsPath(StorePath):
    """``hdfs://namenode:port/path``; ``bucket`` is the name node, or the name of a service of several."""

    __slots__ = ()

    @property
    def _files(self) -> Any:
        return _file_system(self.bucket)

    @property
    def _path(self) -> str:
        return f"/{self.key}"

    def _info(self) -> Any:
        return self._files.get_file_info(self._path)

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """A folder, with those above it."""
        self._files.create_dir(self._path)

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return bool(self._info().type == fs.FileType.Directory)

    def stat(self) -> Size:
        """Its size; FileNotFoundError if there is no such file."""
        info = self._info()
        if info.type != fs.FileType.File:
            raise FileNotFoundError(2, "there is no such file", str(self))
        return Size(info.size)

    def read_version(self) -> tuple[bytes, None]:
        """The whole file; the lock, and not its version, keeps others from writing it."""
        with self.open() as stream:
            return stream.read(), None

    def open(self, mode: str = "rb") -> Any:
        """A stream to read from, anywhere in the file."""
        self.stat()  # or the client would tell of a missing file at length, and of a folder in vain
        return self._files.open_input_file(self._path)

    def write(self, content: bytes | Path) -> None:
        """Write bytes or a file of this machine under another name, then rename it."""
        partial = self.parent / f".{self.name}.{secrets.token_hex(4)}.tmp"
        if not content:
            self._files.open_output_stream(self._path).close()  # of nothing there is no half
            return
        with (
            self._files.open_output_stream(partial._path) as stream,
            io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source,
        ):
            shutil.copyfileobj(source, stream, _CHUNK_BYTES)
        partial.move_to(self)

    def write_version(self, content: bytes, expected: str | None) -> None:
        """Write bytes; whoever does holds the lock."""
        self.write(content)

    def move_to(self, place: StorePath) -> None:
        """Rename; what was there gives way first, since HDFS does not rename over a file."""
        assert isinstance(place, HdfsPath)
        self._files.move(self._path, place._path)

    def unlink(self, missing_ok: bool = False) -> None:
        """Take the file away."""
        if not missing_ok or self.is_file():
            self._files.delete_file(self._path)

    def iterdir(self) -> Iterator[Self]:
        """What lies directly below."""
        yield from (self._at(info.path.lstrip("/")) for info in self._below(recursive=False))

    def glob(self, pattern: str) -> Iterator[Self]:
        """``NAME`` directly below, or files called ``NAME`` anywhere below (``**/NAME``)."""
        is_deep = pattern.startswith(ANYWHERE)
        for info in self._below(recursive=is_deep):
            if fnmatchcase(info.base_name, pattern.removeprefix(ANYWHERE)) and (info.is_file or not is_deep):
                yield self._at(info.path.lstrip("/"))

    def _below(self, *, recursive: bool) -> list[Any]:
        chosen = fs.FileSelector(self._path, recursive=recursive, allow_not_found=True)
        return sorted(self._files.get_file_info(chosen), key=lambda info: info.path)

    def remove_all(self, older_than_s: float | None = None) -> None:
        """Take away the folder; whoever does holds the lock, so nobody else is at work in it."""
        if self.is_dir():
            self._files.delete_dir(self._path)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold this file, which is made if need be, for the block; BlockingIOError if somebody else holds it."""
        if not self.is_file():
            self._files.open_output_stream(self._path).close()
        try:
            with stderr_into(Path(os.devnull)):  # the client's stack trace
                stream = self._files.open_append_stream(self._path)
        except PermissionError:
            raise
        except OSError:
            raise BlockingIOError from None
        try:
            yield
        finally:
            with suppress(OSError):
                stream.close()


@cache
def _file_system(name: str) -> Any:
    """The client of a name node, with Hadoop's classes from PySpark where the machine has set none."""
    try:
        provide_java()
    except EngineError as error:
        raise OutputError(f"hdfs://{name} needs Java: {error}") from None
    pyspark = find_spec("pyspark")
    if pyspark is not None and pyspark.origin is not None:
        configuration = os.environ.get("HADOOP_CONF_DIR")
        places = [*([configuration] if configuration else []), str(Path(pyspark.origin).parent / "jars" / "*")]
        os.environ.setdefault("CLASSPATH", os.pathsep.join(places))
    os.environ.setdefault("LIBHDFS_OPTS", _OPTIONS)
    host, _, port = name.partition(":")
    is_service = not port and "." not in host and bool(os.environ.get("HADOOP_CONF_DIR"))
    try:
        with stderr_into(Path(os.devnull)):
            client = fs.HadoopFileSystem(host, 0 if is_service else int(port or _PORT), extra_conf=_PATIENCE)
            client.get_file_info("/")
    except OSError as error:
        if "libhdfs" in str(error):
            raise OutputError(
                f"hdfs://{name} is reached through Hadoop's libhdfs.so, and there is none here. Set HADOOP_HOME to an "
                "installation of Hadoop, or ARROW_LIBHDFS_DIR to the folder of libhdfs.so, on every machine; or name "
                "another place."
            ) from None
        raise OutputError(f"hdfs://{name} does not answer. Is this its name node, and does it run?") from None
    return client
