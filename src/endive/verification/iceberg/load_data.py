"""What was measured of real Iceberg under load, as it lies in ``data/load.json``, and the inputs it gives the model.

Owns the reading of that file, the figures of a cell and the latencies of requests: the delay the object server
added, and what a request took beyond it on the way, in the client and in the server. Simulates nothing.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from endive.verification.iceberg.load_recording import LOAD_FILE
from endive.verification.iceberg.loading import QUANTILES

# Which pairs of requests, one after the other of one writer, tell how long the second one took: those between which the
# client neither paused nor asked the database for more than one row.
SOURCES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("metadata", "read"): ("GET metadata > GET metadata", "DELETE manifest_list > GET metadata"),
    ("metadata", "write"): ("PUT manifest_list > PUT metadata",),
    ("manifest_list", "head"): (
        "PUT manifest > HEAD manifest_list",
        "GET metadata > HEAD manifest_list",
        "GET manifest_list > HEAD manifest_list",
    ),
    ("manifest_list", "read"): ("HEAD manifest_list > GET manifest_list",),
    ("manifest_list", "write"): ("GET manifest_list > PUT manifest_list", "PUT manifest > PUT manifest_list"),
    ("manifest_list", "delete"): ("DELETE manifest_list > DELETE manifest_list", "PUT metadata > DELETE manifest_list"),
    ("manifest", "read"): ("GET manifest > GET manifest", "GET manifest_list > GET manifest"),
    ("manifest", "write"): ("GET metadata > PUT manifest", "PUT manifest > PUT manifest"),
    ("manifest", "delete"): ("DELETE manifest_list > DELETE manifest", "DELETE manifest > DELETE manifest"),
}
METHODS: Final = {"read": "GET", "write": "PUT", "head": "HEAD", "delete": "DELETE"}
# The share of all requests that the value at each quantile stands for: half way to its neighbours.
_EDGES: Final = [0.0, *((low + high) / 2 for low, high in itertools.pairwise(QUANTILES)), 1.0]
SHARES: Final = [high - low for low, high in itertools.pairwise(_EDGES)]

Distribution = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a cell is judged by; latencies of committed txns, from the beginning of the commit to its end."""

    committed_per_s: float
    exhausted_percent: float
    p50_ms: float
    p95_ms: float
    attempts: tuple[int, ...]  # txns that made 1, 2, ... attempts

    @classmethod
    def of(cls, txns: Sequence[tuple[float, bool, int]], seconds: float) -> Figures:
        """From (latency in ms, committed?, attempts) of the txns that ended within ``seconds`` in all."""
        latencies = sorted(latency_ms for latency_ms, is_committed, _ in txns if is_committed)
        most = max((attempts for _, _, attempts in txns), default=0)
        return cls(
            committed_per_s=len(latencies) / seconds,
            exhausted_percent=100.0 * (1.0 - len(latencies) / len(txns)),
            p50_ms=quantile(latencies, 0.50),
            p95_ms=quantile(latencies, 0.95),
            attempts=tuple(sum(attempts == n for _, _, attempts in txns) for n in range(1, most + 1)),
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """By straight lines between the values."""
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def read_load(path: Path = LOAD_FILE) -> dict[str, Any]:
    """The measurement that travels with the package."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def ended(run: Mapping[str, Any]) -> list[tuple[float, bool, int]]:
    """Latency in ms, committed?, attempts: of the txns that ended before the run was over."""
    return [
        (1000.0 * (end_s - commit_s), bool(is_committed), attempts)
        for _, _, commit_s, end_s, is_committed, attempts in run["txns"]
        if end_s <= run["duration_s"]
    ]


def measured(runs: Sequence[Mapping[str, Any]]) -> Figures:
    """All repetitions of a cell as one."""
    txns = [txn for run in runs for txn in ended(run)]
    return Figures.of(txns, sum(run["duration_s"] for run in runs))


# ---- latencies -----------------------------------------------------------------------------------------


def latencies(
    delays_ms: Mapping[str, float], cell: Sequence[Mapping[str, Any]], spare: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Distribution]]:
    """``storage.objects`` of a configuration: by object and operation, through the measured quantiles.

    ``cell`` are the ``beyond_ms`` of the runs of the cell; a kind of request it never sent is taken from ``spare``.
    """
    objects: dict[str, dict[str, Distribution]] = {}
    for (obj, operation), pairs in SOURCES.items():
        points = _points(cell, pairs) or _points(spare, pairs)
        if not points:
            continue
        delay_ms = delays_ms[METHODS[operation]]
        objects.setdefault(obj, {})[operation] = {
            "distribution": "empirical",
            "quantiles": _quantiles(
                [max(0.0, delay_ms + beyond_ms) for beyond_ms, _ in points], [w for _, w in points]
            ),
        }
    return objects


def _points(runs: Sequence[Mapping[str, Any]], pairs: Sequence[str]) -> list[tuple[float, float]]:
    """Values in rising order, each with the number of requests it stands for."""
    found: list[tuple[float, float]] = []
    for beyond_ms in runs:
        for pair in pairs:
            if pair in beyond_ms:
                count, *values = beyond_ms[pair]
                found.extend((value, count * weight) for value, weight in zip(values, SHARES, strict=True))
    return sorted(found)


def _quantiles(values: Sequence[float], weights: Sequence[float]) -> list[list[float]]:
    """Pairs [p, ms] of values in rising order, each with a weight."""
    total = sum(weights)
    points = []
    reached, at = 0.0, 0
    for share in QUANTILES:
        while at < len(values) - 1 and reached + weights[at] < share * total:
            reached += weights[at]
            at += 1
        points.append([share, round(values[at], 3)])
    return points
