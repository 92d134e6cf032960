"""What was measured of real Iceberg under load, as it lies in ``data/load.json``, and the inputs it gives the model.

The latency of a request is the delay the object server added and what it took beyond that on the way, in the client and
in the server. It simulates nothing.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from verification import recordings
from verification.recordings import QUANTILES
from verification.suites.java.request_recording import DATA

LOAD_FILE: Final = DATA / "load.json"
LOOPS_FILE: Final = DATA / "loops.json"
ORDERED_FILE: Final = DATA / "ordered_loops.json"
DELETES_FILE: Final = DATA / "delete_loops.json"
# Which recorded requests (``load_stage``: where in a txn's life, method, object) tell how long one of a kind takes.
RETRIED: Final = (
    ("manifest_list", "head"),
    ("manifest_list", "read"),
    ("manifest_list", "write"),
    ("metadata", "write"),
)
SOURCES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("metadata", "read"): ("load GET metadata", "first GET metadata", "after GET metadata"),
    **{
        kind: (f"retry {method} {kind[0]}", f"first {method} {kind[0]}")
        for kind, method in zip(RETRIED, ("HEAD", "GET", "PUT", "PUT"), strict=True)
    },
    ("manifest_list", "delete"): ("after DELETE manifest_list", "swap DELETE manifest_list"),
    ("manifest", "read"): ("first GET manifest", "retry GET manifest"),
    ("manifest", "write"): ("first PUT manifest",),
    ("manifest", "delete"): ("after DELETE manifest",),
}
SAMPLE_MIN: Final = 8  # requests a distribution is made of, at least
METHODS: Final = {"read": "GET", "write": "PUT", "head": "HEAD", "delete": "DELETE"}
# The share of all requests that the value at each quantile stands for: half way to its neighbours.
_EDGES: Final = [0.0, *((low + high) / 2 for low, high in itertools.pairwise(QUANTILES)), 1.0]
SHARES: Final = [high - low for low, high in itertools.pairwise(_EDGES)]

Txn = tuple[float, bool, int]  # latency in ms, committed?, attempts
TxnRuns = list[list[Txn]]  # run by run
Distribution = dict[str, Any]
Beyond = Mapping[str, Sequence[float]]  # label -> count, mean, quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a cell is judged by; latencies of committed txns, from the beginning of the commit to its end."""

    committed_per_s: float
    exhausted_percent: float
    p50_ms: float
    p95_ms: float
    attempts: tuple[int, ...]  # txns that made 1, 2, ... attempts

    @classmethod
    def of(cls, txns: Sequence[Txn], seconds: float) -> Figures:
        """Of the txns that ended within ``seconds`` in all."""
        latencies = sorted(latency_ms for latency_ms, is_committed, _ in txns if is_committed)
        most = max((attempts for _, _, attempts in txns), default=0)
        return cls(
            committed_per_s=len(latencies) / seconds,
            exhausted_percent=100.0 * (1.0 - len(latencies) / len(txns)) if txns else math.nan,
            p50_ms=quantile(latencies, 0.50),
            p95_ms=quantile(latencies, 0.95),
            attempts=tuple(sum(attempts == n for _, _, attempts in txns) for n in range(1, most + 1)),
        )

    @classmethod
    def of_runs(cls, runs: Sequence[Sequence[Txn]], duration_s: float) -> Figures:
        """Several runs as one."""
        return cls.of([txn for run in runs for txn in run], duration_s * len(runs))

    def share_percent(self, attempts: int) -> float:
        """Of the txns that ended, those after so many attempts."""
        counted = self.attempts[attempts - 1] if attempts <= len(self.attempts) else 0
        return 100.0 * counted / sum(self.attempts) if self.attempts else math.nan


def quantile(ordered: Sequence[float], share: float) -> float:
    """By straight lines between the values; not a number if there are none."""
    return recordings.quantile(ordered, share) if ordered else math.nan


def extremes(values: Sequence[float], decimals: int = 0) -> str:
    """From the least to the largest."""
    return f"{min(values):,.{decimals}f} to {max(values):,.{decimals}f}"


def load_averages(runs: Sequence[Mapping[str, Any]]) -> str:
    """How busy the machine was."""
    return extremes([run["load_average"] for run in runs])


def read_load(path: Path = LOAD_FILE) -> dict[str, Any]:
    """The measurement that travels with the package."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def write_load(document: dict[str, Any], path: Path = LOAD_FILE) -> None:
    """One line per run."""
    text = json.dumps(document)
    for mark in ('{"duration_s"', '"closed"', '"beside"', '"overwrite_files n', '"rewrite_files n'):
        text = text.replace(mark, "\n" + mark)
    path.write_text(text + "\n", encoding="utf-8")


def write_loops(document: dict[str, Any], path: Path = LOOPS_FILE) -> None:
    """One line per run."""
    text = json.dumps(document, separators=(",", ":"))
    path.write_text(text.replace('{"duration_s"', '\n{"duration_s"') + "\n", encoding="utf-8")


def ended(run: Mapping[str, Any]) -> list[Txn]:
    """The txns that ended before the run was over."""
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
    delays_ms: Mapping[str, float],
    cell: Sequence[Beyond],
    spare: Sequence[Sequence[Beyond]],
    *,
    is_first_dearer: bool,
    first_manifests: float = 1.0,
) -> dict[str, dict[str, Distribution]]:
    """``storage.objects`` of a configuration: by object and operation, through the measured quantiles.

    ``cell`` are the ``beyond_ms`` of the runs of the cell; a kind of request it hardly sent is taken from the
    first of ``spare`` that has enough of them.
    A client works more between the requests of a first attempt than between those of a retry. If ``is_first_dearer``,
    lists and metadata take what they take in retries, and the difference goes to the ``first_manifests`` that only
    first attempts write: so both kinds of attempt take what was measured.
    """
    objects: dict[str, dict[str, Distribution]] = {}
    for (obj, operation), labels in SOURCES.items():
        method = METHODS[operation]
        is_apart = is_first_dearer and (obj, operation) in RETRIED
        points = _enough(cell, labels[:1]) if is_apart else []
        for runs in (cell, *spare):
            points = points or _enough(runs, labels)
        if not points:
            continue
        dearer_ms = _first_dearer_ms(cell) if is_first_dearer and (obj, operation) == ("manifest", "write") else 0.0
        more_ms = dearer_ms / first_manifests
        values = [max(0.0, delays_ms[method] + beyond_ms + more_ms) for beyond_ms, _ in points]
        objects.setdefault(obj, {})[operation] = {
            "distribution": "empirical",
            "quantiles": _quantiles(values, [weight for _, weight in points]),
        }
    return objects


def _first_dearer_ms(cell: Sequence[Beyond]) -> float:
    """By how much a first attempt's lists and metadata take longer than a retry's, in all."""
    dearer_ms = 0.0
    for kind in RETRIED:
        retry, first = SOURCES[kind]
        if _enough(cell, (retry,)):
            dearer_ms += mean_ms(cell, first) - mean_ms(cell, retry)
    return dearer_ms


def pointer_ms(cell: Sequence[Beyond], idle_ms: float) -> float:
    """One statement to the database while the cell runs.

    Between the metadata object that is written and the one read back lie three statements, between a txn and the load
    of the next one; so half the difference is one of them. No less than the idle database takes.
    """
    return max(idle_ms, (mean_ms(cell, "swap GET metadata") - mean_ms(cell, "load GET metadata")) / 2.0)


def statement_ms(cell: Sequence[Beyond], idle_ms: float) -> float:
    """One statement to the database while a loop runs, where a table may be kept and so never loaded.

    Between the metadata object that is written and what is read next lie three statements; a list is read without any.
    """
    swaps = [label for label in ("swap GET metadata", "swap HEAD manifest_list") if any(label in run for run in cell)]
    if not swaps or not any("first GET manifest_list" in run for run in cell):
        return idle_ms
    plain_ms = mean_ms(cell, "first GET manifest_list")
    return max(idle_ms, (mean_ms(cell, swaps[0]) - plain_ms) / 3.0)


def pooled_quantiles(cell: Sequence[Beyond], is_chosen: Callable[[str], bool]) -> list[list[float]]:
    """Pairs [p, ms] of every request whose label is chosen."""
    labels = sorted({label for run in cell for label in run if is_chosen(label)})
    points = _points(cell, labels)
    return _quantiles([max(0.0, ms) for ms, _ in points], [weight for _, weight in points])


def mean_ms(cell: Sequence[Beyond], label: str) -> float:
    """Mean of what such requests took beyond their delay."""
    counted = [(run[label][0], run[label][1]) for run in cell if label in run]
    return sum(count * mean for count, mean in counted) / sum(count for count, _ in counted)


def _enough(runs: Sequence[Beyond], labels: Sequence[str]) -> list[tuple[float, float]]:
    """The points, if they stand for enough requests."""
    points = _points(runs, labels)
    return points if sum(weight for _, weight in points) >= SAMPLE_MIN else []


def _points(runs: Sequence[Beyond], labels: Sequence[str]) -> list[tuple[float, float]]:
    """Values in rising order, each with the number of requests it stands for."""
    found: list[tuple[float, float]] = []
    for beyond_ms in runs:
        for label in labels:
            if label in beyond_ms:
                count, _, *values = beyond_ms[label]
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
