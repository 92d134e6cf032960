"""Queueing theory: M/M/1, M/M/c, M/G/1 and M/G/infinity, beside a catalog server and txns at work."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from endive.simulation import simulate
from endive.verification.suite import Check, Value
from endive.verification.theory.ceilings import summarize

SERVICE_MS: Final = 10.0
WIRE_MS: Final = 2.0  # to the server and back; not part of the sojourn
RUNTIME_MS: Final = 500.0
TABLES: Final = 20_000  # so many that two txns hardly ever meet
TXNS: Final = 500_000
QUICK_TXNS: Final = 100_000
MEAN_ALLOWED: Final = 0.03
QUICK_MEAN_ALLOWED: Final = 0.06
POLLACZEK_ALLOWED: Final = 0.05

AT_WORK_PER_S: Final = 5.0
AT_WORK_MS: Final = 20_000.0
AT_WORK_TXNS: Final = 100_000
AT_WORK_ALLOWED: Final = 0.02
DISPERSION_ALLOWED: Final = 0.20  # a variance over some 700 independent stretches of time
RUNTIMES: Final[Mapping[str, Mapping[str, Any]]] = {
    "fixed": {"distribution": "fixed", "ms": AT_WORK_MS},
    "exponential": {"distribution": "exponential", "mean_ms": AT_WORK_MS},
    "lognormal, sigma 1": {"distribution": "lognormal", "mean_ms": AT_WORK_MS, "sigma": 1.0},
}


def queue_checks(*, is_quick: bool) -> Iterator[Check]:
    """Sojourns at the server, then txns at work."""
    txns = QUICK_TXNS if is_quick else TXNS
    allowed = QUICK_MEAN_ALLOWED if is_quick else MEAN_ALLOWED
    for load in (0.6,) if is_quick else (0.3, 0.6, 0.75):
        yield from _exponential_service("M/M/1", 1, load, txns, allowed)
    if not is_quick:
        yield from _exponential_service("M/M/4", 4, 0.75, txns, allowed)
        yield _fixed_service(0.6, txns)
    for name in ("lognormal, sigma 1",) if is_quick else RUNTIMES:
        yield from _at_work(name, AT_WORK_TXNS // 5 if is_quick else AT_WORK_TXNS, is_quick)


# ---- the server ------------------------------------------------------------------------------------


def erlang_c(workers: int, offered: float) -> float:
    """Probability that an arrival finds every worker busy."""
    terms = [offered**n / math.factorial(n) for n in range(workers)]
    last = offered**workers / math.factorial(workers) * workers / (workers - offered)
    return last / (sum(terms) + last)


def _exponential_service(name: str, workers: int, load: float, txns: int, allowed: float) -> Iterator[Check]:
    """Two visits a txn, each with the stationary sojourn: a wait with probability C, and the service."""
    rate_per_ms = load * workers / SERVICE_MS / 2.0
    summary = _serve(workers, {"distribution": "exponential", "mean_ms": SERVICE_MS}, rate_per_ms, txns)
    busy = erlang_c(workers, load * workers)
    wait_ms = busy * SERVICE_MS / workers / (1.0 - load)
    cell: dict[str, Value] = {"queue": name, "utilisation": load}
    yield Check.relative(
        "mean sojourn of a commit at the server",
        cell,
        expected=SERVICE_MS + wait_ms,
        actual=summary["commit_latency_ms"]["mean"] - WIRE_MS,
        allowed=allowed,
        unit="ms",
    )
    yield Check.relative(
        "mean sojourn of the first read at the server",
        cell,
        expected=SERVICE_MS + wait_ms,
        actual=summary["phases_ms"]["runtime"] - RUNTIME_MS - WIRE_MS,
        allowed=allowed,
        unit="ms",
    )
    if workers == 1:
        for percentile in (50, 95, 99):
            yield Check.relative(
                "quantiles of the sojourn: exponential",
                {**cell, "percentile": percentile},
                expected=-math.log(1.0 - percentile / 100.0) * SERVICE_MS / (1.0 - load),
                actual=summary["commit_latency_ms"][f"p{percentile}"] - WIRE_MS,
                allowed=allowed,
                unit="ms",
            )


def _fixed_service(load: float, txns: int) -> Check:
    rate_per_ms = load / SERVICE_MS / 2.0
    runtime = {"distribution": "exponential", "mean_ms": 10.0 * RUNTIME_MS}  # spreads the second visits
    summary = _serve(1, {"distribution": "fixed", "ms": SERVICE_MS}, rate_per_ms, txns, runtime)
    return Check.relative(
        "mean sojourn with fixed service, by Pollaczek and Khinchine",
        {"queue": "M/D/1, nearly", "utilisation": load},
        expected=SERVICE_MS * (1.0 + load / 2.0 / (1.0 - load)),
        actual=summary["commit_latency_ms"]["mean"] - WIRE_MS,
        allowed=POLLACZEK_ALLOWED,
        unit="ms",
        note="second visits are not quite Poisson",
    )


def _serve(
    workers: int, service: Mapping[str, Any], rate_per_ms: float, txns: int, runtime: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    config = {
        "simulation": {"duration_ms": txns / rate_per_ms, "warmup_ms": 60_000.0, "cooldown_ms": 60_000.0},
        "storage": {"provider": "instant"},
        "catalog": {
            "type": "service",
            "latency_ms": WIRE_MS,
            "num_tables": TABLES,
            "table_metadata_inlined": True,
            "service": {"flavour": "rest", "workers": workers, "time": service},
        },
        "commit": {"protocol": "spec"},
        "transaction": {"runtime": runtime or {"distribution": "fixed", "ms": RUNTIME_MS}},
        "source": [{"name": "txns", "arrivals": {"kind": "poisson", "mean_ms": 1.0 / rate_per_ms}}],
    }
    return summarize(config)


# ---- txns at work ----------------------------------------------------------------------------------


def _at_work(name: str, txns: int, is_quick: bool) -> Iterator[Check]:
    """How many txns are between submission and end, looked at once a second."""
    duration_ms = txns / AT_WORK_PER_S * 1_000.0
    config = {
        "simulation": {"duration_ms": duration_ms, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "instant"},
        "catalog": {"type": "instant", "scope": "table", "num_tables": TABLES, "latency_ms": 1.0},
        "commit": {"protocol": "spec"},
        "transaction": {"runtime": RUNTIMES[name]},
        "source": [{"name": "txns", "arrivals": {"kind": "poisson", "per_s": AT_WORK_PER_S}}],
    }
    rows = simulate(config, seed=3).transactions.select(["submit_ms", "end_ms"])
    submits_ms = np.sort(rows["submit_ms"].to_numpy())
    ends_ms = np.sort(np.nan_to_num(rows["end_ms"].to_numpy(zero_copy_only=False), nan=2.0 * duration_ms))
    looks_ms = np.arange(20.0 * AT_WORK_MS, duration_ms, 1_000.0)
    at_work = np.searchsorted(submits_ms, looks_ms) - np.searchsorted(ends_ms, looks_ms)
    residence_ms = AT_WORK_MS + 2.0  # the runtime, a read and a swap of 1 ms each
    cell = {"queue": "M/G/infinity", "runtime": name}
    yield Check.relative(
        "mean number of txns at work",
        cell,
        expected=AT_WORK_PER_S * residence_ms / 1_000.0,
        actual=float(at_work.mean()),
        allowed=AT_WORK_ALLOWED * (2.0 if is_quick else 1.0),
        unit="txns",
    )
    yield Check.relative(
        "variance over mean of txns at work: 1 for Poisson",
        cell,
        expected=1.0,
        actual=float(at_work.var() / at_work.mean()),
        allowed=DISPERSION_ALLOWED * (2.0 if is_quick else 1.0),
    )
    counts = np.histogram(submits_ms, bins=int(duration_ms / 1_000.0))[0]
    yield Check.relative(
        "variance over mean of arrivals per second: 1 for Poisson",
        cell,
        expected=1.0,
        actual=float(counts.var() / counts.mean()),
        allowed=5.0 * math.sqrt(2.0 / counts.size),
    )
