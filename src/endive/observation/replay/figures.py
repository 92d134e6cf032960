"""The figures by which model and reality are compared, and when two of them agree.

Failures count over all txns, of the model and of the trace: a history holds only commits, so that every txn that the
model fails is one too many. Shares have exact intervals: ten of ten is enough to tell.

Two figures agree if the seen value lies where 95 of 100 runs of the model lie, or if the model is within the limits
that ``endive verify load`` holds it to: 5 % of a rate, 10 % of a duration, 5 points of a share. Where they do not, but
the model is within those limits of the interval of what was seen, too few commits were seen to tell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from endive.observation.exact_intervals import Z_95, share_interval
from endive.observation.folder import TraceRow
from endive.vocabulary import REASONS

RATE_ALLOWED: Final = 0.05
DURATION_ALLOWED: Final = 0.10
SHARE_ALLOWED_POINTS: Final = 5.0
QUANTILES: Final = (0.5, 0.95)
COMMIT_P50: Final = "commit P50"
BAND: Final = (0.025, 0.975)
COUNT_MIN: Final = 8  # fewer commits have no quantiles worth comparing
ERROR_CAP: Final = 10.0  # one metric that is far off does not outweigh all others

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The txns of one source, real or simulated; durations of those that committed, attempts of all, where known."""

    times_ms: Floats
    durations_ms: Floats
    attempts: Ints
    failed: int
    ended: int
    lost_attempts: Ints = field(default_factory=lambda: np.array([], dtype=np.int64))  # of those that failed
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_counted(self) -> bool:
        """Whether the attempts of every one that committed are known."""
        return 0 < len(self.attempts) == len(self.durations_ms)

    @property
    def per_attempt_ms(self) -> Floats:
        """Durations shared out among attempts."""
        return self.durations_ms / np.maximum(1, self.attempts)

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """Several sources as one."""
        return cls(
            times_ms=np.sort(np.concatenate([part.times_ms for part in parts])),
            durations_ms=np.concatenate([part.durations_ms for part in parts]),
            attempts=np.concatenate([part.attempts for part in parts]),
            failed=sum(part.failed for part in parts),
            ended=sum(part.ended for part in parts),
            lost_attempts=np.concatenate([part.lost_attempts for part in parts]),
            reasons=dict(sum((Counter(part.reasons) for part in parts), Counter())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of one source, seen and modelled, each with the interval it is known to."""

    name: str
    unit: str
    real: float
    real_interval: tuple[float, float]
    model: float
    model_interval: tuple[float, float]
    changed: float | None
    changed_interval: tuple[float, float] | None
    allowed: float
    is_relative: bool

    @property
    def error(self) -> float:
        """How far the model is off, in units of what is allowed."""
        return self._distance_in(self._margin)

    @property
    def _margin(self) -> float:
        return self.allowed * (abs(self.real) if self.is_relative else 1.0)

    def _distance_in(self, unit: float) -> float:
        distance = abs(self.model - self.real)
        return distance / unit if unit > 0.0 else (0.0 if distance == 0.0 else math.inf)

    @property
    def holds(self) -> bool:
        """Whether model and reality agree."""
        low, high = self.model_interval
        return bool(self.error <= 1.0 or low <= self.real <= high)

    @property
    def is_unclear(self) -> bool:
        """Whether they differ, but by no more than is allowed beside the interval of what was seen."""
        low, high = self.real_interval
        return bool(not self.holds and low - self._margin <= self.model <= high + self._margin)


def seen_of_trace(rows: Sequence[TraceRow], split: AbstractSet[str] = frozenset()) -> dict[str, Seen]:
    """The real commits of each source of an observed folder; the work of a statement is no part of its commit.

    Of a source in ``split``, what a row has as its duration is a whole statement if it does not tell its work.
    """
    by_source: dict[str, list[TraceRow]] = {}
    for row in rows:
        by_source.setdefault(row.source, []).append(row)
    return {name: _seen(own, is_split=name in split) for name, own in by_source.items()}


def _seen(rows: Sequence[TraceRow], *, is_split: bool) -> Seen:
    made, lost = [row for row in rows if row.is_committed], [row for row in rows if not row.is_committed]
    took_ms = [
        row.duration_ms if row.runtime_ms is None else max(0.0, row.duration_ms - row.runtime_ms)
        for row in made
        if row.duration_ms is not None and not (is_split and row.runtime_ms is None)
    ]
    return Seen(
        times_ms=np.sort(np.array([row.begin_ms + (row.duration_ms or 0.0) for row in made], dtype=np.float64)),
        durations_ms=np.array(took_ms, dtype=np.float64),
        attempts=np.array([row.attempts for row in made if row.attempts is not None], dtype=np.int64),
        failed=len(lost),
        ended=len(rows),
        lost_attempts=np.array([row.attempts for row in lost if row.attempts is not None], dtype=np.int64),
        reasons=dict(Counter(row.reason for row in lost if row.reason)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One source: as it was, as the runs of the model have it, and as they have it after a change."""

    real: Seen
    runs: tuple[Seen, ...]
    changed: tuple[Seen, ...]


# ---- which figures, and their intervals ----------------------------------------------------------------


def figures_of(
    real: Seen, runs: Sequence[Seen], changed: Sequence[Seen], *, knows_failures: bool = True
) -> tuple[Figure, ...]:
    """The figures that the history knows; of a source with few commits only how many of them fail, and why."""
    if not runs or not real.ended:
        return ()
    sides = Sides(real=real, runs=tuple(runs), changed=tuple(changed))
    figures = []
    if len(real.times_ms) >= COUNT_MIN:
        span_h = float(real.times_ms[-1] - real.times_ms[0]) / 3.6e6
        figures.append(_commits_per_hour(span_h, sides))
    is_few = len(real.times_ms) < COUNT_MIN  # and no rate tells then that the model fails what was committed
    if real.failed or ((knows_failures or is_few) and any(run.failed for run in runs)):
        figures.append(_share("failed", sides, lambda seen: (seen.failed, seen.ended)))
        known = [reason for reason in real.reasons if reason in REASONS]
        figures += [_share(f"failed: {reason}", sides, _failed_by(reason)) for reason in known]
    if len(real.attempts) + len(real.lost_attempts) >= COUNT_MIN:
        figures.append(_share("more than one attempt", sides, _retried(is_of_all=len(real.lost_attempts) > 0)))
    if len(real.times_ms) < COUNT_MIN:
        return tuple(figures)
    if len(real.durations_ms) >= COUNT_MIN:
        figures += [_quantile_figure("commit", share, sides, lambda seen: seen.durations_ms) for share in QUANTILES]
    else:
        figures += [_quantile_figure("gap", share, sides, lambda seen: np.diff(seen.times_ms)) for share in QUANTILES]
    return tuple(figures)


def _make_figure(
    name: str,
    unit: str,
    sides: Sides,
    value: Callable[[Seen], float],
    interval: Callable[[Seen], tuple[float, float]],
    *,
    allowed: float = RATE_ALLOWED,
    is_relative: bool = True,
) -> Figure:
    """A figure by how its value, and the interval of that, follow from what was seen."""
    modelled = [each for each in map(value, sides.runs) if math.isfinite(each)] or [math.nan]
    what_if = [each for each in map(value, sides.changed) if math.isfinite(each)]
    return Figure(
        name=name,
        unit=unit,
        real=value(sides.real),
        real_interval=interval(sides.real),
        model=float(np.mean(modelled)),
        model_interval=_band(modelled),
        changed=float(np.mean(what_if)) if what_if else None,
        changed_interval=_band(what_if) if what_if else None,
        allowed=allowed,
        is_relative=is_relative,
    )


def _band(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(np.asarray(values, dtype=np.float64), BAND)
    return float(low), float(high)


def _commits_per_hour(span_h: float, sides: Sides) -> Figure:
    def rate(seen: Seen) -> float:
        return (len(seen.times_ms) - 1) / span_h if span_h > 0.0 else math.nan

    def interval(seen: Seen) -> tuple[float, float]:
        count = len(seen.times_ms) - 1
        half = Z_95 * math.sqrt(count)
        return max(0.0, count - half) / span_h, (count + half) / span_h

    return _make_figure("commits", "per hour", sides, rate, interval)


def _retried(*, is_of_all: bool) -> Callable[[Seen], tuple[int, int]]:
    """Of all txns if the trace knows the attempts of those that failed, else of those that committed."""

    def count(seen: Seen) -> tuple[int, int]:
        attempts = np.concatenate([seen.attempts, seen.lost_attempts]) if is_of_all else seen.attempts
        return int((attempts > 1).sum()), len(attempts)

    return count


def _failed_by(reason: str) -> Callable[[Seen], tuple[int, int]]:
    return lambda seen: (seen.reasons.get(reason, 0), seen.ended)


def _share(name: str, sides: Sides, count: Callable[[Seen], tuple[int, int]]) -> Figure:
    def percent(seen: Seen) -> float:
        part, whole = count(seen)
        return 100.0 * part / whole if whole else math.nan

    def interval(seen: Seen) -> tuple[float, float]:
        part, whole = count(seen)
        low, high = share_interval(part, whole)
        return 100.0 * low, 100.0 * high

    return _make_figure(name, "%", sides, percent, interval, allowed=SHARE_ALLOWED_POINTS, is_relative=False)


def _quantile_figure(name: str, share: float, sides: Sides, values: Callable[[Seen], Floats]) -> Figure:
    """A quantile of times."""

    def at(seen: Seen) -> float:
        times = values(seen)
        return float(np.quantile(times, share)) if len(times) else math.nan

    def interval(seen: Seen) -> tuple[float, float]:
        return order_interval(np.sort(values(seen)), share)

    return _make_figure(f"{name} P{round(100 * share)}", "ms", sides, at, interval, allowed=DURATION_ALLOWED)


def order_interval(ordered: Floats, share: float) -> tuple[float, float]:
    """A 95 % interval of a quantile from order statistics: binomial, by its normal approximation."""
    count = len(ordered)
    half = Z_95 * math.sqrt(count * share * (1 - share))
    low, high = math.floor(count * share - half), math.ceil(count * share + half)
    return float(ordered[max(0, low)]), float(ordered[min(count - 1, high)])


def misfit(figures: Sequence[tuple[str, Figure]]) -> float:
    """Return how far the metrics that disagree are off, each at most ten times what is allowed."""
    return sum(0.0 if figure.holds else min(ERROR_CAP, figure.error) for _, figure in figures)
