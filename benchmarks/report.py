"""How long the report of a large study takes, and how large it is.

The analysis is synthetic (formulas, no runs: the same the tests use), and each report is made in a process of its own,
as ``endive report`` makes it. Both limits are the project's own: 15 s and 5 MB for 1,000 configurations.

    python -m benchmarks.report
    python -m benchmarks.report --configurations 200 1000 5000
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import ROOT, machine, table

LIMIT_S = 15.0
LIMIT_MB = 5.0
LOADS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
PROTOCOLS = ("iceberg", "pyiceberg", "spec", "merge")
TABLES = (1, 2, 5, 10, 20)
SCRIPT = """
import resource, sys
from endive.cli.main import app
try:
    app(["report", sys.argv[1]])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3, file=sys.stderr)
"""


def make_analysis(folder: Path, configurations: int) -> int:
    """An analysis of about so many configurations along four axes; how many it has."""
    from tests.report.synthetic import SyntheticStudy, write_synthetic

    each = len(LOADS) * len(PROTOCOLS) * len(TABLES)
    stores = [f"store-{number + 1}" for number in range(max(1, round(configurations / each)))]
    axes = {"load_per_s": LOADS, "commit.protocol": PROTOCOLS, "catalog.num_tables": TABLES, "storage.provider": stores}
    if configurations < each:
        axes = {"load_per_s": LOADS, "commit.protocol": PROTOCOLS[: max(1, configurations // len(LOADS))]}
    study = SyntheticStudy("synthetic", axes, capacity_per_s=40.0)
    write_synthetic(folder, study)
    return len(study.points)


def measure(configurations: int) -> list[str]:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "study"
        count = make_analysis(folder, configurations)
        start_s = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)], cwd=ROOT, capture_output=True, text=True, check=True
        )
        wall_s = time.perf_counter() - start_s
        cpu_s, peak_mb = (float(figure) for figure in done.stderr.splitlines()[-1].split())
        size_mb = (folder / "report.html").stat().st_size / 1e6
    return [f"{count:,}", f"{wall_s:.1f}", f"{cpu_s:.1f}", f"{peak_mb:,.0f}", f"{size_mb:.2f}"]


def main() -> int:
    """Measure and say whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, nargs="+", default=[10, 200, 1000])
    given = parser.parse_args()
    print(machine())
    rows = [measure(count) for count in given.configurations]
    print(table(["configurations", "wall s", "CPU s", "peak MB", "page MB"], rows))
    late = [row for row in rows if int(row[0].replace(",", "")) <= 1000 and float(row[2]) > LIMIT_S]
    large = [row for row in rows if int(row[0].replace(",", "")) <= 1000 and float(row[4]) > LIMIT_MB]
    print(f"limits for 1,000 configurations: {LIMIT_S:g} s, {LIMIT_MB:g} MB; {'missed' if late or large else 'kept'}")
    return 1 if late or large else 0


if __name__ == "__main__":
    sys.exit(main())
