"""A store's latency fitted to how long commits were seen to take, where nobody measured the store.

Requests of one law, a lognormal by its median and spread. First the median is moved until the model's commits take as
long on average as those seen: retries make the middle of them jump, not their mean. Then medians and spreads around it
are tried, and the pair is taken whose quantiles, and whose share of commits with more than one attempt, are nearest.
It explains durations by the store alone; what really made them (a busy client, a slow catalog) it cannot tell, so that
a profile that was measured goes before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.errors import ObservationError
from endive.observation.measurement.store_profile import profile_text
from endive.observation.replay.figures import Seen

MEDIAN_MS: Final = (0.05, 60_000.0)
SIGMAS: Final = (0.1, 0.5, 0.8, 1.1)
FACTORS: Final = (0.7, 0.85, 1.0, 1.2)  # of the median that fits the mean
QUANTILES: Final = (0.5, 0.75, 0.95)
PASSES: Final = 12
NEAR: Final = 0.03
COUNT_MIN: Final = 8
RETRIES_WEIGHT: Final = 1.0  # ten points of the share that retries weigh as much as ten percent of a quantile
Run = Callable[[str], Mapping[str, Sequence[Seen]]]  # a profile's path -> what each source does in some runs


def fit_store(real: Mapping[str, Seen], names: Sequence[str], run: Run, place: Path) -> Path:
    """Write the profile that fits best to ``place``; ``names`` are sources whose durations are commits alone."""
    known = [name for name in names if len(real[name].durations_ms) >= COUNT_MIN]
    if not known:
        raise ObservationError(
            "--fit needs to know how long commits took, of at least eight of one source: give commit reports, Spark's "
            "event log, or a log with the columns duration_ms and runtime_ms to endive observe."
        )
    first_ms = _fit_mean(real, known, run, place)
    tried = []
    for sigma in SIGMAS:
        mean = math.exp(0.5 * sigma * sigma)  # of a lognormal, in units of its median
        for factor in FACTORS:
            median_ms = min(MEDIAN_MS[1], max(MEDIAN_MS[0], factor * first_ms / mean))
            tried.append((_distance(real, known, run(_write(place, median_ms, sigma))), sigma, median_ms))
    _, sigma, median_ms = min(tried)
    _write(place, median_ms, sigma)
    return place


def _fit_mean(real: Mapping[str, Seen], names: Sequence[str], run: Run, place: Path) -> float:
    """The latency of a request, always the same, with which commits take as long as seen, on average; by halving."""
    low, high = (math.log(each) for each in MEDIAN_MS)
    for _ in range(PASSES):
        middle = (low + high) / 2.0
        runs = run(_write(place, math.exp(middle), SIGMAS[0]))
        off = [
            math.log(max(1e-3, _mean(took)) / max(1e-3, _mean(real[name].durations_ms)))
            for name in names
            if len(took := _taken(runs, name))
        ]
        beyond = sum(off) / len(off) if off else 1.0  # nothing commits: too slow
        low, high = (low, middle) if beyond > 0.0 else (middle, high)
        if abs(beyond) < NEAR:
            break
    return math.exp(middle)


def _taken(runs: Mapping[str, Sequence[Seen]], name: str) -> Any:
    return np.concatenate([seen.durations_ms for seen in runs.get(name, ())] or [np.array([])])


def _mean(values: Any) -> float:
    return float(np.mean(values))


def _distance(real: Mapping[str, Seen], names: Sequence[str], runs: Mapping[str, Sequence[Seen]]) -> float:
    """How far the model is off: logarithms of quantiles, and shares of those that retried, over sources."""
    off = []
    for name in names:
        took = _taken(runs, name)
        if not len(took):
            off.append(1e3)
            continue
        seen_at, model_at = (np.quantile(each, QUANTILES) for each in (real[name].durations_ms, took))
        off.append(float(np.mean(np.abs(np.log(np.maximum(model_at, 1e-3) / np.maximum(seen_at, 1e-3))))))
        attempts = np.concatenate([seen.attempts for seen in runs[name]])
        if len(real[name].attempts) >= COUNT_MIN:
            off[-1] += RETRIES_WEIGHT * abs(float(np.mean(attempts > 1) - np.mean(real[name].attempts > 1)))
    return sum(off) / len(off)


def _write(place: Path, median_ms: float, sigma: float) -> str:
    law = {
        "distribution": "lognormal",
        "median_ms": round(median_ms, 4),
        "sigma": sigma,
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
    return str(place)
