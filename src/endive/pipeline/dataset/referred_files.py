"""Profiles and traces that a study refers to: kept in the dataset by content, so that all workers read the same.

They lie in ``_files`` under the digest of their content. A run's configuration names them relative to that folder;
machines of a cluster share it, and no path of this one is written down.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from endive.config.capabilities import is_profile_path
from endive.errors import ConfigError, OutputError
from endive.intake import read_bytes, refused_as
from endive.pipeline.dataset.files import Place, place_errors
from endive.pipeline.dataset.seal import content_digest, file_digest
from endive.results.writer import write_atomically

FILE_BYTES_MAX: Final = 256 * 2**20  # of a profile or a trace
CONFIG_BYTES_MAX: Final = 16 * 2**20  # of one configuration, as JSON
FILES: Final = "_files"

Files = Mapping[str, str]  # name in the dataset -> path on this machine


def by_content(plain: dict[str, Any]) -> dict[str, str]:
    """Let a resolved configuration name its files by content, in place; the files, by their new names."""
    paths: dict[str, str] = {}
    for table, key in _places(plain):
        path = table[key]
        name = f"{_digest(path)}{Path(path).suffix}"
        paths[name] = path
        table[key] = f"./{name}"
    return paths


def with_local_paths(plain: dict[str, Any], files: Files) -> dict[str, Any]:
    """The same configuration with the files where they lie on this machine, in place."""
    for table, key in _places(plain):
        table[key] = files[table[key].removeprefix("./")]
    return plain


def with_kept_paths(plain: dict[str, Any], root: Place) -> dict[str, Any]:
    """The same configuration with the files where this machine finds those of the dataset ``root``, in place."""
    for table, key in _places(plain):
        table[key] = str(Path(copy_near(root / FILES)) / Path(table[key]).name)
    return plain


def keep_files(root: Place, files: Files) -> None:
    """Copy what the dataset does not hold yet; OutputError if a file is no longer what the plan was made from."""
    for name, path in files.items():
        place = root / FILES / name
        if place.exists() and is_intact(place):
            continue
        content = _content(path)
        if content_digest(content) != Path(name).stem:
            raise OutputError(f"{path} was changed while the sweep was starting. Start the same command again.")
        with place_errors(place):
            place.parent.mkdir()
            place.write(content)


def is_intact(place: Place) -> bool:
    """Whether a kept file is what its name says."""
    return file_digest(place) == place.stem


def config_source(root: Place) -> str:
    """Where relative paths of a run's configuration start, as ``parse_config`` wants it told."""
    return str(Path(copy_near(root / FILES)) / "config.toml")


def copy_near(place: Place) -> str:
    """Return a folder of this machine with the files of ``place``: itself, or one that ends with this process."""
    if place.is_local:
        return place.path
    folder = _near(place)
    for path in place.sizes():
        copy = Path(folder) / path.name
        if not copy.exists():
            write_atomically(copy, path.read_bytes(FILE_BYTES_MAX))
    return folder


@cache
def _near(place: Place) -> str:
    folder = tempfile.mkdtemp(prefix="endive-files-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _places(plain: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    storage = plain.get("storage", {})
    if is_profile_path(storage.get("provider", "")):
        yield storage, "provider"
    for source in plain.get("source", []):
        if source["arrivals"]["kind"] == "trace":
            yield source["arrivals"], "path"


def _digest(path: str) -> str:
    return content_digest(_content(path))


def _content(path: str) -> bytes:
    with refused_as(ConfigError):
        return read_bytes(path, bytes_max=FILE_BYTES_MAX, noun="a profile or a trace")
