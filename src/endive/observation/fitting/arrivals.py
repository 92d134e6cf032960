"""When a writer submits: at fixed times, at random, in bursts, or as soon as it can.

What is found is an ``arrivals`` table of a configuration and a word for it. Times count from the first commit of the
table, so that jobs keep their distance from each other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final

import numpy as np

from endive.observation.history import Commit

PERIODIC: Final = "periodic"
POISSON: Final = "poisson"
BURSTS: Final = "bursts"
IRREGULAR: Final = "irregular"
CLOSED: Final = "busy loop"
FEW: Final = "too few to tell"

GAPS_MIN: Final = 8  # fewer say nothing about their law
_ON_GRID: Final = 0.12  # mean distance of a gap from a multiple of the period, as a share of it
_TICKS_PER_COMMIT_MAX: Final = 1.1  # a clock that misses more of its ticks would submit too often
_ON_GRID_FEW: Final = 0.02  # the same of so few gaps that chance may place them
_HOLE_TICKS: Final = 5  # a gap of more ticks than that: the job was down
_HOLES_SHARE_MAX: Final = 0.05
PERIODIC_GAPS_MIN: Final = 2  # three nights at the same hour are a clock
_POISSON_CV: Final = (0.75, 1.35)
_KS_95: Final = 1.36  # Kolmogorov's 95 % bound times sqrt(n); the mean is estimated, so it is lenient
# A snapshot is stamped when its manifest list is written (SnapshotProducer.apply). As shares of a commit that took one
# attempt: the table metadata that is written afterwards, and the deletion of the list of an attempt that lost.
_AFTER_STAMP: Final = 0.25
_CLEAN_UP: Final = 0.16
_OVERLAP_SHARE_MAX: Final = 0.05
_QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedArrivals:
    """An ``arrivals`` table and how it was come by."""

    table: dict[str, Any]
    pattern: str
    gap_mean_ms: float
    gap_cv: float  # standard deviation over mean: 0 a clock, 1 a Poisson process
    down_ms: float = 0.0  # how long it did not run, between two of its commits


def begins_us(commits: Sequence[Commit]) -> list[int]:
    """When each of ``commits`` began, in their order.

    A log says it. Of a snapshot with a report: the report's duration before the end of the commit, and the end is a
    while after the snapshot's own time. Without a duration, the snapshot's time is all there is.
    """
    known = [each for each in commits if each.duration_ms is not None]
    single = [float(each.duration_ms or 0.0) for each in known if each.attempts in (1, None)]
    per_attempt = (float(each.duration_ms or 0.0) / (each.attempts or 1) for each in known)
    one_ms = median(single) if single else min(per_attempt, default=0.0)
    begins = []
    for commit in commits:
        if commit.is_submission or commit.duration_ms is None:
            begins.append(commit.time_us)
        else:
            after_ms = one_ms * (_AFTER_STAMP + _CLEAN_UP * ((commit.attempts or 1) - 1))
            begins.append(commit.time_us - round(1000.0 * max(0.0, commit.duration_ms - after_ms)))
    return begins


def fit_arrivals(commits: Sequence[Commit], window_ms: float, origin_us: int | None = None) -> FittedArrivals:
    """The law of one writer's submissions; the whole table was watched for ``window_ms`` from ``origin_us`` on."""
    times = sorted(begins_us(commits))
    gaps = [(after - before) / 1000.0 for before, after in itertools.pairwise(times)]
    positive = [gap for gap in gaps if gap > 0.0]
    first_ms = (times[0] - (times[0] if origin_us is None else origin_us)) / 1000.0
    if len(positive) < GAPS_MIN:
        clock = _periodic(gaps, first_ms, _ON_GRID_FEW) if len(positive) >= PERIODIC_GAPS_MIN else None
        mean_ms = max(1.0, window_ms / max(1, len(times)))
        if clock is not None and min(positive) == min(gaps):
            return clock
        return FittedArrivals(
            table={"kind": POISSON, "mean_ms": mean_ms}, pattern=FEW, gap_mean_ms=mean_ms, gap_cv=math.nan
        )
    mean_ms = fmean(gaps)
    cv = float(np.std(gaps)) / mean_ms
    closed = _closed_loop(commits)
    clock = None if closed else _periodic(gaps, first_ms, _ON_GRID)
    if clock is not None:
        return clock
    table, pattern = closed or _renewal(gaps, mean_ms, cv)
    return FittedArrivals(table=table, pattern=pattern, gap_mean_ms=mean_ms, gap_cv=cv)


def _closed_loop(commits: Sequence[Commit]) -> tuple[dict[str, Any], str] | None:
    """One client that commits again soon after it has committed; only durations can show it."""
    if any(commit.duration_ms is None for commit in commits):
        return None
    both = sorted(zip(begins_us(commits), commits, strict=True), key=lambda pair: pair[0])
    begins, ordered = [begin for begin, _ in both], [commit for _, commit in both]
    pauses = [
        (after - before) / 1000.0 - float(commit.duration_ms or 0.0)
        for before, after, commit in zip(begins, begins[1:], ordered, strict=False)
    ]
    usual_ms = median(float(commit.duration_ms or 0.0) for commit in commits)
    overlaps = sum(pause < -0.25 * usual_ms for pause in pauses) / len(pauses)
    if overlaps > _OVERLAP_SHARE_MAX or median(pauses) > usual_ms:
        return None
    return {"kind": "closed", "clients": 1, "think_ms": quantile_table([max(0.0, pause) for pause in pauses])}, CLOSED


def _periodic(gaps: Sequence[float], first_ms: float, near: float) -> FittedArrivals | None:
    """A clock, of which some ticks may be missing: every gap is near a multiple of one period.

    A few long gaps, in which the job was down, are left out.
    """
    guess = median(gap for gap in gaps if gap > 0.0)
    holes = [gap for gap in gaps if gap > (_HOLE_TICKS + 0.5) * guess]
    kept = [gap for gap in gaps if gap <= (_HOLE_TICKS + 0.5) * guess]
    if len(holes) > _HOLES_SHARE_MAX * len(gaps):
        return None
    counts = [max(1, round(gap / guess)) for gap in kept]
    if sum(count == 1 for count in counts) < 0.75 * len(counts) or sum(counts) > _TICKS_PER_COMMIT_MAX * len(counts):
        return None
    period_ms = sum(kept) / sum(counts)
    residuals = [gap - count * period_ms for gap, count in zip(kept, counts, strict=True)]
    if fmean(abs(each) for each in residuals) > near * period_ms:
        return None
    # A tick is late by a uniform jitter J, so that a gap has the variance J^2 / 6.
    jitter_ms = math.sqrt(6.0) * float(np.std(residuals))
    offset_ms = first_ms - jitter_ms / 2.0
    if (grid := _find_grid(gaps, first_ms, period_ms)) is not None and grid[0] < jitter_ms:
        jitter_ms, period_ms, offset_ms = grid
        if offset_ms < -jitter_ms:  # its first commit was late, for a tick before the table was watched
            offset_ms += period_ms
    jitter_ms = round(min(0.9 * period_ms, jitter_ms), 3)
    table: dict[str, Any] = {"kind": PERIODIC, "period_ms": round(period_ms, 3), "jitter_ms": jitter_ms}
    offset_ms = round(max(0.0, offset_ms), 3)
    if offset_ms > 0.0:
        table["offset_ms"] = offset_ms
    return FittedArrivals(
        table=table, pattern=PERIODIC, gap_mean_ms=period_ms, gap_cv=float(np.std(kept)) / period_ms, down_ms=sum(holes)
    )


def _find_grid(gaps: Sequence[float], first_ms: float, guess_ms: float) -> tuple[float, float, float] | None:
    """Jitter, period and first tick of a clock that keeps time, whoever was late; None if there are too few gaps.

    A client that sleeps between two commits keeps none: its ticks wander off any grid, and what the gaps say holds.
    """
    if len(gaps) < GAPS_MIN:
        return None
    ticks = np.concatenate([[0.0], np.cumsum(np.rint(np.asarray(gaps) / guess_ms))])
    times = first_ms + np.concatenate([[0.0], np.cumsum(gaps)])
    half = len(ticks) // 2
    apart = ticks[-half:] - ticks[:half]
    period_ms = float(np.median((times[-half:] - times[:half])[apart > 0.0] / apart[apart > 0.0]))
    low, mid, high = (float(each) for each in np.quantile(times - ticks * period_ms, (0.25, 0.5, 0.75)))
    jitter_ms = 2.0 * (high - low)  # the middle half of a uniform law
    return jitter_ms, period_ms, mid - jitter_ms / 2.0


def _renewal(gaps: Sequence[float], mean_ms: float, cv: float) -> tuple[dict[str, Any], str]:
    low, high = _POISSON_CV
    if low <= cv <= high and exponential_distance(gaps, mean_ms) * math.sqrt(len(gaps)) <= _KS_95:
        return {"kind": POISSON, "mean_ms": round(mean_ms, 3)}, POISSON
    sigma = math.sqrt(math.log(1.0 + cv * cv))
    table = {"kind": "lognormal", "mean_ms": round(mean_ms, 3), "sigma": round(min(8.0, sigma), 4)}
    return table, BURSTS if cv > 1.0 else IRREGULAR


def exponential_distance(gaps: Sequence[float], mean_ms: float) -> float:
    """Kolmogorov's distance of the gaps from the exponential law with that mean."""
    ordered = np.sort(np.asarray(gaps, dtype=np.float64))
    law = 1.0 - np.exp(-ordered / mean_ms)
    n = len(ordered)
    above = np.arange(1, n + 1) / n - law
    below = law - np.arange(n) / n
    return float(max(above.max(), below.max()))


def quantile_table(values: Sequence[float]) -> dict[str, Any]:
    """An empirical distribution table through some quantiles."""
    points = np.quantile(np.asarray(values, dtype=np.float64), _QUANTILES)
    return {
        "distribution": "empirical",
        "quantiles": [[share, round(float(ms), 3)] for share, ms in zip(_QUANTILES, points, strict=True)],
    }
