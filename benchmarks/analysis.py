"""How a sweep of many small runs grows: its driver, going on with nothing to do, its analysis, and the recount.

Each step is a command in a process of its own. ``driver`` is the Python process of the command, ``memory`` all of its
processes together.

    python -m benchmarks.analysis                     10,000 runs of some 18 transactions
    python -m benchmarks.analysis --runs 100000
    python -m benchmarks.analysis --folder out        what ``benchmarks.sweep --out out`` has swept: analysis alone
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Figures, machine, table, watched

DRIVER_GB_GOAL = 1.0
RESUME_S_GOAL = 20.0
SEEDS = 100
STUDY = """
[study]
name = "many"
seeds = {seeds}

[axes]
"transaction.inter_arrival.scale" = [{scales}]

[base.simulation]
duration_ms = 20_000

[base.transaction]
runtime = {{ mean = 1_000, sigma = 0.5, min = 200 }}
"""


def endive(*arguments: object) -> Figures:
    """What a command takes."""
    found = watched([sys.executable, "-m", "endive.cli.main", *map(str, arguments)])
    if not found["is_ok"]:
        raise SystemExit(f"failed: endive {' '.join(map(str, arguments))}; what went wrong is said above.")
    return found


def row(name: str, found: Figures) -> tuple[str, str, str, str, str]:
    """One line of the table."""
    return (
        name,
        f"{found['wall_s']:.1f}",
        f"{found['cpu_s']:.1f}",
        f"{found['driver_gb']:.2f}",
        f"{found['memory_gb']:.2f}",
    )


def main() -> int:
    """Measure each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--detail", default="transactions")
    parser.add_argument("--folder", type=Path, help="a dataset that is there")
    parser.add_argument("--recount", action="store_true")
    given = parser.parse_args()
    print(machine(), flush=True)
    rows, goals = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch) / "out"
        if given.folder is None:
            study = Path(scratch) / "many.toml"
            points = max(1, given.runs // SEEDS)
            scales = ", ".join(str(1_100 + number) for number in range(points))
            study.write_text(STUDY.format(seeds=min(SEEDS, given.runs), scales=scales), encoding="utf-8")
            sweep = ("sweep", study, "--out", folder, "--yes", "--quiet", "--detail", given.detail)
            rows.append(row("sweep", first := endive(*sweep)))
            rows.append(row("sweep again", again := endive(*sweep)))
            goals.append(("driver of a sweep", f"<= {DRIVER_GB_GOAL} GB", f"{first['driver_gb']:.2f} GB"))
            goals.append(("nothing to do", f"<= {RESUME_S_GOAL:g} s", f"{again['wall_s']:.1f} s"))
        rows.append(row("analyze", endive("analyze", folder, "--quiet")))
        if given.recount:
            rows.append(row("check --recount", endive("check", folder, "--recount", "--quiet")))
    print(table((f"{given.runs:,} runs", "wall (s)", "CPU (s)", "driver (GB)", "memory (GB)"), rows))
    if goals:
        print()
        print(table(("goal", "wanted", "reached"), goals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
