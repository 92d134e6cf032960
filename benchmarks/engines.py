"""The compiled engine beside the reference engine: ratio, speed, memory, compiling and starting.

The ratios are promised for one simulated hour, S3's measured profile, an instant catalog of 1 ms with catalog scope and
ten retries. The time is that of making an engine and running it into a sink that keeps nothing, CPU time, one thread;
best of five for the compiled engine and best of two for the reference engine, which takes minutes.

    python -m benchmarks.engines
    python -m benchmarks.engines --hours 0.02 --only spec-append
    python -m benchmarks.engines --only start-up,in-flight
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import dataclass

from benchmarks.measuring import BEST_OF, Config, Figures, in_own_process, machine, peak_mb, run_once, table

APPENDS = {"fast_append": 1.0}
MIX = {"fast_append": 0.9, "validated_overwrite": 0.1}
EVENTS_PER_S_GOAL = 5e6
IN_FLIGHT_GOAL = 20_000
START_UP_GOAL_S = 1.0


@dataclass(frozen=True)
class Workload:
    """What is simulated, and how many times faster the compiled engine must be."""

    name: str
    protocol: str
    mean_ms: float
    kinds: dict[str, float]
    tables: int
    goal: float

    def config(self, hours: float) -> Config:
        return {
            "simulation": {"duration_ms": hours * 3_600_000.0},
            "storage": {"provider": "s3", "vintage": "measured"},
            "catalog": {"type": "instant", "latency_ms": 1.0, "scope": "catalog", "num_tables": self.tables},
            "commit": {"protocol": self.protocol},
            "transaction": {
                "retry": 10,
                "operation_types": self.kinds,
                "inter_arrival": {"distribution": "exponential", "scale": self.mean_ms},
            },
        }


WORKLOADS = (
    Workload("spec-append", "spec", 20.0, APPENDS, 1, 100.0),
    Workload("spec-mix", "spec", 50.0, MIX, 1, 250.0),
    Workload("spec-mix-10-tables", "spec", 50.0, MIX, 10, 250.0),
    Workload("iceberg-append", "iceberg", 20.0, APPENDS, 1, 100.0),
    Workload("iceberg-mix", "iceberg", 50.0, MIX, 1, 250.0),
    Workload("iceberg-mix-10-tables", "iceberg", 50.0, MIX, 10, 250.0),
)
# Work of three minutes on average and an arrival every 8.5 ms: 21,000 txns in flight once the run has settled.
IN_FLIGHT = Workload("in-flight", "spec", 8.5, MIX, 1, 0.0)
PARTS = (*(workload.name for workload in WORKLOADS), "in-flight", "start-up")


# ---- measuring -----------------------------------------------------------------------------------------------


def compare(workload: Workload, hours: float, runs: int, reference_runs: int) -> Figures:
    """Both engines on one workload, each in a process of its own, one after the other."""
    config = workload.config(hours)
    compiled = in_own_process(BEST_OF, runs, "compiled", config)
    reference = in_own_process(BEST_OF, reference_runs, "reference", config)
    assert compiled["fingerprint"] == reference["fingerprint"], f"{workload.name}: the engines disagree"
    ratio = reference["cpu_s"] / compiled["cpu_s"]
    return {
        "workload": workload.name,
        "goal": workload.goal,
        "ratio": ratio,
        "is_reached": ratio >= workload.goal,
        "compiled": compiled,
        "reference": reference,
    }


def start_up() -> Figures:
    """Seconds beyond importing numpy and numba until a small simulation is done: compiling, then with what was kept."""
    with tempfile.TemporaryDirectory() as folder:
        cold, *cached = (in_own_process("benchmarks.engines:start", ENDIVE_CACHE_DIR=folder) for _ in range(4))
    return {"cold": cold, "cached": min(cached, key=lambda figures: float(figures["wall_s"]))}


def start() -> Figures:
    """In a new process: what comes after numpy and numba."""
    import numba  # noqa: F401
    import numpy  # noqa: F401

    wall_s, cpu_s = time.perf_counter(), time.process_time()
    run_once("compiled", IN_FLIGHT.config(hours=1 / 3600))
    return {"wall_s": time.perf_counter() - wall_s, "cpu_s": time.process_time() - cpu_s, "peak_mb": peak_mb()}


# ---- printing ------------------------------------------------------------------------------------------------


def show_ratios(rows: list[Figures]) -> str:
    """The promised ratios."""
    lines = []
    for row in rows:
        compiled, reference = row["compiled"], row["reference"]
        lines.append(
            (
                row["workload"],
                f"{row['ratio']:,.0f}x",
                f"{row['goal']:,.0f}x",
                "yes" if row["is_reached"] else "NO",
                f"{compiled['cpu_s']:.3f}",
                f"{reference['cpu_s']:.1f}",
                f"{compiled['txns']:,}",
                f"{compiled['in_flight_max']:,}",
            )
        )
    headings = ("workload", "ratio", "at least", "reached", "compiled s", "reference s", "txns", "in flight at most")
    return table(headings, lines)


def show_speed(rows: list[Figures]) -> str:
    """Absolute speed and memory of both."""
    lines = []
    for row in rows:
        compiled, reference = row["compiled"], row["reference"]
        lines.append(
            (
                row["workload"],
                f"{compiled['txns'] / compiled['cpu_s']:,.0f}",
                f"{compiled['events'] / compiled['cpu_s']:,.0f}",
                f"{compiled['peak_mb']:,.0f} ({compiled['own_mb']:,.0f})",
                f"{reference['txns'] / reference['cpu_s']:,.0f}",
                f"{reference['steps'] / reference['cpu_s']:,.0f}",
                f"{reference['peak_mb']:,.0f} ({reference['own_mb']:,.0f})",
            )
        )
    headings = ("workload", "compiled txns/s", "events/s", "peak MB", "reference txns/s", "steps/s", "peak MB")
    return table(headings, lines) + "\npeak MB: of the process, and in brackets what the run added to it"


def show_in_flight(figures: Figures) -> str:
    """The absolute goal."""
    rate = figures["events"] / figures["cpu_s"]
    is_full = figures["in_flight_max"] >= IN_FLIGHT_GOAL
    verdict = "reached" if rate >= EVENTS_PER_S_GOAL and is_full else "NOT reached"
    return (
        f"{rate:,.0f} fused events/s with up to {figures['in_flight_max']:,} txns in flight "
        f"({figures['events']:,} events, {figures['txns']:,} txns, {figures['cpu_s']:.3f} s, "
        f"{figures['peak_mb']:,.0f} MB); the goal of {EVENTS_PER_S_GOAL:,.0f} at {IN_FLIGHT_GOAL:,} is {verdict}"
    )


def show_start_up(figures: Figures) -> str:
    """Compiling and starting."""
    rows = [
        (name, f"{it['wall_s']:.2f}", f"{it['cpu_s']:.2f}", f"{it['peak_mb']:,.0f}") for name, it in figures.items()
    ]
    verdict = "reached" if figures["cached"]["cpu_s"] < START_UP_GOAL_S else "NOT reached"
    return (
        table(("first simulation, beyond importing numpy and numba", "wall s", "CPU s", "peak MB"), rows)
        + f"\nthe goal of {START_UP_GOAL_S:.0f} s with a filled cache is {verdict} (CPU; best of three)"
    )


def main() -> None:
    """Measure what was asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="simulated (1)")
    parser.add_argument("--runs", type=int, default=5, help="of the compiled engine, the best counts (5)")
    parser.add_argument("--reference-runs", type=int, default=2, help="of the reference engine (2)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    wanted = given.only.split(",")
    if not set(wanted) <= set(PARTS):
        parser.error(f"--only {given.only}: choose from {', '.join(PARTS)}.")
    answer: Figures = {"machine": machine(), "hours": given.hours}
    chosen = [workload for workload in WORKLOADS if workload.name in wanted]
    answer["ratios"] = [compare(workload, given.hours, given.runs, given.reference_runs) for workload in chosen]
    if "in-flight" in wanted:
        answer["in_flight"] = in_own_process(BEST_OF, given.runs, "compiled", IN_FLIGHT.config(given.hours))
    if "start-up" in wanted:
        answer["start_up"] = start_up()
    print(json.dumps(answer) if given.json else report(answer, given.runs, given.reference_runs))


def report(answer: Figures, runs: int, reference_runs: int) -> str:
    """All of it as text."""
    text = [answer["machine"]]
    if answer["ratios"]:
        text.append(
            f"{answer['hours']:g} simulated hours, CPU time, one thread; "
            f"best of {runs} (compiled) and of {reference_runs} (reference)"
        )
        text += ["", show_ratios(answer["ratios"]), "", show_speed(answer["ratios"])]
    if "in_flight" in answer:
        text += ["", show_in_flight(answer["in_flight"])]
    if "start_up" in answer:
        text += ["", show_start_up(answer["start_up"])]
    return "\n".join(text)


if __name__ == "__main__":
    main()
