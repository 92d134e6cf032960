"""The folder in which compiled code is kept: named after the sources, and safe from other users.

What is kept there lives in ``endive.kernel``. Files in it are loaded and run, so a folder that somebody else could have
filled is not used: then nothing is kept on disk, and every process compiles for itself.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

# Folders that no compiled function of another file calls: editing them recompiles at most the edited file, and Numba
# notices that by itself.
NEVER_COMPILED: Final = (
    "answers",
    "cli",
    "config",
    "explore",
    "intake",
    "notebook",
    "objectives",
    "observation",
    "pipeline",
    "report",
    "spark.py",
    "tables",
    "verification",
)
CACHE_FOLDER_VARIABLE: Final = "ENDIVE_CACHE_DIR"
UNUSED_FOLDER_AGE_MAX_S: Final = 30 * 24 * 3600
_HASH_BYTES: Final = 12
_ROOT_USER: Final = 0
_PRIVATE: Final = 0o700
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def code_folder(package: Path) -> Path | None:
    """The folder of this version's compiled code; None without a safe place to write or a source to hash."""
    source = source_hash(package)
    if source is None:
        return None
    for root in cache_roots():
        folder = root / source
        if is_ours_alone(folder):
            remove_unused(root, keep=folder)
            return folder
    return None


def source_hash(package: Path) -> str | None:
    """One hash over names and contents of the Python files that can be compiled; None without any (a zip)."""
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    paths = sorted(path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in NEVER_COMPILED)
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest() if paths else None


def cache_roots() -> list[Path]:
    """Where compiled code may live, the most wanted first; a folder the user names is the only one."""
    named = os.environ.get(CACHE_FOLDER_VARIABLE)
    if named:
        return [Path(named).absolute()]
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    temporary = Path(tempfile.gettempdir()).absolute() / f"endive-{user}"
    standard = os.environ.get("XDG_CACHE_HOME")
    if standard:
        return [Path(standard).absolute() / "endive", temporary]
    try:
        return [Path.home() / ".cache" / "endive", temporary]
    except RuntimeError:  # a user without a home folder
        return [temporary]


def is_ours_alone(folder: Path) -> bool:
    """Whether only this user can put files into ``folder``; made if missing, and marked as used.

    The folder and its parent belong to the user and are no links. Every folder above belongs to the user or to
    root, and nobody else can rename what is in it: by its mode, or by the sticky bit that temporary folders have.
    """
    try:
        _make_private(folder.parent)
        _make_private(folder)
        if not (_is_own(folder.parent) and _is_own(folder)):
            return False
        above = {*folder.parent.parents, *folder.resolve().parents} - {folder.parent}
        if not all(_cannot_be_swapped(level) for level in above):
            return False
        folder.chmod(_PRIVATE)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
        return True
    except OSError:
        return False


def remove_unused(root: Path, keep: Path) -> None:
    """Drop folders of other versions that no process has started with for a month; failures are ignored."""
    newest_dropped_s = time.time() - UNUSED_FOLDER_AGE_MAX_S
    try:
        for folder in root.iterdir():
            is_version = len(folder.name) == 2 * _HASH_BYTES and folder != keep
            if is_version and folder.is_dir() and not folder.is_symlink() and folder.stat().st_mtime < newest_dropped_s:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return


def _make_private(folder: Path) -> None:
    """``folder`` and what is missing above it, for this user alone."""
    for level in (*reversed(folder.parents), folder):
        if not level.exists():
            level.mkdir(mode=_PRIVATE, exist_ok=True)


def _is_own(folder: Path) -> bool:
    """Whether ``folder`` is a folder, no link, of this user, into which nobody else can have written."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):  # Windows: folders of a user's profile are the user's own
        return True
    return status.st_uid == os.getuid() and not status.st_mode & _WRITABLE_BY_OTHERS


def _cannot_be_swapped(level: Path) -> bool:
    """Whether nobody but this user and root can replace what lies in ``level``, or ``level`` if it is a link."""
    if not hasattr(os, "getuid"):
        return True
    status = level.lstat()
    if status.st_uid not in (os.getuid(), _ROOT_USER):
        return False
    is_shared = status.st_mode & _WRITABLE_BY_OTHERS and not status.st_mode & stat.S_ISVTX
    return stat.S_ISLNK(status.st_mode) or not is_shared
