"""A store's latency fitted to how long commits were seen to take, where nobody measured the store.

Requests of one law, a lognormal by its median and spread: the median is moved until the model's commits take as long in
the middle as those seen, the spread chosen by their P95. It explains durations by the store alone; what really made
them (a busy client, a slow catalog) it cannot tell, so that a profile that was measured goes before it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from endive.errors import ObservationError
from endive.observation.compared_figures import Seen
from endive.observation.store_profile import profile_text

FIRST_MS: Final = 20.0
MEDIAN_MS: Final = (0.05, 60_000.0)
SIGMAS: Final = (0.02, 0.2, 0.6, 1.0, 1.4)
PASSES: Final = 4
COUNT_MIN: Final = 8
Run = Callable[[str], Mapping[str, Sequence[Seen]]]  # a profile's path -> what each source does in some runs


def fit_store(real: Mapping[str, Seen], names: Sequence[str], run: Run, place: Path) -> Path:
    """Write the profile that fits best to ``place``; ``names`` are sources whose durations are commits alone."""
    known = [name for name in names if len(real[name].durations_ms) >= COUNT_MIN]
    if not known:
        raise ObservationError(
            "--fit needs to know how long commits took, of at least eight of one source: give commit reports or a log "
            "with durations to endive observe."
        )
    median_ms = FIRST_MS
    for _ in range(PASSES):
        off, _ = _off(real, known, run(_write(place, median_ms, SIGMAS[0])))
        median_ms = min(MEDIAN_MS[1], max(MEDIAN_MS[0], median_ms * math.exp(-off)))
    found = []
    for sigma in SIGMAS:
        middle, tail = _off(real, known, run(_write(place, median_ms, sigma)))
        found.append((abs(tail), sigma, median_ms * math.exp(-middle)))
    _, sigma, fitted_ms = min(found)
    _write(place, min(MEDIAN_MS[1], max(MEDIAN_MS[0], fitted_ms)), sigma)
    return place


def _off(real: Mapping[str, Seen], names: Sequence[str], runs: Mapping[str, Sequence[Seen]]) -> tuple[float, float]:
    """How far P50 and P95 of the model are off, as logarithms, over sources."""
    off = []
    for name in names:
        took = np.concatenate([seen.durations_ms for seen in runs.get(name, ())] or [np.array([])])
        if len(took):
            seen_at, model_at = (np.quantile(each, (0.5, 0.95)) for each in (real[name].durations_ms, took))
            off.append(np.log(np.maximum(model_at, 1e-3) / np.maximum(seen_at, 1e-3)))
    if not off:
        return 0.0, 0.0
    middle, tail = np.mean(off, axis=0)
    return float(middle), float(tail)


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
