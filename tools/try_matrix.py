"""Tries the wheel on every supported Python of this machine, at newest and lowest versions: ``make matrix``.

    python -m tools.try_matrix [3.12 ...]

For each: an environment without extras, and one with the extra ``report`` at the lowest versions the ranges allow; in
either a run is simulated on the reference engine, which needs no compiling. Pythons are those of pyenv and those uv
finds; a version that is not there is told and left out. Nothing is downloaded but packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tools.try_wheel import _run, build_wheel_and_sdist

PYTHONS: Final = ("3.11", "3.12", "3.13")
RUN: Final = """
import endive
config = {"storage": {"provider": "s3"}, "simulation": {"duration_ms": 60_000}}
print(endive.simulate(config, engine="reference").summary()["txns"]["committed"], "txns committed")
"""
# A name, what is installed of the wheel, and how versions are chosen.
TRIALS: Final = (
    ("newest, without extras", "", ()),
    ("lowest, with report", "[report]", ("--resolution", "lowest-direct")),
)
UV: Final = str(Path(sys.executable).with_name("uv"))


def find_python(version: str) -> str | None:
    """An interpreter of this version, if there is one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for python in sorted(pyenv.glob(f"{version}.*/bin/python")):
        return str(python)
    command = [UV, "python", "find", "--no-python-downloads", "--no-project", "--system", version]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout.strip() or None if ended.returncode == 0 else None


def try_on(python: str, wheel: Path, extra: str, options: tuple[str, ...]) -> str:
    """Install and run; what the run says."""
    with tempfile.TemporaryDirectory(prefix="endive-matrix-") as name:
        folder = Path(name)
        _run([UV, "venv", "--quiet", "--python", python, "venv"], folder)
        made = folder / "venv" / "bin" / "python"
        _run([UV, "pip", "install", "--quiet", "--python", str(made), *options, f"{wheel}{extra}"], folder)
        _run([str(made.with_name("endive")), "--version"], folder)
        return _run([str(made), "-c", RUN], folder).strip()


def use_settings_of_pip() -> None:
    """uv does not read pip's settings: hand over where packages come from and whom to trust."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    for line in listed.stdout.splitlines():
        key, _, value = line.partition("=")
        name = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}.get(key.rpartition(".")[2])
        if name is not None:
            os.environ.setdefault(name, value.strip("'"))


def main() -> int:
    """Every Python, every trial."""
    use_settings_of_pip()
    wheel, missing = build_wheel_and_sdist(), []
    for version in sys.argv[1:] or PYTHONS:
        python = find_python(version)
        if python is None:
            missing.append(version)
            continue
        for name, extra, options in TRIALS:
            print(f"Python {version}, {name}: {try_on(python, wheel, extra, options)}", flush=True)
    if missing:
        print(f"not tried, for there is no Python {' and no Python '.join(missing)} here")
    return 0


if __name__ == "__main__":
    sys.exit(main())
