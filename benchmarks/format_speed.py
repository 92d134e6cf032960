"""How fast appends of each table format are simulated, as a ratio to Iceberg's: ``python -m benchmarks.format_speed``.

Sixteen jobs append every ten seconds for four hours. The least processor time of several runs counts, formats by turns,
so that a busy machine disturbs the ratio little. The goal is 1.3 for an attempt.
"""

from __future__ import annotations

import time
from typing import Any, Final

from endive.config import SimulationConfig, parse_config
from endive.simulation import Simulation

TURNS: Final = 7
GOAL: Final = 1.3
FORMATS: Final[dict[str, dict[str, Any]]] = {
    "Iceberg": {"catalog": {"type": "service"}},
    "Delta Spark": {"table": {"format": "delta"}},
    "delta-rs": {"table": {"format": "delta"}, "delta": {"client": "delta_rs"}},
}


def configuration(sections: dict[str, Any]) -> SimulationConfig:
    """The load in one format."""
    kind = "blind_append" if "table" in sections else "fast_append"
    source = {
        "name": "jobs",
        "arrivals": {"kind": "jobs", "jobs": 16, "period_ms": 10_000},
        "runtime": {"distribution": "fixed", "ms": 2_000},
        "keeps_table": True,
        "operation_types": {kind: 1.0},
    }
    return parse_config({"simulation": {"duration_ms": 14_400_000, "seed": 1}, **sections, "source": [source]})


def main() -> None:
    """Measure and print a line per format."""
    configs = {name: configuration(sections) for name, sections in FORMATS.items()}
    attempts = {
        name: sum(Simulation(config).run().transactions.column("attempts").to_pylist())
        for name, config in configs.items()
    }
    best = dict.fromkeys(configs, float("inf"))
    for _ in range(TURNS):
        for name, config in configs.items():
            begin_s = time.process_time()
            Simulation(config).run()
            best[name] = min(best[name], time.process_time() - begin_s)
    own = {name: 1e6 * best[name] / attempts[name] for name in configs}
    for name, taken_us in own.items():
        ratio = taken_us / own["Iceberg"]
        told = "within" if ratio <= GOAL else "beyond"
        print(f"{name}: {attempts[name]:,} attempts, {taken_us:.2f} us each, {ratio:.2f} x Iceberg's ({told} {GOAL})")


if __name__ == "__main__":
    main()
