"""Files of a dataset on a disk, in HDFS or in an object store: ``pyarrow.fs`` with whole writes and plain errors.

A file appears whole or not at all: on a disk and in HDFS by a rename, in a store because a PUT is. Everything else is
what ``pyarrow.fs`` offers, asked in the manner of ``pathlib``.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, Final, cast

import pyarrow.fs as pafs
import pyarrow.parquet as pq

from endive.errors import IntakeError, OutputError
from endive.intake import open_regular
from endive.results import writer
from endive.results.writer import hold_folder, output_errors, write_atomically

FILE: Final = "file"
HDFS: Final = "hdfs"
S3: Final = "s3"
ENDPOINT_VARIABLES: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
PATIENCE_S: Final = 20.0  # with a store that does not answer
_SCHEMES: Final = {"s3": S3, "s3a": S3, "gs": "gs", "gcs": "gs", "abfss": "abfss", "abfs": "abfss", HDFS: HDFS}
_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/+)(.*)", re.DOTALL)
_DENIED: Final = re.compile(r"access.?denied|forbidden|not authorized|\b40[13]\b|invalidaccesskeyid", re.IGNORECASE)
_PERMISSIONS: Final = "permission denied; reading, writing, listing and deleting below it are needed"
_ABANDONED_NS: Final = 86_400 * 10**9
_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A file or folder by its name; every question about it is a request to its file system."""

    host: str  # bucket, CONTAINER@ACCOUNT..., name node; "" on a disk
    key: str  # on a disk the path, elsewhere without a slash at either end
    scheme: str = FILE

    def __str__(self) -> str:
        return self.key if self.is_local else f"{self.scheme}://{self.host}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> Place:
        if self.is_local:
            return Place("", os.path.join(self.key, name))
        return Place(self.host, f"{self.key}/{name}" if self.key else name, self.scheme)

    @property
    def is_local(self) -> bool:
        """Whether it is on a disk of this machine."""
        return self.scheme == FILE

    @property
    def name(self) -> str:
        """The last part of the name."""
        return PurePosixPath(self.key).name

    @property
    def stem(self) -> str:
        """The name without its ending."""
        return PurePosixPath(self.key).stem

    @property
    def parent(self) -> Place:
        """The folder it is in."""
        parent = os.path.dirname(self.key) or ("." if self.is_local else "")
        return Place(self.host, parent, self.scheme)

    @property
    def path(self) -> str:
        """The name that ``pyarrow.fs`` knows it by."""
        if self.is_local:
            return os.path.abspath(self.key)
        root = "" if self.scheme == HDFS else self.host.partition("@")[0]
        return f"{root}/{self.key}".rstrip("/") or "/"

    def resolve(self) -> Place:
        """Return the place with links on the way to it followed."""
        return Place("", os.path.realpath(self.key)) if self.is_local else self

    # ---- questions ------------------------------------------------------------------------------------------

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        return bool(self._info().type != pafs.FileType.NotFound)

    def is_file(self) -> bool:
        """Return whether there is such a file."""
        return bool(self._info().type == pafs.FileType.File)

    def is_dir(self) -> bool:
        """Return whether there is such a folder."""
        return bool(self._info().type == pafs.FileType.Directory)

    def is_symlink(self) -> bool:
        """Return whether it is a link; only disks have them."""
        return self.is_local and os.path.islink(self.key)

    def children(self, pattern: str = "*") -> list[Place]:
        """Return what is directly in the folder, in order."""
        return [place for place, _ in self._select(recursive=False) if fnmatchcase(place.name, pattern)]

    def sizes(self) -> dict[Place, int]:
        """Return every file anywhere in the folder and its size, by one listing."""
        return {place: info.size for place, info in self._select(recursive=True) if info.type == pafs.FileType.File}

    def read_bytes(self, bytes_max: int | None = None) -> bytes:
        """Read a regular file; ValueError if it is larger."""
        blocks: list[bytes] = []
        left = sys.maxsize if bytes_max is None else bytes_max + 1
        with self.open() as stream:
            while left > 0 and (block := stream.read(min(left, _BLOCK_BYTES))):
                blocks.append(block)
                left -= len(block)
        if left <= 0:
            raise ValueError(f"it has more than {bytes_max:,} bytes")
        return b"".join(blocks)

    def open(self) -> Any:
        """Open a regular file for reading: on a disk, a link to a device or a pipe is refused."""
        if not self.is_local:
            with store_errors(self):
                return file_system(self).open_input_file(self.path)
        try:
            return open_regular(Path(self.key), bytes_max=sys.maxsize, noun="a file")
        except IntakeError as error:
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from None
            raise OSError(errno.EINVAL, error.reason.rstrip("."), self.key) from None

    def parquet(self, **options: Any) -> Any:
        """Open a Parquet file; only what is read is fetched."""
        return pq.ParquetFile(self.open(), **options)

    # ---- changes --------------------------------------------------------------------------------------------

    def mkdir(self) -> None:
        """Make the folder and those on the way to it; a store has none."""
        if self.is_local:
            os.makedirs(self.key, exist_ok=True)
        elif self.scheme == HDFS:
            with store_errors(self):
                file_system(self).create_dir(self.path, recursive=True)

    def write(self, content: Any) -> None:
        """Write a file, replacing an earlier one in one step; its folder must be there."""
        if self.is_local:
            write_atomically(Path(self.key), content)
            return
        files = file_system(self)
        with store_errors(self):
            target = self.path
            if self.scheme == HDFS:
                target = str(PurePosixPath(target).with_name(f".{self.name}.{secrets.token_hex(4)}.tmp"))
            with files.open_output_stream(target) as stream:
                stream.write(content)
            if self.scheme == HDFS:
                if self.exists():
                    files.delete_file(self.path)
                files.move(target, self.path)

    def unlink(self) -> None:
        """Remove the file if it is there."""
        try:
            if self.is_local:
                os.unlink(self.key)
                return
            with store_errors(self):
                file_system(self).delete_file(self.path)
        except FileNotFoundError:
            pass

    def remove_tree(self) -> None:
        """Remove a folder of Endive's own and all that is in it."""
        if self.is_local:
            shutil.rmtree(self.key, ignore_errors=True)
        elif self.exists():
            with store_errors(self):
                file_system(self).delete_dir(self.path)

    def remove_empty(self) -> None:
        """Remove a folder of a disk that has nothing in it."""
        if self.is_local:
            with suppress(OSError):
                os.rmdir(self.key)

    # ---- requests -------------------------------------------------------------------------------------------

    def _info(self) -> Any:
        with store_errors(self):
            return file_system(self).get_file_info(self.path)

    def _select(self, *, recursive: bool) -> Iterator[tuple[Place, Any]]:
        with store_errors(self):
            selector = pafs.FileSelector(self.path, recursive=recursive, allow_not_found=True)
            found = file_system(self).get_file_info(selector)
        for info in sorted(found, key=lambda each: each.path):
            yield self / info.path.removeprefix(self.path).lstrip("/"), info


def place_of(path: str | Path | Place) -> Place:
    """Return the place that a folder's name or a URL means; OutputError if nobody knows such a place."""
    if isinstance(path, Place):
        return path
    text = str(path)
    url = _URL.fullmatch(f"{text}/" if text.endswith(":") and text[:-1].lower() in _SCHEMES else text)
    if url is None:
        return Place("", text)
    given, rest = url[1].lower(), url[3]
    if given == FILE:
        return Place("", f"/{rest}")
    scheme = _SCHEMES.get(given)
    host, _, key = rest.partition("/")
    if scheme == HDFS and (not rest or len(url[2]) > 2):  # hdfs:///FOLDER: the default name node
        host, key = "", rest
    if scheme is None or (not host and scheme != HDFS) or (scheme == "abfss" and "@" not in host):
        raise OutputError(
            f"{url[1]}://{rest} is no place for a dataset. Name a folder that every worker sees (of DBFS "
            "/dbfs/FOLDER), hdfs://NAMENODE:PORT/FOLDER, or a prefix of an object store: s3://BUCKET/PREFIX (or s3a), "
            "gs://BUCKET/PREFIX, abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX."
        )
    return Place(host, "/".join(part for part in key.split("/") if part), scheme)


def file_system(place: Place) -> Any:
    """Return the file system of a place, with credentials, region and endpoint of the environment."""
    return _file_system(place.scheme, place.host)


@cache
def _file_system(scheme: str, host: str) -> Any:
    if scheme == FILE:
        return pafs.LocalFileSystem()
    if scheme == S3:
        endpoint = endpoint_url()
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
        retries = pafs.AwsStandardS3RetryStrategy(max_attempts=3)
        times: dict[str, Any] = {
            "connect_timeout": PATIENCE_S / 4,
            "request_timeout": PATIENCE_S,
            "retry_strategy": retries,
        }
        times |= {"allow_delayed_open": True, "background_writes": False}  # a PUT, not an upload in pieces
        if endpoint is not None:
            address = re.sub(r"^https?://", "", endpoint)
            plain = "http" if endpoint.startswith("http://") else "https"
            return pafs.S3FileSystem(region=region or "us-east-1", endpoint_override=address, scheme=plain, **times)
        return pafs.S3FileSystem(region=region or pafs.resolve_s3_region(host), **times)
    if scheme == "gs":
        return pafs.GcsFileSystem(retry_time_limit=timedelta(seconds=PATIENCE_S))
    if scheme == "abfss":
        account = host.partition("@")[2].partition(".")[0]
        options: dict[str, Any] = {
            "account_key": os.environ.get("AZURE_STORAGE_ACCOUNT_KEY"),
            "sas_token": os.environ.get("AZURE_STORAGE_SAS_TOKEN"),
        }
        if emulator := os.environ.get("AZURITE_BLOB_STORAGE_URL"):
            plain, _, address = emulator.partition("://")
            options |= {"blob_storage_authority": address, "dfs_storage_authority": address}
            options |= {"blob_storage_scheme": plain, "dfs_storage_scheme": plain}
        return pafs.AzureFileSystem(account, **{key: value for key, value in options.items() if value})
    name, _, port = host.partition(":")
    return pafs.HadoopFileSystem(f"hdfs://{name}" if name else "default", int(port or 8020) if name else 0)


def endpoint_url() -> str | None:
    """Return the address of an S3 store that is not Amazon's, if the environment names one."""
    return next((os.environ[name] for name in ENDPOINT_VARIABLES if os.environ.get(name)), None)


@contextmanager
def store_errors(place: Place) -> Iterator[None]:
    """Say what a store says as the operating system would say it of a disk."""
    try:
        yield
    except (OutputError, FileNotFoundError):
        raise
    except Exception as error:
        if place.is_local and isinstance(error, OSError):
            raise
        from endive.observation.secrets import redact

        said = redact((str(error).splitlines() or [type(error).__name__])[0])
        if isinstance(error, PermissionError) or _DENIED.search(said):
            raise PermissionError(errno.EACCES, _PERMISSIONS, str(place)) from None
        raise OSError(errno.EIO, f"the store says: {said}", str(place)) from None


def place_errors(place: Place) -> AbstractContextManager[None]:
    """Turn what a disk or a store says into an OutputError that says what to do."""
    return output_errors(cast(Path, place))  # which only prints it


@contextmanager
def held(folder: Place) -> Iterator[None]:
    """Hold a folder while the block runs, so that no other process takes it for abandoned; a store holds nothing."""
    with hold_folder(Path(folder.key)) if folder.is_local else nullcontext():
        yield


def is_abandoned(place: Place) -> bool:
    """Return whether the process that made a file or folder has died; in a store, whether it is a day old."""
    if place.is_local:
        return writer.is_abandoned(Path(place.key))
    times = [info.mtime_ns or 0 for _, info in place._select(recursive=True) if info.type == pafs.FileType.File]
    return bool(times) and time.time_ns() - max(times) > _ABANDONED_NS


def remove_abandoned(folder: Place) -> None:
    """Remove the temporary files of processes that have died; those of others are held by them."""
    if not folder.is_local:
        return
    for leftover in Path(folder.key).rglob(".*.tmp"):
        if writer.is_abandoned(leftover):
            leftover.unlink(missing_ok=True)


# ---- Spark ---------------------------------------------------------------------------------------------------


def spark_path(place: Place) -> str:
    """Return what Spark's readers call the place; a folder by its scheme, since a cluster's default may be HDFS."""
    if place.is_local:
        return f"file://{place.path}"
    return f"s3a://{place.host}/{place.key}" if place.scheme == S3 else str(place)


def spark_options(place: Place) -> dict[str, str]:
    """Return what Spark's readers have to know of the place: the endpoint of the environment, if it is not Amazon's."""
    endpoint = endpoint_url()
    if place.scheme != S3 or endpoint is None:
        return {}
    return {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}
