"""This checkout beside an earlier one: the same runs in both, one after the other, CPU time, best of five.

A long stream of fast appends, the same written to Parquet, a mix whose merges grow with history, many txns in flight,
and what a first and a second process pay for compiled code. The earlier checkout is a folder, for instance a git
worktree; its ``src`` is what its processes import.

    git worktree add /tmp/before COMMIT
    python -m benchmarks.before_after --before /tmp/before
    python -m benchmarks.before_after --before /tmp/before --only append,parquet --minutes 10 --runs 3
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measuring import ROOT, Config, Figures, in_own_process, machine, run_once, table, warm_up

CASES = ("append", "parquet", "merge-4", "merge-60", "in-flight", "what-if", "cold", "cached")


def append(minutes: float) -> Config:
    """Fast appends, protocol ``spec``, one every 20 ms."""
    return {
        "simulation": {"duration_ms": minutes * 60_000.0},
        "storage": {"provider": "s3"},
        "catalog": {"type": "instant", "latency_ms": 1.0, "scope": "catalog"},
        "commit": {"protocol": "spec"},
        "transaction": {"retry": 10, "inter_arrival": {"distribution": "exponential", "scale": 20.0}},
    }


def merge(minutes: float) -> Config:
    """Nine fast appends to a merge append, 50 a second: what is merged grows with the table."""
    config = append(minutes)
    config["commit"] = {"protocol": "iceberg"}
    config["transaction"]["operation_types"] = {"fast_append": 0.9, "merge_append": 0.1}
    return config


def in_flight() -> Config:
    """Appends that run for so long that 20,000 of them are in flight."""
    config = append(2.0)
    config["catalog"] |= {"scope": "table", "num_tables": 1_000}
    config["transaction"] |= {
        "inter_arrival": {"distribution": "exponential", "scale": 1.0},
        "runtime": {"distribution": "fixed", "ms": 20_000.0},
    }
    return config


def measure(case: str, minutes: float, runs: int) -> Figures:
    """One case in this process, whatever ``endive`` it imports."""
    if case in ("cold", "cached"):
        start_s = time.process_time()
        warm_up("compiled")
        return {"cpu_s": time.process_time() - start_s}
    warm_up("compiled")
    if case == "parquet":
        return min((written(append(minutes)) for _ in range(runs)), key=lambda run: float(run["cpu_s"]))
    if case == "what-if":
        return min((what_if() for _ in range(runs)), key=lambda run: float(run["cpu_s"]))
    config = {"merge-4": merge(4.0), "merge-60": merge(60.0), "in-flight": in_flight()}.get(case, append(minutes))
    return min((run_once("compiled", config) for _ in range(runs)), key=lambda run: float(run["cpu_s"]))


def written(config: Config) -> Figures:
    """The same run into a Parquet file."""
    from endive.config import parse_config
    from endive.results import ResultWriter
    from endive.simulation import Simulation

    simulation = Simulation(parse_config(config))
    with tempfile.TemporaryDirectory() as folder:
        start_s = time.process_time()
        with ResultWriter(Path(folder) / "txns.parquet") as writer:
            result = simulation.run(sink=simulation.new_sink(writers=[writer], keep_transactions=False))
        return {"cpu_s": time.process_time() - start_s, "txns": result.statistics.n_txns}


def what_if() -> Figures:
    """10,000 txns, from a mapping of keys to the summary."""
    from endive import Simulation

    start_s = time.process_time()
    simulation = Simulation(append(10_000 * 0.020 / 60.0))
    result = simulation.run(sink=simulation.new_sink(keep_transactions=False))
    result.summary()
    return {"cpu_s": time.process_time() - start_s, "txns": result.statistics.n_txns}


def main() -> None:
    """Print one line per case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the earlier checkout")
    parser.add_argument("--only", default=",".join(CASES), help=f"some of {','.join(CASES)}")
    parser.add_argument("--minutes", type=float, default=60.0, help="simulated, of the stream of appends")
    parser.add_argument("--runs", type=int, default=5, help="of which the quickest counts")
    given = parser.parse_args()
    if given.before is None or not (given.before / "src" / "endive").is_dir():
        parser.error("--before: give the folder of an earlier checkout, with src/endive in it")
    wanted = given.only.split(",")
    lines: list[list[Any]] = []
    with tempfile.TemporaryDirectory() as caches:
        trees = {"before": given.before.absolute(), "now": ROOT}
        for case in ["cold", "cached", *[case for case in wanted if case not in ("cold", "cached")]]:
            task = ("benchmarks.before_after:measure", case, given.minutes, given.runs)
            found = {
                name: in_own_process(
                    *task, PYTHONPATH=f"{tree / 'src'}{os.pathsep}{ROOT}", ENDIVE_CACHE_DIR=f"{caches}/{name}"
                )
                for name, tree in trees.items()
            }
            if case in wanted:
                cpu_s = {name: float(figures["cpu_s"]) for name, figures in found.items()}
                ratio = f"{cpu_s['before'] / cpu_s['now']:.2f}"
                lines.append(
                    [case, f"{cpu_s['before']:.3f}", f"{cpu_s['now']:.3f}", ratio, found["now"].get("txns", "")]
                )
    print(machine())
    print(table(["case", "before, CPU s", "now, CPU s", "times faster", "txns"], lines))


if __name__ == "__main__":
    main()
