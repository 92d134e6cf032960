"""This file names the package with which Spark reads object stores: of the version of the Hadoop it brings along."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Final

_LIBRARY: Final = re.compile(r"hadoop-client-api-(\d[\w.]*)\.jar")


def store_package() -> str:
    """What ``spark.jars.packages`` needs for ``s3a://``; VERSION stands where the installation does not tell."""
    found = importlib.util.find_spec("pyspark")
    jars = Path(found.origin).parent / "jars" if found is not None and found.origin else Path()
    versions = [match[1] for jar in sorted(jars.glob("hadoop-*.jar")) if (match := _LIBRARY.fullmatch(jar.name))]
    return f"org.apache.hadoop:hadoop-aws:{versions[0] if versions else 'VERSION'}"
