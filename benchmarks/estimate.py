"""How near the processor time announced for a study is to what its runs take.

Studies of several kinds with one seed, the longer ones cut short. Each is estimated as ``endive sweep --dry-run`` does,
then all its runs are simulated in this process.

    python -m benchmarks.estimate                  all
    python -m benchmarks.estimate overlap deletes
"""

from __future__ import annotations

import os
import sys
import time
from typing import Final

from benchmarks.measuring import ROOT
from endive.config.study import load_study
from endive.pipeline.sweep.expected_time import estimate
from endive.pipeline.sweep.part import RunSpec, simulate_run
from endive.pipeline.sweep.plan import PlannedStudy

_SHORT: Final = ("simulation.duration_ms=3000000", "simulation.cooldown_ms=1200000")
STUDIES: Final[dict[str, tuple[str, ...]]] = {
    "demo": ("demo",),
    "overlap": ("partitions/overlap",),
    "snapshots": ("growth/snapshots",),
    "policies": ("retries/policies",),
    "appends": ("formats/appends",),
    "writers": ("writers/twenty_writers",),
    "exp_2_2": ("original/exp_2_2_merge", "simulation.duration_ms=1200000"),
    "exp_3_1": ("original/exp_3_1_merge", "simulation.duration_ms=900000"),
    "overwrites": ("mixed/overwrites", *_SHORT),
    "compaction": ("mixed/compaction", *_SHORT, "source.stream.arrivals.per_s=[0.1, 0.5, 1, 5, 10, 50]"),
    "deletes": ("mixed/compaction_beside_deletes", *_SHORT, "source.stream.arrivals.per_s=[0.1, 1, 10, 50]"),
}


def measure(name: str) -> str:
    """One line: announced, taken, and what the estimate itself took."""
    path, *overrides = STUDIES[name]
    runs = PlannedStudy.of(load_study(ROOT / f"experiments/{path}.toml", overrides, seed_count=1)).runs
    begun_s = time.process_time()
    guess = estimate(runs, cores=2, engine="auto", detail="runs")
    asked_s = time.process_time() - begun_s
    begun_s = time.process_time()
    for run in runs:
        simulate_run(RunSpec(run.seed, run.local_config(), False, run.run_id, run.config_hash), "auto")
    taken_s = time.process_time() - begun_s
    ratio = f"{guess.cpu_s:7.1f} s announced {taken_s:7.1f} taken {guess.cpu_s / taken_s:6.2f}"
    return f"{name:12} {len(runs):5} runs {ratio}  ({asked_s:.1f} s to say so)"


def main() -> int:
    """Every study, or those named."""
    print(f"processor time; load {os.getloadavg()[0]:.1f}")
    for name in sys.argv[1:] or STUDIES:
        print(measure(name), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
