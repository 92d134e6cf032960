"""``endive limit`` held against brute force, and how long a typical question takes.

    python -m benchmarks.limit            20 configurations, each asked and swept over a grid
    python -m benchmarks.limit --quick    the first three
    python -m benchmarks.limit --typical  seconds and simulations of one question about experiments/quickstart.toml

The grid's answer is the last value, from the side that meets the objective, whose estimate over ``GRID_SEEDS`` seeds
holds; the seeds differ from those of the search. It should lie in the interval of the search in at least 19 of 20.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any, Final

from endive.answers.estimates import judge_samples
from endive.answers.limit import Limit, find_limit
from endive.answers.replicate import Replicator
from endive.answers.variation import Base, base_of
from endive.config.slo import objective_of

GRID_SEEDS: Final = 60
GRID_FIRST_SEED: Final = 100_000
GRID_POINTS: Final = 7
TYPICAL: Final = ("experiments/quickstart.toml", "source.writers.arrivals.clients", "writers.success_rate >= 99 %")


def configuration(clients: int, think_ms: int, latency_ms: int, retries: int) -> dict[str, Any]:
    """Writers in a closed loop on one table; a minute and a half of simulated time."""
    return {
        "simulation": {"duration_ms": "90s", "warmup_ms": "10s", "cooldown_ms": "20s", "seed": 1},
        "storage": {"provider": "constant", "latency_ms": latency_ms},
        "catalog": {"type": "service", "latency_ms": 5},
        "source": [
            {
                "name": "writers",
                "retry": retries,
                "arrivals": {
                    "kind": "closed",
                    "clients": clients,
                    "think_ms": {"distribution": "exponential", "mean_ms": think_ms},
                },
                "runtime": {"distribution": "uniform", "low_ms": 100, "high_ms": 900},
            }
        ],
    }


def questions() -> list[tuple[Base, str, str]]:
    """Twenty questions: clients, pauses, latencies, retries and load, at several objectives."""
    found: list[tuple[Base, str, str]] = []
    for latency_ms, retries in ((10, 4), (20, 4), (30, 2), (15, 6)):
        base = base_of(configuration(6, 2_000, latency_ms, retries))
        found.append((base, "source.writers.arrivals.clients", "success_rate >= 99 %"))
        found.append((base, "source.writers.arrivals.clients", "retries_mean <= 1"))
        found.append((base, "storage.latency_ms", "success_rate >= 98 %"))
        found.append((base, "load", "p95_commit <= 1500ms and success_rate >= 90 %"))
        crowded = base_of(configuration(30, 1_000, latency_ms, retries))
        found.append((crowded, "source.writers.arrivals.think_ms.mean_ms", "success_rate >= 95 %"))
    return found


def grid_answer(
    base: Base, key: str, slo: str, found: Limit, replicator: Replicator, grid_seeds: int = GRID_SEEDS
) -> float | None:
    """The last value of a fine grid around the interval that holds by its estimate."""
    width = max(found.high - found.low, 0.02 * found.high)
    low, high = found.low - width, found.high + width
    if found.is_whole:
        values = [float(value) for value in range(max(1, int(low)), int(high) + 1)]
        values = values[:: max(1, len(values) // GRID_POINTS)]
    else:
        values = [low + (high - low) * place / GRID_POINTS for place in range(GRID_POINTS + 1) if low > 0 or place]
    if found.which == "smallest":
        values.reverse()
    last = None
    for value in values:
        config = base.with_values({key: int(value) if found.is_whole else value})
        seeds = range(GRID_FIRST_SEED, GRID_FIRST_SEED + grid_seeds)
        if not judge_samples(objective_of(config, slo), replicator.samples(config, seeds)).holds:
            break
        last = value
    return last


def brute_force(count: int) -> int:
    """How many of ``count`` intervals hold the grid's answer."""
    held = 0
    for number, (base, key, slo) in enumerate(questions()[:count], 1):
        with Replicator() as replicator:
            found = find_limit(base, key, slo=slo)
            answer = grid_answer(base, key, slo, found, replicator)
        step = 0.0 if found.is_whole else 3 * max(found.high - found.low, 0.02 * found.high) / GRID_POINTS
        is_held = answer is not None and found.low - step <= answer <= found.high
        held += is_held
        print(f"{number:2} {'held' if is_held else 'MISSED'}: grid {answer}; {found.sentence}", flush=True)
    print(f"{held} of {count} intervals hold the grid's answer")
    return held


def typical() -> None:
    """Seconds of one question, once the engine is compiled."""
    path, key, slo = TYPICAL
    base = base_of(path)
    for _ in range(3):
        begin_s, cpu_s = time.perf_counter(), _cpu_s()
        found = find_limit(base, key, slo=slo)
        print(
            f"{time.perf_counter() - begin_s:.2f} s, {_cpu_s() - cpu_s:.2f} s of CPU, "
            f"{found.simulations} simulations: {found.sentence}",
            flush=True,
        )


def _cpu_s() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    if "--typical" in sys.argv:
        typical()
    else:
        brute_force(3 if "--quick" in sys.argv else 20)
