"""The installed Spark without the zip that it puts before everything else on the path of its Python processes.

Python compiles what it imports from a zip anew in every process: half a second each, and a sweep starts four. On this
machine they find the same PySpark installed. Without its zip Spark looks for no data sources of other packages either,
which is a process less.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from endive.pipeline.spark.class_archive import java_folder

SPARK_HOME: Final = "SPARK_HOME"
PYSPARK_PYTHON: Final = "PYSPARK_PYTHON"
_WITH_ZIPS: Final = "python"


@contextmanager
def home_without_zip() -> Iterator[None]:
    """Sessions that are started in the block have it, unless there is no place for it.

    Nor if the user has named a Spark, or another Python for the workers, which may have no PySpark but the zip's.
    """
    is_named = os.environ.get(SPARK_HOME) or os.environ.get(PYSPARK_PYTHON, sys.executable) != sys.executable
    home = None if is_named else _make_home()
    if home is None:
        yield
        return
    os.environ[SPARK_HOME] = str(home)
    try:
        yield
    finally:
        del os.environ[SPARK_HOME]


def _make_home() -> Path | None:
    """A folder of links to all of the installed Spark but its zips; the next session finds it again."""
    from pyspark.find_spark_home import _find_spark_home

    installed, kept = Path(_find_spark_home()), java_folder()
    if kept is None:
        return None
    home = kept / f"spark-{hashlib.blake2b(bytes(installed), digest_size=8).hexdigest()}"
    try:
        home.mkdir(exist_ok=True)
        for entry in installed.iterdir():
            if entry.name != _WITH_ZIPS:
                with suppress(FileExistsError):  # linked before, or by another process now
                    (home / entry.name).symlink_to(entry)
    except OSError:  # no links here
        return None
    return home
