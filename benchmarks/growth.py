"""How the compiled engine's cost grows: double one thing at a time and look at the cost of a txn.

Nothing may grow faster than n log n in txns, so the cost of a txn may grow with the logarithm of how many are in flight
(the heap), with what the model makes it pay for, and with how badly records in flight fit the processor's caches; never
with how long the run has lasted, how long a table's history is or how large the catalog. The columns tell these apart:
events per txn is the model's doing, nanoseconds per event the engine's.

    python -m benchmarks.growth
    python -m benchmarks.growth --hours 0.1 --only rate,duration
"""

from __future__ import annotations

import argparse
import json
import math

from benchmarks.measuring import BEST_OF, Config, Figures, in_own_process, machine, table

MIX = {"fast_append": 0.9, "validated_overwrite": 0.1}
DOUBLINGS = 5
GROWTH_MAX = 1.25  # of the cost of an event when one thing doubles: the logarithm, and caches
FLAT_GROWTH_MAX = 1.1  # of the cost of a txn when something doubles that leaves the load as it was


def base(hours: float, mean_ms: float = 50.0) -> Config:
    """The mix of the promised ratios, on 64 tables with a scope of their own, so that few txns meet."""
    return {
        "simulation": {"duration_ms": hours * 3_600_000.0},
        "storage": {"provider": "s3"},
        "catalog": {"type": "instant", "latency_ms": 1.0, "scope": "table", "num_tables": 64},
        "commit": {"protocol": "spec"},
        "transaction": {
            "retry": 10,
            "operation_types": MIX,
            "runtime": {"mean": 20_000.0, "sigma": 1.0, "min": 5_000.0},
            "inter_arrival": {"distribution": "exponential", "scale": mean_ms},
        },
    }


def rate(hours: float, step: int) -> tuple[str, Config]:
    """Arrivals on many tables."""
    mean_ms = 160.0 / 2**step
    return f"{1_000.0 / mean_ms:g} txns/s", base(hours, mean_ms)


def contended_rate(hours: float, step: int) -> tuple[str, Config]:
    """Arrivals on one table, past what the catalog can commit: attempts grow until retries run out."""
    mean_ms = 160.0 / 2**step
    config = base(hours, mean_ms)
    config["catalog"] |= {"num_tables": 1, "scope": "catalog"}
    return f"{1_000.0 / mean_ms:g} txns/s", config


def tables(hours: float, step: int) -> tuple[str, Config]:
    """Tables of the catalog; a txn touches one."""
    config = base(hours)
    config["catalog"]["num_tables"] = 64 * 2**step
    return f"{64 * 2**step:,} tables", config


def partitions(hours: float, step: int) -> tuple[str, Config]:
    """Partitions of a table; a txn touches two, and conflicts are looked for among them."""
    config = base(hours)
    config["catalog"] |= {
        "num_tables": 1,
        "scope": "partition",
        "partitions": {"enabled": True, "num_partitions": 64 * 2**step},
    }
    config["transaction"]["partitions"] = {"count": 2, "selection": "zipf"}
    config["conflict"] = {"detector": "partition_overlap"}
    return f"{64 * 2**step:,} partitions", config


def duration(hours: float, step: int) -> tuple[str, Config]:
    """Simulated time under a steady load; protocol iceberg looks back to where a txn started."""
    hours *= 2**step / 4
    config = base(hours)
    config["commit"]["protocol"] = "iceberg"
    return f"{hours:g} hours", config


def history(hours: float, step: int) -> tuple[str, Config]:
    """Snapshots every table has at the start."""
    config = base(hours)
    config["commit"]["protocol"] = "iceberg"
    config["table"] = {"initial_snapshots": 1_000 * 2**step}
    return f"{1_000 * 2**step:,} snapshots", config


AXES = {
    "rate": rate,
    "contended-rate": contended_rate,
    "tables": tables,
    "partitions": partitions,
    "duration": duration,
    "history": history,
}
FLAT = ("tables", "partitions", "duration", "history")  # the load stays as it was, so a txn must cost what it did


def measure(axis: str, hours: float, runs: int) -> list[Figures]:
    """The cost at every step of an axis."""
    found = []
    for step in range(DOUBLINGS + 1):
        name, config = AXES[axis](hours, step)
        figures = in_own_process(BEST_OF, runs, "compiled", config)
        figures |= {
            "step": name,
            "us_per_txn": 1e6 * figures["cpu_s"] / figures["txns"],
            "ns_per_event": 1e9 * figures["cpu_s"] / figures["events"],
            "events_per_txn": figures["events"] / figures["txns"],
        }
        found.append(figures)
    return found


def verdict(axis: str, steps: list[Figures]) -> str:
    """By how much the cost grew per doubling, and whether that is still n log n."""
    first, last = steps[0], steps[-1]
    is_flat = axis in FLAT
    unit = "us_per_txn" if is_flat else "ns_per_event"
    growth = math.pow(last[unit] / first[unit], 1.0 / (len(steps) - 1))
    limit = FLAT_GROWTH_MAX if is_flat else GROWTH_MAX
    what = "a txn" if is_flat else "an event"
    judged = "no worse than n log n" if growth <= limit else "WORSE than n log n"
    return f"the cost of {what} grows by {growth:.2f} per doubling (at most {limit:.2f}): {judged}"


def show(axis: str, steps: list[Figures]) -> str:
    """One axis as text."""
    rows = [
        (
            figures["step"],
            f"{figures['txns']:,}",
            f"{figures['in_flight_max']:,}",
            f"{figures['cpu_s']:.3f}",
            f"{figures['us_per_txn']:.2f}",
            f"{figures['events_per_txn']:.1f}",
            f"{figures['ns_per_event']:.0f}",
            f"{figures['peak_mb']:,.0f}",
        )
        for figures in steps
    ]
    headings = (axis, "txns", "in flight at most", "CPU s", "us/txn", "events/txn", "ns/event", "peak MB")
    return f"{table(headings, rows)}\n{verdict(axis, steps)}"


def main() -> None:
    """Measure the axes and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=1.0, help="simulated (1; the axis duration has its own)")
    parser.add_argument("--runs", type=int, default=3, help="of each step, the best counts (3)")
    parser.add_argument("--only", default=",".join(AXES), help=f"some of {','.join(AXES)}")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    wanted = given.only.split(",")
    if not set(wanted) <= set(AXES):
        parser.error(f"--only {given.only}: choose from {', '.join(AXES)}.")
    if not given.json:
        print(machine(), flush=True)
    found = {}
    for axis in wanted:
        found[axis] = measure(axis, given.hours, given.runs)
        if not given.json:
            print(f"\n{show(axis, found[axis])}", flush=True)
    if given.json:
        print(json.dumps({"machine": machine(), "axes": found}))


if __name__ == "__main__":
    main()
