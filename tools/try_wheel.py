"""Builds the wheel and tries it where the checkout is not: ``make wheel``.

A new environment, the wheel with its extras, an empty folder, and in it a run, a sweep, an analysis and a report, on
the engine that needs no compiling. Packages come from wherever pip is told to take them. dist/ keeps what was built,
and the bill of materials.

    python tools/try_wheel.py [--with-packages-of-this-environment]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
BORROW: Final = "--with-packages-of-this-environment"
STUDY: Final = """
seeds = 2

[study]
name = "small"
title = "A small study"
question = "How many appends per second does a table take?"

[study.report]
x = "load_per_s"

[axes]
load_per_s = [1, 4]

[derived]
"transaction.inter_arrival.scale" = "1000 / load_per_s"

[base.simulation]
duration_ms = 60_000

[base.storage]
provider = "s3"

[base.transaction]
runtime = { mean = 2_000, sigma = 0.5, min = 500 }
"""


def main() -> int:
    """Build, install apart, use."""
    wheel = build_wheel_and_sdist()
    print(f"built {wheel.relative_to(ROOT)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="endive-wheel-") as name:
        folder = Path(name)
        python = _environment(folder / "venv", wheel)
        work = folder / "empty"
        work.mkdir()
        (work / "study.toml").write_text(STUDY, encoding="utf-8")
        (work / "table.toml").write_text('[storage]\nprovider = "s3"\n\n[simulation]\nduration_ms = 60_000\n')
        endive = [str(python.with_name("endive"))]
        for arguments in (
            ["run", "table.toml", "--engine", "reference"],
            ["sweep", "study.toml", "--out", "out", "--engine", "reference"],
            ["analyze", "out"],
            ["report", "out"],
        ):
            print(f"endive {' '.join(arguments)}", flush=True)
            _run([*endive, *arguments], work)
        report = next((work / "out").rglob("report.html"))
        print(f"the report has {report.stat().st_size:,} bytes", flush=True)
    return 0


def build_wheel_and_sdist() -> Path:
    """The wheel of the present sources, with the source archive and the bill of materials beside it."""
    code = "from hatchling.build import build_sdist, build_wheel; build_sdist('dist'); print(build_wheel('dist'))"
    wheel = ROOT / "dist" / _run([sys.executable, "-c", code], ROOT).splitlines()[-1]
    bill = "-".join(wheel.name.split("-")[:2])
    _run([sys.executable, "-m", "tools.write_sbom", f"dist/{bill}.cdx.json"], ROOT)
    return wheel


def _environment(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel in it, and nothing of the checkout."""
    is_borrowing = BORROW in sys.argv
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    if is_borrowing:
        pip = ["install", "--quiet", "--no-deps", str(wheel)]
        site = next((folder / "lib").glob("python*/site-packages"))
        packages = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
        for entry in packages.iterdir():
            if "endive" not in entry.name and not (site / entry.name).exists():
                (site / entry.name).symlink_to(entry)
    else:
        pip = ["install", "--quiet", f"{wheel}[spark,report]"]
    _run([str(python), "-m", "pip", "--disable-pip-version-check", *pip], folder)
    place = _run([str(python), "-c", "import endive; print(endive.__file__)"], folder).strip()
    assert str(folder) in place, f"endive is taken from {place}, not from the wheel"
    return python


def _run(command: list[str], folder: Path) -> str:
    """What a command prints; the trial ends if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYSPARK_PYTHON"] = str(Path(command[0]).with_name("python"))
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
