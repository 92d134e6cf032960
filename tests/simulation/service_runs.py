"""Runs of writers on one table behind a catalog service: a request takes 20 ms, a call 4 ms, the work 100 ms."""

from __future__ import annotations

from typing import Any

import endive

STORE_MS, CALL_MS, WORK_MS = 20.0, 4.0, 100.0
ONCE_MS = 50_000.0  # a period that comes around once


def fixed(ms: float) -> dict[str, Any]:
    return {"distribution": "fixed", "ms": ms}


def jobs(count: int, period_ms: float = ONCE_MS, **keys: Any) -> dict[str, Any]:
    """So many jobs that begin together."""
    arrivals = {"kind": "jobs", "jobs": count, "period_ms": period_ms, "phase": "together"}
    return {"name": "w", "arrivals": arrivals, **keys}


def rows_of(
    engine: str, *sources: dict[str, Any], duration_ms: float = 49_000.0, service: Any = None, **sections: Any
) -> list[dict[str, Any]]:
    """The txns of these sources; ``sections`` stand instead of their defaults."""
    config = {
        "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": STORE_MS},
        "catalog": {"type": "service", "latency_ms": CALL_MS, "service": service or {}},
        "transaction": {"runtime": fixed(WORK_MS)},
        "source": list(sources),
        **sections,
    }
    return endive.simulate(config, engine=engine).transactions.to_pylist()
