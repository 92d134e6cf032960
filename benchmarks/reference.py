"""The reference engine on its own: latency steps a second, txns, memory; beside SimPy doing nothing but waiting.

SimPy gets as many bare timeouts as the engine took steps, from as many processes as txns were in flight: what
scheduling the same simulation would cost there before a single rule of it has run.

    python -m benchmarks.reference
    python -m benchmarks.reference --hours 0.02
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from typing import Any

from benchmarks.engines import APPENDS, MIX, Workload
from benchmarks.measuring import BEST_OF, Config, Figures, in_own_process, machine, peak_mb, run_once, table

STEPS_PER_S_GOAL = 200_000
WORKLOADS: dict[str, Workload] = {
    "spec, appends": Workload("spec-append", "spec", 50.0, APPENDS, 1, 0.0),
    "spec, mix": Workload("spec-mix", "spec", 50.0, MIX, 1, 0.0),
    "iceberg, mix, 10 tables": Workload("iceberg-mix-10-tables", "iceberg", 100.0, MIX, 10, 0.0),
}


def wait_in_simpy(steps: int, processes: int) -> Figures:
    """So many timeouts, spread over so many processes."""
    import simpy

    def waiter(environment: Any, first: int, count: int) -> Any:
        for turn in range(count):
            yield environment.timeout(40.0 + (first * 7 + turn * 13) % 21)

    environment = simpy.Environment()
    start_s = time.process_time()
    for number in range(processes):
        environment.process(waiter(environment, number, steps // processes))
    environment.run()
    return {"cpu_s": time.process_time() - start_s, "steps": steps // processes * processes, "peak_mb": peak_mb()}


def measure(name: str, config: Config, runs: int) -> Figures:
    """The engine, and SimPy on as many steps."""
    in_flight = run_once("compiled", config)["in_flight_max"]
    engine = in_own_process(BEST_OF, runs, "reference", config)
    simpy = None
    if importlib.util.find_spec("simpy") is not None:
        simpy = in_own_process("benchmarks.reference:wait_in_simpy", engine["steps"], in_flight)
    return {"workload": name, "in_flight_max": in_flight, "engine": engine, "simpy": simpy}


def show(rows: list[Figures]) -> str:
    """The table and the verdict."""
    lines = []
    for row in rows:
        engine, simpy = row["engine"], row["simpy"]
        lines.append(
            (
                row["workload"],
                f"{engine['steps'] / engine['cpu_s']:,.0f}",
                f"{engine['steps']:,}",
                f"{engine['txns']:,}",
                f"{engine['txns'] / engine['cpu_s']:,.0f}",
                f"{engine['cpu_s']:.1f}",
                f"{engine['peak_mb']:,.0f} ({engine['own_mb']:,.0f})",
                "-" if simpy is None else f"{simpy['steps'] / simpy['cpu_s']:,.0f}",
            )
        )
    headings = ("workload", "steps/s", "steps", "txns", "txns/s", "CPU s", "peak MB", "SimPy timeouts/s")
    slowest = min(row["engine"]["steps"] / row["engine"]["cpu_s"] for row in rows)
    verdict = "reached" if slowest >= STEPS_PER_S_GOAL else "NOT reached"
    return f"{table(headings, lines)}\nthe goal of {STEPS_PER_S_GOAL:,} latency steps a second is {verdict}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0.25, help="simulated (0.25)")
    parser.add_argument("--runs", type=int, default=3, help="of each workload, the best counts (3)")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure(name, workload.config(given.hours), given.runs) for name, workload in WORKLOADS.items()]
    if given.json:
        print(json.dumps({"machine": machine(), "hours": given.hours, "workloads": rows}))
        return
    print(f"{machine()}\n{given.hours:g} simulated hours, CPU time, best of {given.runs}\n\n{show(rows)}")


if __name__ == "__main__":
    main()
