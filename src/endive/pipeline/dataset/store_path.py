"""A key of an object store, with as much of ``pathlib.Path`` as a dataset needs.

An object appears whole or not at all: that is what a store promises of one PUT, and of the last step of an upload in
pieces. Folders do not exist in a store: one is there when something lies below it. Which of the two a dataset lies in
is decided in ``endive.pipeline.dataset.places``.
"""

from __future__ import annotations

import errno
import importlib
import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final, Self

from endive.errors import OutputError

S3: Final = "s3"
RETRIES_MAX: Final = 3
PATIENCE_S: Final = 20.0  # with a store that does not answer, retries included
CONNECT_S: Final = 5.0
ANYWHERE: Final = "**/"
_FORBIDDEN: Final = "403 Forbidden"  # of a list the library says no more than that
_PERMISSIONS: Final = "permission denied; reading, writing, listing and deleting below it are needed"
_REFUSALS: Final = {
    "NotFoundError": errno.ENOENT,
    "PermissionDeniedError": errno.EACCES,
    "UnauthenticatedError": errno.EACCES,
    "AlreadyExistsError": errno.EEXIST,
    "PreconditionError": errno.EEXIST,
}


@dataclass(frozen=True, slots=True)
class Size:
    """What is known of an object without reading it."""

    st_size: int


@dataclass(frozen=True, slots=True, order=True)
class StorePath:
    """``s3://bucket/key``. Names are joined and taken apart here; everything else is a request to the store."""

    bucket: str  # of Azure: container@account.dfs.core.windows.net
    key: str  # without a slash at either end; "" is the whole bucket
    scheme: str = S3

    def __str__(self) -> str:
        return f"{self.scheme}://{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> Self:
        return self._at(f"{self.key}/{name}" if self.key else name)

    def _at(self, key: str) -> Self:
        return type(self)(self.bucket, key, self.scheme)

    @property
    def _store(self) -> Any:
        return _store(f"{self.scheme}://{self.bucket}")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePosixPath(self.key).stem

    @property
    def suffix(self) -> str:
        """The ending of the name."""
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> Self:
        """What the key lies below."""
        return self._at(self.key.rpartition("/")[0])

    def resolve(self) -> Self:
        """Itself: a store has no links."""
        return self

    def is_symlink(self) -> bool:
        """A store has no links."""
        return False

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Nothing: a folder is there when something lies below it."""

    # --- requests ---------------------------------------------------------------------------------------

    def is_file(self) -> bool:
        """Whether there is an object of this key."""
        try:
            self.stat()
        except FileNotFoundError:
            return False
        return True

    def is_dir(self) -> bool:
        """Whether anything lies below this key."""
        with _os_errors(self):
            pages = _library().list(self._store, prefix=self.key or None, chunk_size=1)
            return any(True for page in pages for _ in page)

    def exists(self) -> bool:
        """Whether there is an object of this key, or below it."""
        return self.is_file() or self.is_dir()

    def stat(self) -> Size:
        """Its size; FileNotFoundError if there is no such object."""
        with _os_errors(self):
            return Size(_library().head(self._store, self.key)["size"])

    def read_bytes(self) -> bytes:
        """The whole object."""
        return self.read_version()[0]

    def read_version(self) -> tuple[bytes, str | None]:
        """The whole object, and the tag by which the store knows this version of it."""
        with _os_errors(self):
            answer = _library().get(self._store, self.key)
            return bytes(answer.bytes()), answer.meta["e_tag"]

    def open(self, mode: str = "rb") -> io.BufferedIOBase | Any:
        """A stream to read from, anywhere in the object."""
        assert mode == "rb"
        with _os_errors(self):
            return io.BufferedReader(_Reader(_library().open_reader(self._store, self.key)))

    def write(self, content: bytes | Path) -> None:
        """Put bytes or a file of this machine; what was there before is replaced in one step."""
        with _os_errors(self):
            _library().put(self._store, self.key, content)

    def write_version(self, content: bytes, expected: str | None) -> str | None:
        """Put bytes if the object is still the version with this tag (None: still not there); the tag it has now.

        FileExistsError if it is another version.
        """
        mode = "create" if expected is None else {"e_tag": expected}
        with _os_errors(self):
            put = _library().put(self._store, self.key, content, mode=mode, use_multipart=False)
        tag: str | None = put["e_tag"]
        return tag

    def move_to(self, place: StorePath) -> None:
        """Copy the object within the store, then take the first away; the copy appears whole."""
        assert (self.scheme, self.bucket) == (place.scheme, place.bucket)
        with _os_errors(self):
            _library().copy(self._store, self.key, place.key, overwrite=True)
            _library().delete(self._store, [self.key])

    def unlink(self, missing_ok: bool = False) -> None:
        """Take the object away."""
        if not missing_ok:
            self.stat()
        with suppress(FileNotFoundError), _os_errors(self):  # which Azure says, and S3 does not
            _library().delete(self._store, [self.key])

    def iterdir(self) -> Iterator[Self]:
        """What lies directly below: objects, and names that others lie below."""
        with _os_errors(self):
            listing = _library().list_with_delimiter(self._store, prefix=self.key or None)
        keys = [*(meta["path"] for meta in listing["objects"]), *listing["common_prefixes"]]
        yield from (self._at(key.rstrip("/")) for key in sorted(keys))

    def glob(self, pattern: str) -> Iterator[Self]:
        """``NAME`` directly below, or objects called ``NAME`` anywhere below (``**/NAME``)."""
        if not pattern.startswith(ANYWHERE):
            assert "/" not in pattern
            yield from (path for path in self.iterdir() if fnmatchcase(path.name, pattern))
            return
        with _os_errors(self):
            pages = list(_library().list(self._store, prefix=self.key or None))
        paths = sorted(self._at(meta["path"]) for page in pages for meta in page)
        yield from (path for path in paths if fnmatchcase(path.name, pattern.removeprefix(ANYWHERE)))

    def remove_all(self, older_than_s: float | None = None) -> None:
        """Take away everything below this key; or what nobody has written since then."""
        with _os_errors(self):
            objects = [meta for page in _library().list(self._store, prefix=self.key or None) for meta in page]
            latest = None if older_than_s is None else datetime.now(UTC) - timedelta(seconds=older_than_s)
            keys = [meta["path"] for meta in objects if latest is None or meta["last_modified"] < latest]
            if keys:
                _library().delete(self._store, keys)


class _Reader(io.RawIOBase):
    """The library's reader as Python knows streams."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = bytes(self._reader.read(len(buffer)))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))

    def tell(self) -> int:
        return int(self._reader.tell())


def _library(module: str = "") -> Any:
    try:
        return importlib.import_module(f"obstore{module}")
    except ImportError:
        raise OutputError("Datasets in an object store need obstore. Install it: pip install 'endive[lake]'") from None


@cache
def _store(bucket_url: str) -> Any:
    """The bucket, with credentials, region and endpoint of the environment (AWS_..., GOOGLE_..., AZURE_...)."""
    return _library(".store").from_url(
        bucket_url,
        client_options={"allow_http": True, "connect_timeout": timedelta(seconds=CONNECT_S)},
        retry_config={"max_retries": RETRIES_MAX, "retry_timeout": timedelta(seconds=PATIENCE_S)},
    )


@contextmanager
def _os_errors(path: StorePath) -> Iterator[None]:
    """Say what the store says as the operating system would say it of a disk."""
    try:
        yield
    except (OSError, OutputError):
        raise
    except Exception as error:
        from endive.observation.secrets import redact

        lines = str(error).splitlines()
        said = redact(lines[0] if lines else type(error).__name__)
        number = _REFUSALS.get(type(error).__name__, errno.EIO)
        if number == errno.EACCES or _FORBIDDEN in said:
            raise PermissionError(errno.EACCES, _PERMISSIONS, str(path)) from None
        raise OSError(number, f"the store says: {said}", str(path)) from None
