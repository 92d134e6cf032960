"""The measured curves: N closed-loop clients on one object, five stores, compare-and-swap and append.

They are simulated in ``verification.suites.closed_loop``, and fitted in ``verification.suites.fitting``.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

CURVES: Final = "data/conditional_writes.csv"

# Seconds a curve was measured for, where the file gives no rate: the lone client was never idle, so its successes
# times their mean. 5 trials of 10 minutes for Azure, of 5 for Google, less what starting up took.
UNSTATED_DURATION_S: Final = {"azure": 2980.0, "azurex": 2980.0, "gcp": 1497.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """The largest error allowed: successes per second as a share, failures in percentage points."""

    rate: float
    failure_points: float


GOALS: Final = {
    "s3": Goal(rate=0.05, failure_points=3.0),
    "s3x": Goal(rate=0.05, failure_points=3.0),
    "azure": Goal(rate=0.10, failure_points=5.0),
    "azurex": Goal(rate=0.10, failure_points=5.0),
}


LATENCY_GOALS: Final = {"mean": 0.10, "median": 0.10, "p95": 0.25}  # of successes, as shares


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """One number of clients on one object."""

    store: str
    op: str
    clients: int
    success_per_s: float
    failure_pct: float
    success_mean_ms: float
    success_median_ms: float
    success_p95_ms: float
    success_p99_ms: float


@lru_cache(maxsize=1)
def measured_points() -> tuple[MeasuredPoint, ...]:
    """Every point of the file, with a rate for each."""
    text = resources.files("verification.suites").joinpath(CURVES).read_text(encoding="utf-8")
    return tuple(_point(row) for row in csv.DictReader(text.splitlines()))


def curve(store: str, op: str) -> tuple[MeasuredPoint, ...]:
    """The points of one store and operation."""
    return tuple(point for point in measured_points() if (point.store, point.op) == (store, op))


def curves() -> dict[tuple[str, str], tuple[MeasuredPoint, ...]]:
    """Every curve, by store and operation."""
    keys = dict.fromkeys((point.store, point.op) for point in measured_points())
    return {key: curve(*key) for key in keys}


def _point(row: dict[str, str]) -> MeasuredPoint:
    stated = row["success_per_s"]
    return MeasuredPoint(
        store=row["store"],
        op=row["op"],
        clients=int(row["threads"]),
        success_per_s=float(stated) if stated else float(row["n_success"]) / UNSTATED_DURATION_S[row["store"]],
        failure_pct=float(row["failure_pct"]),
        success_mean_ms=float(row["mean_ms"]),
        success_median_ms=float(row["median_ms"]),
        success_p95_ms=float(row["p95_ms"]),
        success_p99_ms=float(row["p99_ms"]),
    )
