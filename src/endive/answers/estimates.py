"""Estimates of any figure of a summary, from the samples of several runs.

A figure of several runs is the figure of all their txns taken together; counts are per run. What a run contributes to
it is said here, the interval follows in ``endive.objectives.intervals``. One run has figures and no intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from endive.answers.sample import Sample
from endive.objectives import Estimate, Objective, Subject, Verdict, field_at, judge
from endive.objectives.intervals import (
    events_estimate,
    percentile_estimate,
    rate_estimate,
    ratio_estimate,
    share_estimate,
)
from endive.objectives.student import CONFIDENCE
from endive.results import Window
from endive.results import statistics as st
from endive.results.freshness import Ages, join_ages
from endive.results.statistics import Slice, join_slices
from endive.results.summary import figures_of

_PER_S: Final = ("offered_per_s", "committed_per_s", "committed_in_window_per_s")
_PER_RUN: Final = ("txns", "counters", "requests")
_PER_COMMIT: Final = ("requests", "per_committed_txn")
_RETRIES: Final = ("retries_mean",)
_COMMITS: Final = (("committed_per_s",), ("txns", "committed"))

Path = tuple[str, ...]


def subject_of(scope: str, name: str, field_name: str) -> Subject:
    """Return a figure of a part of the runs, by its name."""
    field = field_at(field_name)
    assert field is not None, f"no field {field_name}"
    return Subject(scope, name, field)


def judge_samples(objective: Objective, samples: Sequence[Sample], confidence: float = CONFIDENCE) -> Verdict:
    """Return the verdict on an objective from these runs of one configuration."""
    return judge(objective, lambda subject: estimate_of(samples, subject, confidence))


def estimate_of(samples: Sequence[Sample], subject: Subject, confidence: float = CONFIDENCE) -> Estimate:
    """Return one figure of one part of the runs, with its interval."""
    parts = [sample.slice(subject.scope, subject.name) for sample in samples]
    path = subject.field.path
    if path[0].endswith("_latency_ms") and path[1] != "mean":
        column = "commit_us" if path[0] == "commit_latency_ms" else "total_us"
        runs = [np.asarray(getattr(part, column), np.float64) / 1000.0 for part in parts]
        return percentile_estimate(runs, float(path[1].removeprefix("p")), confidence)
    if path == ("success_rate",):
        return success_estimate(parts, confidence)
    if subject.field.is_of_data:
        return data_estimate([part.ages for part in parts], path, confidence)
    windows = [sample.window for sample in samples]
    figures = [figures_of(part, window) for part, window in zip(parts, windows, strict=True)]
    if path in _COMMITS:
        committed, submitted = ([figure["txns"][name] for figure in figures] for name in ("committed", "submitted"))
        lengths = [_weight(path, figure, window) for figure, window in zip(figures, windows, strict=True)]
        estimate = commits_estimate(committed, submitted, lengths, confidence)
    else:
        estimate = _ratio(path, figures, windows, confidence)
    return replace(estimate, txns=sum(figure["txns"]["submitted"] for figure in figures))


def data_estimate(runs: Sequence[Ages | None], path: Path, confidence: float = CONFIDENCE) -> Estimate:
    """Return how late data are, or what became of them; over runs that have any."""
    ages = [run for run in runs if run is not None and run.total_us]
    if path == ("stale_share",):
        ages = [run for run in ages if run.bound_us is not None]
    lengths = [float(run.total_us) for run in ages]
    if path == ("lost_share",):
        return share_estimate([run.lost for run in ages], [run.batches for run in ages], 0, confidence)
    if path[0] == "data":
        counts = [getattr(run, path[1]) for run in ages]
        estimate = rate_estimate(counts, [1.0] * len(ages), confidence)
    elif path == ("stale_share",):
        estimate = ratio_estimate([float(run.stale_us) for run in ages], lengths, confidence)
    elif path[1] == "mean":
        estimate = ratio_estimate([run.mean_ms * run.total_us for run in ages], lengths, confidence)
    else:
        percent = 100.0 if path[1] == "max" else float(path[1].removeprefix("p"))
        estimate = percentile_estimate([run.points_ms() for run in ages], percent, confidence)
        if ages:  # the points are near the truth, and the figure is exact
            value = float(join_ages(ages).at((percent / 100.0,))[0])
            low, high = estimate.low, estimate.high
            estimate = replace(
                estimate,
                value=value,
                low=None if low is None else min(low, value),
                high=None if high is None else max(high, value),
            )
    return replace(estimate, txns=sum(run.batches for run in ages))


def success_estimate(parts: Sequence[Slice], confidence: float = CONFIDENCE) -> Estimate:
    """Return the share of committed txns among those that ended; the ones still committing may turn out either way."""
    committed, ended = outcome_counts(parts)
    pending = sum(int(part.tallies[st.COMMITTING, st.TXNS]) for part in parts)
    return share_estimate(committed, ended, pending, confidence)


def outcome_counts(parts: Sequence[Slice]) -> tuple[list[int], list[int]]:
    """Of each run, txns that committed and txns that ended."""
    counts = [part.tallies[:, st.TXNS] for part in parts]
    committed = [int(count[st.COMMITTED]) for count in counts]
    return committed, [of + int(count[st.ABORTED].sum()) for of, count in zip(committed, counts, strict=True)]


def commits_estimate(
    committed: Sequence[int], submitted: Sequence[int], lengths: Sequence[float], confidence: float = CONFIDENCE
) -> Estimate:
    """Commits per unit of ``lengths``, as sure as the share that commits allows, and no more than are submitted."""
    rate, offered = (rate_estimate(counts, lengths, confidence) for counts in (committed, submitted))
    share = share_estimate(committed, submitted, 0, confidence)
    if rate.value is None or rate.low is None or rate.high is None or offered.value is None:
        return rate
    if offered.high is None or share.low is None or share.high is None:
        return rate
    low, high = min(rate.low, offered.value * share.low), max(rate.high, offered.value * share.high)
    return replace(rate, low=low, high=max(rate.value, min(high, offered.high)))


def pooled_figures(samples: Sequence[Sample], scope: str, name: str) -> dict[str, Any]:
    """Return every figure of a part of the runs, all txns taken together; counts are sums over the runs."""
    parts = [sample.slice(scope, name) for sample in samples]
    return figures_of(join_slices(parts), pooled_window([sample.window for sample in samples]))


def pooled_window(windows: Sequence[Window]) -> Window:
    """Return a window as long as several together."""
    return Window(duration_us=sum(window.length_us for window in windows), warmup_us=0, cooldown_us=0)


def _ratio(path: Path, figures: Sequence[dict[str, Any]], windows: Sequence[Window], confidence: float) -> Estimate:
    """Any figure that is a sum divided by a sum: txns that ended or committed, seconds, or runs."""
    weights = [_weight(path, figure, window) for figure, window in zip(figures, windows, strict=True)]
    values = [_at(figure, ("requests", "total") if path == _PER_COMMIT else path) for figure in figures]
    is_sum = path[0] in _PER_RUN
    y = [(value or 0.0) * (1.0 if is_sum else weight) for value, weight in zip(values, weights, strict=True)]
    if path == _RETRIES:
        return events_estimate(y, weights, confidence)
    is_count = path[0] in (*_PER_S, *_PER_RUN) and path != _PER_COMMIT
    return (rate_estimate if is_count else ratio_estimate)(y, weights, confidence)


def _weight(path: Path, figures: dict[str, Any], window: Window) -> float:
    """Return what a figure is a mean over."""
    if path == _RETRIES:
        return float(figures["txns"]["committed"] + sum(figures["txns"]["aborted"].values()))
    if path[0] in _PER_S:
        return window.length_us / 1e6
    if path[0] in _PER_RUN and path != _PER_COMMIT:
        return 1.0
    return float(figures["txns"]["committed"])


def _at(figures: dict[str, Any], path: Path) -> float | None:
    figure: Any = figures
    for part in path:
        figure = figure[part]
    return None if figure is None else float(figure)
