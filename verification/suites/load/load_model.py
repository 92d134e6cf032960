"""The same load on the simulator: configurations for a cell of the measurement, and the figures they give.

The latencies in them are measured ones (``measurement.latencies``); nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from endive.config import parse_config
from endive.simulation import Simulation
from endive.vocabulary import KINDS
from verification.suites.java.request_recording import line_of
from verification.suites.java.scenario import Operation
from verification.suites.load.cells import BASE_SNAPSHOTS
from verification.suites.load.measurement import Distribution, Txn, TxnRuns

APPEND_GAP_MS: Final = 1000.0  # between the appends that put a victim behind: none meets another
IN_FLIGHT: Final = "in_flight"
WRITERS: Final = "writers"

Objects = Mapping[str, Mapping[str, Distribution]]


def _base(duration_ms: float, pointer_ms: float, objects: Objects, release: str) -> dict[str, Any]:
    """What every cell has in common: one table behind a pointer catalog, Iceberg's protocol and default retries."""
    return {
        "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "s3", "min_latency_ms": 0.0, "objects": objects},
        "catalog": {"type": "service", "latency_ms": pointer_ms},
        "table": {"initial_manifests": BASE_SNAPSHOTS, "initial_snapshots": BASE_SNAPSHOTS},
        "commit": {"release": line_of(release)},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 0.0}},
    }


def closed_configuration(
    writers: int, duration_s: float, pointer_ms: float, objects: Objects, release: str
) -> dict[str, Any]:
    """Writers that append as fast as they can."""
    closed = {"kind": "closed", "clients": writers}
    return {
        **_base(1000.0 * duration_s, pointer_ms, objects, release),
        "source": [{"name": WRITERS, "arrivals": closed}],
    }


def simulate(
    configs: Sequence[Mapping[str, Any]], seeds: range, sources: Sequence[str] = (WRITERS,)
) -> dict[str, TxnRuns]:
    """The txns of each source that ended, seed by seed; configurations in turn."""
    simulations = [Simulation(parse_config(config)) for config in configs]
    runs: dict[str, TxnRuns] = {source: [] for source in sources}
    for seed in seeds:
        table = simulations[seed % len(simulations)].run(seed).transactions
        columns = [table[name].to_pylist() for name in ("source", "commit_latency_ms", "status", "attempts")]
        rows = [row for row in zip(*columns, strict=True) if row[2] != IN_FLIGHT]
        for source in sources:
            runs[source].append([(ms, status == "committed", n) for name, ms, status, n in rows if name == source])
    return runs


def simulate_closed(config: Mapping[str, Any], seeds: range) -> TxnRuns:
    """The same of one configuration whose only source are its writers."""
    return simulate([config], seeds)[WRITERS]


def beside_configuration(
    operation: Operation,
    n_behind: int,
    period_s: float,
    phase_s: float,
    pointer_ms: float,
    objects: Objects,
    release: str,
) -> dict[str, Any]:
    """``operation`` loads its table, ``n_behind`` appends commit, then it commits beside a stream of appends."""
    work_ms = (n_behind + 2) * APPEND_GAP_MS
    append = {"fast_append": 1.0}
    victim: dict[str, Any] = {
        "name": "victim",
        "arrivals": {"kind": "periodic", "period_ms": 1e9},
        "operation_types": {name: 1.0 for name in KINDS if name == operation.kind},
        "runtime": {"distribution": "fixed", "ms": work_ms},
        "rewritten_manifests": operation.removed_from,
    }
    if operation.kind == "validated_overwrite":
        victim |= {"overwrite": operation.overwrite, "isolation": operation.isolation}
        if operation.overwrite == "row_delta":
            victim["referenced_files"] = operation.is_referring
    return {
        **_base(work_ms + 120_000.0, pointer_ms, objects, release),
        "source": [
            victim,
            {
                "name": "before",
                "arrivals": {"kind": "periodic", "period_ms": APPEND_GAP_MS, "offset_ms": APPEND_GAP_MS},
                "stop_ms": (n_behind + 0.5) * APPEND_GAP_MS,
                "operation_types": append,
            },
            {
                "name": "stream",
                "arrivals": {
                    "kind": "periodic",
                    "period_ms": 1000.0 * period_s,
                    "offset_ms": work_ms + _load_ms(pointer_ms, objects) + 1000.0 * phase_s,
                },
                "operation_types": append,
            },
        ],
    }


def _load_ms(pointer_ms: float, objects: Objects) -> float:
    """How long loading a table takes, in the middle: the victim's commit begins that much after its work."""
    middle = objects["metadata"]["read"]["quantiles"]
    return pointer_ms + float(middle[len(middle) // 2][1])


def simulate_victim(config: Mapping[str, Any], seeds: range) -> list[Txn]:
    """The one victim, seed by seed; it ends long before the run."""
    return [txn for (txn,) in simulate([config], seeds, ["victim"])["victim"]]
