"""Compiled code on disk: functions of one process are found again by the next, and processes share them.

Which folder that is and whether it may be trusted is in ``endive.code_cache``; what is compiled, in ``endive.kernel``.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import cast

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from endive.code_cache import code_folder

try:
    import fcntl
except ImportError:  # not on Windows: there every process compiles for itself
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "compiling.lock"
DIGEST_BYTES = 32
COMPILING_WAIT_MAX_S = 300.0  # longer than the whole engine takes on a slow machine


class SharedCache(FunctionCache):  # type: ignore[misc]  # Numba has no types
    """One function's cache on disk; whatever goes wrong with the disk, the function is compiled again.

    Numba names a cache after the path and the age of a source file; here it is the place in the package and the
    content, so that every copy of one version (a clone, another environment) finds what the first has compiled.
    """

    def __init__(self, function: Callable[..., object], folder: Path) -> None:
        super().__init__(function)
        source, package = Path(function.__code__.co_filename), Path(__file__).parent
        if source.is_relative_to(package):
            self._cache_path = str(folder / f"numba-{numba.__version__}" / source.relative_to(package).with_suffix(""))
            stamp: object = hashlib.blake2b(source.read_bytes(), digest_size=8).hexdigest()
        else:
            stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _SharedFiles(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )

    def load_overload(self, sig: object, target_context: object) -> object:
        overload = self._load(sig, target_context)
        if overload is None and _turn.begin():
            overload = self._load(sig, target_context)  # whoever compiled meanwhile may have left it
            if overload is not None:
                _turn.end()
        return overload

    def _load(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever damage unpickling meets
            return None

    def save_overload(self, sig: object, data: object) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:
            return
        finally:
            _turn.end()


class _Turn:
    """Whose turn it is to compile: of processes that start together one does, and the others find what it left.

    Compiling one function compiles those it calls, so turns nest. The lock is the operating system's and ends with the
    process, whatever ends it. Whoever has waited too long compiles for itself.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._file: int | None = None

    def begin(self) -> bool:
        """Take the turn, or take it once more; whether another process may have compiled in between."""
        self._depth += 1
        folder = cache_folder()
        if self._depth > 1 or fcntl is None or folder is None:
            return False
        try:
            self._file = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return False
        deadline_s = time.monotonic() + COMPILING_WAIT_MAX_S
        while not _is_locked(self._file):
            if time.monotonic() > deadline_s:
                break
            time.sleep(0.05)
        return True

    def end(self) -> None:
        """Give the turn back, the last of its kind for good."""
        self._depth = max(0, self._depth - 1)
        if self._depth == 0 and self._file is not None:
            os.close(self._file)
            self._file = None


_turn = _Turn()


def end_turn_on_failure(compile_: Callable[..., object]) -> Callable[..., object]:
    """Wrap a compilation so that one that fails does not keep the others waiting."""

    def compile_or_end(*args: object) -> object:
        try:
            return compile_(*args)
        except BaseException:
            _turn.end()
            raise

    return compile_or_end


def _is_locked(file: int) -> bool:
    """Whether the lock on an open file is ours now."""
    assert fcntl is not None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class _SharedFiles(IndexDataCacheFile):  # type: ignore[misc]  # Numba has no types
    """Numba's files, named so that processes which write at the same time cannot mix them up.

    Numba numbers the data files of a function, and two processes may give one number to two signatures: the
    index then leads to the wrong machine code. Here the name follows from the signature, and the data is
    written before the index speaks of it. Each file is written under a temporary name and renamed, so none is
    ever seen half. A race can at worst drop an entry from the index, which costs one compilation.
    """

    def save(self, key: object, data: object) -> None:
        name = hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()
        data_name = self._data_name_pattern.replace("{number:d}", name)
        Path(self._cache_path).mkdir(parents=True, exist_ok=True)
        self._save_data(data_name, data)
        overloads = self._load_index()
        if overloads.get(key) != data_name:
            overloads[key] = data_name
            self._save_index(overloads)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        """Write a file whole, behind the digest of its content."""
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(_digest(content.getvalue()) + content.getvalue())

    def _load_index(self) -> dict[object, str]:
        try:
            content = io.BytesIO(_read_intact(self._index_path))
            if pickle.load(content) != self._version:
                return {}
            stamp, overloads = pickle.load(content)
        except Exception:  # unreadable or damaged: as good as empty, and written again
            return {}
        return cast("dict[object, str]", overloads) if stamp == self._source_stamp else {}

    def _load_data(self, name: str) -> object:
        return pickle.loads(_read_intact(self._data_path(name)))


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _read_intact(path: str) -> bytes:
    """Return the content of a file; OSError if it is not what was written, because machine code is run unseen."""
    written = Path(path).read_bytes()
    digest, content = written[:DIGEST_BYTES], written[DIGEST_BYTES:]
    if _digest(content) != digest:
        raise OSError(f"{path} is damaged")
    return content


def is_kept(module: str) -> bool:
    """Whether compiled code of a module of this package, such as ``simulation.compiled.loop``, is on disk."""
    folder = cache_folder()
    return folder is not None and any(folder.glob(f"numba-{numba.__version__}/{module.replace('.', '/')}/*.nbi"))


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Where this process keeps compiled code, if anywhere; see ``endive.code_cache``."""
    return code_folder(Path(__file__).parent)
