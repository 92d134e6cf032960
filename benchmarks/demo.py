"""How long a small study takes from its file to its report: that of ``make demo``, with the start of Spark beside it.

Two measurements, each the best of several: the whole command in a process of its own, and a session made and nothing
else. The engine is compiled before the first; what is measured is a machine after its
set-up.

    python -m benchmarks.demo
    python -m benchmarks.demo --times 1
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import ROOT, Figures, in_own_process, machine, table, warm_up, watched

STUDY = ROOT / "experiments" / "demo.toml"
WALL_S_GOAL = 15
SESSION_S_GOAL = 6


def study(folder: Path) -> Figures:
    """``endive study`` into a folder that is not there yet."""
    shutil.rmtree(folder, ignore_errors=True)
    return watched([sys.executable, "-m", "endive.cli.main", "study", str(STUDY), "--out", str(folder), "--quiet"])


def session_s() -> float:
    """From PySpark's import to a session, in this process."""
    begin_s = time.perf_counter()
    from endive.pipeline import make_session
    from endive.pipeline.analysis.run_analysis import SETTINGS

    session = make_session(conf=SETTINGS)
    seconds = time.perf_counter() - begin_s
    session.stop()
    return seconds


def main() -> int:
    """Measure both and print them beside the goals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="the best of so many")
    given = parser.parse_args()
    print(machine(), flush=True)
    warm_up("compiled")
    with tempfile.TemporaryDirectory() as scratch:
        study(Path(scratch) / "demo")  # leaves the archive of classes of a machine that has none
        runs = [study(Path(scratch) / "demo") for _ in range(given.times)]
    if not all(run["is_ok"] for run in runs):
        raise SystemExit("failed: what went wrong is said above.")
    best = min(runs, key=lambda run: float(run["wall_s"]))
    start_s = min(float(in_own_process("benchmarks.demo:session_s")) for _ in range(given.times))
    rows = [
        ("study: wall time", f"<= {WALL_S_GOAL} s", f"{best['wall_s']:.1f} s"),
        ("study: CPU time", "-", f"{min(float(run['cpu_s']) for run in runs):.1f} s"),
        ("study: memory", "-", f"{best['memory_gb']:.2f} GB"),
        ("a session: wall time", f"<= {SESSION_S_GOAL} s", f"{start_s:.1f} s"),
    ]
    print(table(("goal", "wanted", "reached"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
