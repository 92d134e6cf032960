"""Estimates of any figure of a summary, from the samples of one or several runs.

This file defines what is a cluster, which statistic serves which figure, and the verdict on an objective.

A figure of several runs is the figure of all their txns taken together; counts are per run. With few seeds the batches
of every run are the clusters between which a figure varies; from ``SEEDS_AS_CLUSTERS`` on, whole runs are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from endive.answers.intervals import Floats, percentile_estimate, ratio_estimate, share_estimate
from endive.answers.sample import Sample
from endive.objectives import Estimate, Objective, Subject, Verdict, judge
from endive.objectives.student import CONFIDENCE
from endive.results import Window
from endive.results import statistics as st
from endive.results.statistics import Slice, joined
from endive.results.summary import figures_of

SEEDS_AS_CLUSTERS: Final = 10
_PER_ENDED: Final = ("success_rate", "retries_mean")
_PER_S: Final = ("offered_per_s", "committed_per_s", "committed_in_window_per_s")
_PER_RUN: Final = ("txns", "counters", "requests")
_REQUESTS: Final = ("requests", "total")
_PER_COMMIT: Final = ("requests", "per_committed_txn")


def judge_samples(objective: Objective, samples: Sequence[Sample], confidence: float = CONFIDENCE) -> Verdict:
    """The verdict on an objective from these runs of one configuration."""
    return judge(objective, lambda subject: estimate_of(samples, subject, confidence))


def estimate_of(samples: Sequence[Sample], subject: Subject, confidence: float = CONFIDENCE) -> Estimate:
    """One figure of one part of the runs, with its interval."""
    clusters = list(clusters_of(samples, subject.scope, subject.name))
    path = subject.field.path
    if path[0].endswith("_latency_ms") and path[1] != "mean":
        values = [_latencies_ms(part, path[0]) for part, _ in clusters]
        return percentile_estimate(values, float(path[1].removeprefix("p")), confidence)
    if path == ("success_rate",):
        counts = [part.tallies[:, st.TXNS] for part, _ in clusters]
        committed = [int(count[st.COMMITTED]) for count in counts]
        ended = [of + int(count[st.ABORTED].sum()) for of, count in zip(committed, counts, strict=True)]
        return share_estimate(committed, ended, sum(int(count[st.COMMITTING]) for count in counts), confidence)
    figures = [figures_of(part, window) for part, window in clusters]
    weights = [
        _weight(path, found, window, samples[0].window) for found, (_, window) in zip(figures, clusters, strict=True)
    ]
    values_at = [_at(found, _REQUESTS if path == _PER_COMMIT else path) for found in figures]
    y = [(value or 0.0) * (1.0 if _is_sum(path) else weight) for value, weight in zip(values_at, weights, strict=True)]
    found = ratio_estimate(y, weights, confidence)
    return Estimate(found.value, found.low, found.high, sum(figure["txns"]["submitted"] for figure in figures))


def pooled_figures(samples: Sequence[Sample], scope: str, name: str) -> dict[str, Any]:
    """Every figure of a part of the runs, all txns taken together; counts are sums over the runs."""
    parts = [part for sample in samples for part in sample.slices(scope, name)]
    return figures_of(joined(parts), pooled_window([sample.window for sample in samples]))


def pooled_window(windows: Sequence[Window]) -> Window:
    """A window as long as several together."""
    return Window(duration_us=sum(window.length_us for window in windows), warmup_us=0, cooldown_us=0)


def clusters_of(samples: Sequence[Sample], scope: str, name: str) -> Iterator[tuple[Slice, Window]]:
    """The pieces between which a figure varies."""
    for sample in samples:
        parts, windows = sample.slices(scope, name), sample.batch_windows
        if len(samples) >= SEEDS_AS_CLUSTERS:
            yield joined(parts), sample.window
        else:
            yield from zip(parts, windows, strict=True)


def _latencies_ms(part: Slice, which: str) -> Floats:
    latencies_us = part.commit_us if which == "commit_latency_ms" else part.total_us
    return np.asarray(latencies_us, np.float64) / 1000.0


def _weight(path: tuple[str, ...], figures: dict[str, Any], window: Window, whole: Window) -> float:
    """What a figure is a mean over: txns that ended or committed, seconds, or the share of a run."""
    if path[0] in _PER_ENDED:
        return float(_ended(figures))
    if path[0] in _PER_S:
        return window.length_us / 1e6
    if _is_sum(path) and path != _PER_COMMIT:
        return window.length_us / whole.length_us
    return float(figures["txns"]["committed"])


def _is_sum(path: tuple[str, ...]) -> bool:
    """Whether clusters add up to the figure, which is then per run (or, of requests, per commit)."""
    return path[0] in _PER_RUN


def _ended(figures: dict[str, Any]) -> int:
    txns = figures["txns"]
    return int(txns["committed"]) + int(sum(txns["aborted"].values()))


def _at(figures: dict[str, Any], path: tuple[str, ...]) -> float | None:
    found: Any = figures
    for part in path:
        found = found[part]
    return None if found is None else float(found)
