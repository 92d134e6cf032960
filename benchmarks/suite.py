"""A study of 8,050 runs end to end: simulate, summarise, keep a sample of txns, analyse, draw.

Measured of ``endive study benchmarks/suite.toml --detail sample``: the time of the whole command, and where it goes by
the records of the runs and the sweep's own line. A peer takes 24 to 36 hours for a suite of this size on eight cores.

    python -m benchmarks.suite
    python -m benchmarks.suite --seeds 5         a tenth of it
    python -m benchmarks.suite --out DIR         keep what it made
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.measuring import ROOT, machine, table, watched

STUDY = ROOT / "benchmarks" / "suite.toml"
WALL_MIN_GOAL = 10.0
SEEDS = 50


def count_runs(folder: Path) -> tuple[int, int]:
    """Runs and txns, by the table of runs."""
    txns = [row["txns"] or 0 for path in folder.glob("runs/*/*.parquet") for row in _rows(path)]
    return len(txns), sum(txns)


def _rows(path: Path) -> list[dict[str, int]]:
    rows: list[dict[str, int]] = pq.ParquetFile(path).read(["txns"]).to_pylist()
    return rows


def main() -> None:
    """Run it once and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds per configuration; 50 is the whole suite")
    parser.add_argument("--out", type=Path, help="keep the dataset here")
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.out or Path(scratch) / "suite"
        command = [sys.executable, "-m", "endive.cli.main", "study", str(STUDY), "--out", str(folder), "--yes"]
        command += ["--detail", "sample", "--seeds", str(given.seeds), "--master", given.master]
        figures = watched(command)
        if not figures["is_ok"]:
            sys.exit("the study failed")
        runs, txns = count_runs(folder)
        size_mb = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    rows = [
        ["runs", f"{runs:,}"],
        ["txns simulated", f"{txns:,}"],
        ["written, MB", f"{size_mb:,.0f}"],
        ["wall, min", f"{figures['wall_s'] / 60:.1f}"],
        ["CPU, min", f"{figures['cpu_s'] / 60:.1f}"],
        ["memory, GB", f"{figures['memory_gb']:.2f}"],
    ]
    print(table(("what", "value"), rows))
    share = given.seeds / SEEDS
    print()
    goal = [f"{WALL_MIN_GOAL * share:.1f} min", f"{figures['wall_s'] / 60:.1f} min"]
    print(table(("goal", "wanted", "reached"), [[f"the suite, {share:.0%} of its seeds", *goal]]))


if __name__ == "__main__":
    main()
