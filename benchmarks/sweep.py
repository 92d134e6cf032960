"""A sweep on Spark beside the same simulations in a bare pool of processes that writes the same columns.

The ratio is promised for a mixed study: arrivals every 20 to 5,000 ms, one simulated hour, 500 runs, about 14 million
txns. Measured from the start of a process to written Parquet, both sides one after the other. The pool has no session,
no plan and no resuming; it is what the simulations and their files cost at least. On a busy machine the ratio of wall
times says little; that of CPU times, beside it, says what Spark adds.

    python -m benchmarks.sweep
    python -m benchmarks.sweep --runs 50
    python -m benchmarks.sweep --out out        keep what was swept; ``benchmarks.analysis --folder out`` reads it
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measuring import Figures, machine, table, watched

RATIO_GOAL = 1.15
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


def run_pool(seeds: int, folder: Path) -> None:
    """The bare pool, the longest runs first."""
    jobs = [(float(m), 42 + s, str(folder / f"{m}-{s}.parquet")) for m in MEANS_MS for s in range(seeds)]
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        list(pool.imap_unordered(simulate_to, jobs))


def pool(seeds: int, folder: Path) -> Figures:
    """What the pool takes, in a process of its own."""
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.sweep", "--runs", str(seeds * len(MEANS_MS))]
    return watched([*command, "--pool", str(folder)])


def sweep(seeds: int, scratch: Path, out: Path) -> Figures:
    """What ``endive sweep`` takes, the session's start included."""
    study = scratch / "mixed.toml"
    study.write_text(STUDY.format(seeds=seeds, means=", ".join(map(str, MEANS_MS))), encoding="utf-8")
    command = [sys.executable, "-m", "endive.cli.main", "sweep", str(study), "--out", str(out), "--yes"]
    return watched(command)


def txns_in(folder: Path) -> int:
    """Rows of all Parquet files below a folder."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in folder.rglob("*.parquet"))


def measured(seeds: int, scratch: Path, out: Path) -> dict[str, Any]:
    """Both sides, and how they compare; they must have written the same number of txns."""
    sides = {"pool": pool(seeds, scratch / "pool"), "sweep": sweep(seeds, scratch, out)}
    failed = [name for name, figures in sides.items() if not figures["is_ok"]]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}; what went wrong is said above.")
    written = {"pool": txns_in(scratch / "pool"), "sweep": txns_in(out / "transactions")}
    assert written["pool"] == written["sweep"], f"the sides wrote different numbers of txns: {written}"
    return {
        "runs": seeds * len(MEANS_MS),
        "txns": written["sweep"],
        **{
            f"{name}_{key}": figures[key] for name, figures in sides.items() for key in ("wall_s", "cpu_s", "memory_gb")
        },
        "ratio": sides["sweep"]["wall_s"] / sides["pool"]["wall_s"],
        "cpu_ratio": sides["sweep"]["cpu_s"] / max(sides["pool"]["cpu_s"], 0.01),
    }


def told(found: dict[str, Any]) -> str:
    """Both sides, and the goal beside what was reached."""
    rows = [
        (
            side,
            *(
                f"{found[f'{side}_{key}']:.{digits}f}"
                for key, digits in (("wall_s", 1), ("cpu_s", 1), ("memory_gb", 2))
            ),
        )
        for side in ("pool", "sweep")
    ]
    sides = table((f"{found['runs']} runs, {found['txns']:,} txns", "wall (s)", "CPU (s)", "memory (GB)"), rows)
    goals = [
        ("sweep / pool, wall time", f"<= {RATIO_GOAL}", f"{found['ratio']:.2f}"),
        ("sweep / pool, CPU time", "-", f"{found['cpu_ratio']:.2f}"),
    ]
    return f"{sides}\n\n{table(('goal', 'wanted', 'reached'), goals)}"


def main() -> int:
    """Measure both sides and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=504, help="how many runs, rounded to whole seeds")
    parser.add_argument("--out", type=Path, help="a folder that is not there yet: the sweep's, kept")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")
    parser.add_argument("--pool", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    seeds = max(1, given.runs // len(MEANS_MS))
    if given.pool:
        run_pool(seeds, given.pool)
        return 0
    if given.out and given.out.exists():
        parser.error(f"--out {given.out} is there already: a sweep would find its runs done and take no time.")
    if not given.json:
        print(machine(), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        found = measured(seeds, Path(scratch), (given.out or Path(scratch) / "out").resolve())
    print(json.dumps(found) if given.json else told(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
