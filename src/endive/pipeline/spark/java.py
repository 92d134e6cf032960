"""A Java that Spark can run on: found, or asked for in plain words.

It looks in JAVA_HOME, then on PATH, then in the folder ``java`` of the Python environment, where ``make`` puts one. It
starts no Java to find out its version unless the installation does not say.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from endive.errors import EngineError

JAVA_VERSION_MIN: Final = 17
JAVA_HOME: Final = "JAVA_HOME"


def provide_java() -> None:
    """Leave JAVA_HOME pointing to a Java that is new enough; EngineError if there is none."""
    tried: list[str] = []
    for name, home in _candidates():
        version = java_version(home)
        if version is not None and version >= JAVA_VERSION_MIN:
            os.environ[JAVA_HOME] = str(home)
            return
        what = "no Java" if version is None else f"Java {version}"
        tried.append(f"{name} ({home}: {what})")
    looked = f" Looked at {', '.join(tried)}." if tried else ""
    raise EngineError(
        f"Spark needs Java {JAVA_VERSION_MIN} or newer, and none was found.{looked} Install one (Debian, Ubuntu: "
        "sudo apt install default-jre-headless) or set JAVA_HOME; in the repository, 'make test' gets one without "
        "root."
    )


def _candidates() -> list[tuple[str, Path]]:
    candidates: list[tuple[str, Path]] = []
    if os.environ.get(JAVA_HOME):
        candidates.append((JAVA_HOME, Path(os.environ[JAVA_HOME])))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(("PATH", Path(on_path).resolve().parent.parent))
    environment = Path(sys.prefix) / "java"
    if environment.exists():
        candidates.append(("the Python environment", environment))
    return candidates


def java_version(home: Path) -> int | None:
    """Major version of the Java in a folder; None if there is none that starts."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    try:
        said = (home / "release").read_text(encoding="utf-8")
        stated = re.search(r'^JAVA_VERSION="(\d+)', said, re.MULTILINE)
    except OSError:
        stated = None
    if stated:
        return int(stated[1])
    try:
        question = [str(java), "-XshowSettings:properties", "-version"]
        answer = subprocess.run(question, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"java\.specification\.version = (\d+)", answer.stdout + answer.stderr)
    return int(version[1]) if version else None
