"""A sweep on Spark beside the same simulations in a bare pool of processes that writes the same columns.

Owns the mixed study the ratio is promised for (arrivals every 20 to 5,000 ms, one simulated hour, 500 runs, about 14
million txns) and the measuring: wall time from the start of the command to written Parquet, both sides in one run.
The pool has no session, no plan and no resuming; it is what the simulations and their files cost at least.

    python -m benchmarks.sweep
    python -m benchmarks.sweep --runs 50
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import machine

RATIO_GOAL = 2.5
MEANS_MS = (20, 50, 100, 200, 500, 1000, 2000, 5000)
BASE: dict[str, Any] = {
    "simulation": {"duration_ms": 3_600_000.0},
    "storage": {"provider": "s3"},
    "catalog": {"type": "instant", "latency_ms": 1.0},
    "transaction": {"operation_types": {"fast_append": 0.9, "merge_append": 0.1}},
}
STUDY = """
[study]
name = "mixed"
seeds = {seeds}

[axes]
"transaction.inter_arrival.scale" = [{means}]

[base.simulation]
duration_ms = 3_600_000

[base.storage]
provider = "s3"

[base.catalog]
type = "instant"
latency_ms = 1.0

[base.transaction]
operation_types = {{ fast_append = 0.9, merge_append = 0.1 }}
"""


def simulate_to(job: tuple[float, int, str]) -> None:
    """One run of the pool, written to a file of its own."""
    from endive import Simulation
    from endive.results.writer import ResultWriter

    mean_ms, seed, path = job
    config = BASE | {"transaction": {**BASE["transaction"], "inter_arrival": {"scale": mean_ms}}}
    simulation = Simulation(config)
    with ResultWriter(path) as writer:
        simulation.run(seed=seed, sink=simulation.new_sink(writers=[writer], keep_transactions=False))


def pool_s(seeds: int, folder: Path) -> float:
    """Wall seconds of the bare pool, the longest runs first."""
    jobs = [(float(m), 42 + s, str(folder / f"{m}-{s}.parquet")) for m in MEANS_MS for s in range(seeds)]
    begin = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        list(pool.imap_unordered(simulate_to, jobs))
    return time.perf_counter() - begin


def sweep_s(seeds: int, folder: Path) -> float:
    """Wall seconds of ``endive sweep``, the session's start included."""
    study = folder / "mixed.toml"
    study.write_text(STUDY.format(seeds=seeds, means=", ".join(map(str, MEANS_MS))), encoding="utf-8")
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study), "--out", str(folder / "out"), "--yes"]
    begin = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - begin


def main() -> int:
    """Measure both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=504, help="how many runs, rounded to whole seeds")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    given = parser.parse_args()
    seeds = max(1, given.runs // len(MEANS_MS))
    with tempfile.TemporaryDirectory() as folder:
        pooled = Path(folder) / "pool"
        pooled.mkdir()
        found = {
            "runs": seeds * len(MEANS_MS),
            "pool_s": pool_s(seeds, pooled),
            "sweep_s": sweep_s(seeds, Path(folder)),
        }
    found["ratio"] = found["sweep_s"] / found["pool_s"]
    if given.json:
        print(json.dumps(found))
    else:
        print(machine())
        print(f"{found['runs']:.0f} runs: pool {found['pool_s']:.1f} s, sweep {found['sweep_s']:.1f} s, ", end="")
        print(f"ratio {found['ratio']:.2f} (at most {RATIO_GOAL})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
