"""Latency fitted to how long commits were seen to take, where nobody measured the store or the catalog.

Requests of one law, a lognormal by its median and spread; those to a catalog that nobody measured are as assumed, or so
many times as slow as the store's: all that was seen tells which. First the median is moved until the model's commits
take as long on average as those seen: retries make the middle of them jump, not their mean. Then medians and spreads
around it are tried, and those are taken whose quantiles, and whose share of commits with more than one attempt, are
nearest. It explains durations by requests alone; what really made them (a busy client, a lock) it cannot tell, so that
a profile that was measured goes before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.errors import ObservationError
from endive.observation.measurement.store_profile import profile_text
from endive.observation.replay.figures import Seen

MEDIAN_MS: Final = (0.05, 60_000.0)
SIGMAS: Final = (0.1, 0.5, 0.8, 1.1)
FACTORS: Final = (0.7, 0.85, 1.0, 1.2)  # of the median that fits the mean
CATALOG_FACTOR: Final = 8.0  # by which a catalog may be slower than the store
QUANTILES: Final = (0.5, 0.75, 0.95)
PASSES: Final = 12
NEAR: Final = 0.03
COUNT_MIN: Final = 8
FEW_MIN: Final = 2  # commits of a source that tell of a median
NEVER: Final = 3.0  # how far off a source is that never commits in the model, as a logarithm
RETRIES_WEIGHT: Final = 1.0  # ten points of the share that retries weigh as much as ten percent of a quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """One law for every request, and how many times as slow the catalog is; None: as it was assumed."""

    median_ms: float
    sigma: float
    catalog_factor: float | None = None

    @property
    def catalog(self) -> dict[str, Any] | None:
        """``catalog.latency``, if it is fitted too."""
        if self.catalog_factor is None:
            return None
        median_ms = round(self.catalog_factor * self.median_ms, 4)
        return {"distribution": "lognormal", "median_ms": median_ms, "sigma": self.sigma}


Run = Callable[[Latency], Mapping[str, Sequence[Seen]]]  # what each source does in some runs


def fit_latencies(
    real: Mapping[str, Seen], names: Sequence[str], run: Run, *, is_catalog_fitted: bool
) -> list[Latency]:
    """The latency that fits best, with the catalog as assumed and, if it is fitted too, with a slow one.

    ``names`` are sources whose durations are commits alone; which of the two explains more, others may tell.
    """
    known = [name for name in names if len(real[name].durations_ms) >= COUNT_MIN]
    if not known:
        raise ObservationError(
            "--fit needs to know how long commits took, of at least eight of one source: give commit reports, Spark's "
            "event log, or a log with the columns duration_ms and runtime_ms, or attempts, to endive observe."
        )
    told = [name for name in names if len(real[name].durations_ms) >= FEW_MIN]
    best = []
    for catalog_factor in (None, CATALOG_FACTOR) if is_catalog_fitted else (None,):
        first_ms = _fit_mean(real, known, run, catalog_factor)
        tried: list[tuple[float, Latency]] = []
        for sigma in SIGMAS:
            mean = math.exp(0.5 * sigma * sigma)  # of a lognormal, in units of its median
            for factor in FACTORS:
                median_ms = min(MEDIAN_MS[1], max(MEDIAN_MS[0], factor * first_ms / mean))
                each = Latency(median_ms=median_ms, sigma=sigma, catalog_factor=catalog_factor)
                tried.append((_distance(real, told, run(each)), each))
        best.append(min(tried, key=lambda pair: pair[0])[1])
    return best


def _fit_mean(real: Mapping[str, Seen], names: Sequence[str], run: Run, catalog_factor: float | None) -> float:
    """The latency of a request, always the same, with which commits take as long as seen, on average; by halving."""
    low, high = (math.log(each) for each in MEDIAN_MS)
    for _ in range(PASSES):
        middle = (low + high) / 2.0
        runs = run(Latency(median_ms=math.exp(middle), sigma=SIGMAS[0], catalog_factor=catalog_factor))
        off = [
            math.log(max(1e-3, float(np.mean(took))) / max(1e-3, float(np.mean(real[name].durations_ms))))
            for name in names
            if len(took := _time_taken(runs, name))
        ]
        beyond = sum(off) / len(off) if off else 1.0  # nothing commits: too slow
        low, high = (low, middle) if beyond > 0.0 else (middle, high)
        if abs(beyond) < NEAR:
            break
    return math.exp(middle)


def _time_taken(runs: Mapping[str, Sequence[Seen]], name: str) -> Any:
    return np.concatenate([seen.durations_ms for seen in runs.get(name, ())] or [np.array([])])


def _distance(real: Mapping[str, Seen], names: Sequence[str], runs: Mapping[str, Sequence[Seen]]) -> float:
    """How far the model is off: logarithms of quantiles, and shares of those that retried; rare sources count less."""
    total = weights = 0.0
    for name in names:
        seen, took = real[name].durations_ms, _time_taken(runs, name)
        shares = QUANTILES if len(seen) >= COUNT_MIN else QUANTILES[:1]
        off = NEVER
        if len(took):
            seen_at, model_at = (np.maximum(np.quantile(each, shares), 1e-3) for each in (seen, took))
            off = float(np.mean(np.abs(np.log(model_at / seen_at))))
            if len(real[name].attempts) >= COUNT_MIN:
                attempts = np.concatenate([each.attempts for each in runs[name]])
                off += RETRIES_WEIGHT * abs(float(np.mean(attempts > 1) - np.mean(real[name].attempts > 1)))
        weight = min(1.0, len(seen) / COUNT_MIN)
        total, weights = total + weight * off, weights + weight
    return total / weights


def write_profile(latency: Latency, place: Path) -> str:
    """The store as a profile; its path."""
    law = {
        "distribution": "lognormal",
        "median_ms": round(latency.median_ms, 4),
        "sigma": latency.sigma,
        "known": "assumed",
        "source": "fitted to the commits that were seen",
    }
    document: dict[str, Any] = {
        "name": place.stem,
        "title": "Fitted to the commits that were seen",
        "description": "One law for every request: commits of the model take as long as those seen.",
        "vintage": "measured",
        "capabilities": ["read", "write", "cas"],
        "latency": {"read": law, "write": law, "cas": {"success": law, "failure": law}},
    }
    place.write_text(profile_text(document, ()), encoding="utf-8")
    return str(place.absolute())
