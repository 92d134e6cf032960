"""An archive of the classes that the driver's JVM loads: with it a session starts with half the work.

The first command leaves it behind when its JVM ends; later ones use it. It is kept in a folder that belongs to this
user alone, under a name made of the Java build and Spark's jars. It is never required: a JVM that cannot use it ignores
it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.code_cache import UNUSED_FOLDER_AGE_MAX_S, cache_roots, is_ours_alone

SWITCH: Final = "spark.endive.classArchive"  # false: neither used nor made
_EXIT_S: Final = 60.0  # for a JVM to end and write
_QUIET: Final = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def java_folder() -> Path | None:
    """Return a folder for what Java loads, which nobody else can write into; None if there is none."""
    for root in cache_roots():
        folder = root / "java"
        if is_ours_alone(folder):
            return folder
    return None


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive of one Java and one Spark: used if it is there, else made."""

    path: Path
    partial: Path

    @classmethod
    def find(cls, java_home: Path, spark_home: Path) -> ClassArchive | None:
        """Return the archive for these, whether it is there or not; None without a safe place for it."""
        folder = java_folder()
        if folder is None:
            return None
        try:
            release = (java_home / "release").read_bytes()
            jars = sorted((spark_home / "jars").iterdir())
            about = [f"{jar.name} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in jars]
        except OSError:
            return None
        key = hashlib.blake2b(release + repr([str(java_home), str(spark_home), about]).encode(), digest_size=12)
        path = folder / f"{key.hexdigest()}.jsa"
        _remove_unused(folder, keep=path)
        return cls(path, path.with_suffix(f".{secrets.token_hex(4)}.tmp"))

    @property
    def is_there(self) -> bool:
        """Whether it has been made."""
        return self.path.is_file()

    def options(self) -> str:
        """Return the JVM's options to use it, or to make it."""
        if self.is_there:
            with suppress(OSError):
                os.utime(self.path)
            return f"-Xshare:auto -XX:SharedArchiveFile={self.path} {_QUIET}"
        return f"-XX:ArchiveClassesAtExit={self.partial} {_QUIET}"

    def finish(self) -> None:
        """End the JVM that makes it, so that it is written, and give it its name."""
        from pyspark import SparkContext

        gateway: Any = SparkContext._gateway
        process = getattr(gateway, "proc", None)
        if process is None:
            return
        with suppress(Exception):
            SparkContext._gateway = SparkContext._jvm = None
            gateway.shutdown()
            process.stdin.close()
            process.wait(_EXIT_S)
            os.replace(self.partial, self.path)
        self.partial.unlink(missing_ok=True)


def _remove_unused(folder: Path, keep: Path) -> None:
    """Remove archives that no command has used for a month, and what killed ones left."""
    with suppress(OSError):
        for path in folder.glob("*.jsa*"):
            age_s = time.time() - path.stat().st_mtime
            if path != keep and age_s > UNUSED_FOLDER_AGE_MAX_S:
                path.unlink(missing_ok=True)
        for path in folder.glob("*.tmp"):
            if time.time() - path.stat().st_mtime > 10 * _EXIT_S:
                path.unlink(missing_ok=True)
