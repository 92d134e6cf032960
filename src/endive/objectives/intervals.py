"""Intervals of shares, rates, means, percentiles and differences, from whole runs.

Txns of one run are not independent: a convoy fails together, and the phases of jobs are drawn once for all of them. So
a run is the unit: every interval comes from how runs differ, and one run has none. docs/model/certainty.md derives the
formulas, says what they assume and where they stop covering; docs/validation/coverage.md how often they hold the truth.

What stands here is used wherever a figure is shown with its doubt. What a run contributes to a figure is said in
``endive.answers.estimates`` and, for the tables of a study, in ``endive.tables.across_seeds``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from endive.objectives.estimate import Estimate
from endive.objectives.student import normal_z, student_t, student_ts

Floats = npt.NDArray[np.float64]

# Until so many txns have turned out the rarer way, runs cannot show that they agree ...
EVENTS_ENOUGH: Final = 10
# ... and are taken to have this much in common: the correlation of two txns of one run.
CORRELATION_UNSEEN: Final = 0.01
# From so many on, runs may show that they differ less than chance ...
EVENTS_MANY: Final = 20
COUNT_VARIANCE: Final = 0.25  # ... and a count that all of them show may be one off in every other run
DEGREES_MIN: Final = 2.0  # of freedom, however few runs the spread comes from
# Degrees of freedom for each run that makes an equal part of the spread, chosen by coverage: the spread of a share is
# known less well, because runs differ most in their tails.
MEAN_DEGREES: Final = 2.0
SHARE_DEGREES: Final = 1.25
# Of so few runs that differ more than their txns explain, all may be of one kind while others are of another; the
# degrees of their excess fall with the cube of this part of them, to one. Chosen by coverage of tables that tip.
KINDS_SEEN: Final = 7.5
# Where at most so many of all values may lie beyond the largest that was seen, they are its tail, which reaches so many
# times as far, or as many times as it is too thick for the percentile. Chosen by coverage: twice as far covers as well
# as ten times, once does not.
TAIL_MOST: Final = 0.25
TAIL_REACH: Final = 3.0


@dataclass(frozen=True, slots=True)
class Spread:
    """How sum(y) / sum(x) varies between runs: its standard error, and how many runs that is known from."""

    ratio: float
    error: float
    runs: int
    degrees: float  # of freedom; below runs - 1 where few runs make most of the spread


def spread_of(y: Sequence[float], x: Sequence[float], degrees_per_run: float = MEAN_DEGREES) -> Spread | None:
    """Return the spread between runs with an x; None if there are fewer than two of them."""
    parts, weights = np.asarray(y, np.float64), np.asarray(x, np.float64)
    parts, weights = parts[weights > 0], weights[weights > 0]
    runs = len(weights)
    if runs < 2:
        return None
    total = float(weights.sum())
    ratio = float(parts.sum()) / total
    squares = (parts - ratio * weights) ** 2
    error = math.sqrt(runs / (runs - 1) * float(squares.sum())) / total
    degrees = degrees_of(runs, squares.sum(), (squares * squares).sum(), degrees_per_run)
    return Spread(ratio, error, runs, float(degrees))


def degrees_of(runs: Any, squares: Any, fourths: Any, per_run: float) -> Any:
    """Degrees of freedom of a variance, from the sums of squared residuals and of their squares; takes arrays too.

    Equal residuals give ``runs - 1``. One run that makes all of the spread gives ``DEGREES_MIN``: what one run did says
    little about how far the next may go (Satterthwaite's approximation, with the kurtosis as found).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = per_run * np.square(squares) / np.asarray(fourths, np.float64) - 1.0
    degrees = np.where(np.isnan(degrees), np.inf, np.maximum(degrees, DEGREES_MIN))
    return np.minimum(degrees, np.asarray(runs, np.float64) - 1.0)


# --- shares -------------------------------------------------------------------------------------------


def share_estimate(hits: Sequence[int], of: Sequence[int], pending: int, confidence: float) -> Estimate:
    """Return share of ``hits`` in ``of`` over runs; ``pending`` ones may yet turn out either way."""
    n, hit = sum(of), sum(hits)
    if n == 0:
        return Estimate(None, 0.0, 1.0, 0) if pending else Estimate(None, txns=0)
    design = share_design(hits, of, confidence)
    if design is None:
        return Estimate(hit / n, txns=n, runs=1)
    z, total = normal_z(confidence), n + pending
    low, _ = wilson(hit / total, total / design, z)
    _, high = wilson((hit + pending) / total, total / design, z)
    return Estimate(hit / n, float(low), float(high), n, sum(1 for size in of if size), design)


def share_design(hits: Sequence[int], of: Sequence[int], confidence: float) -> float | None:
    """Return how many txns tell as much about a share as one would if all were independent; None for a single run."""
    spread = spread_of(hits, of, SHARE_DEGREES)
    if spread is None:
        return None
    n = float(sum(of))
    size = sum(count * count for count in of) / n  # of the run a txn is in
    events = min(sum(hits), n - sum(hits))
    return float(design_of(spread.ratio, spread.error, spread.runs, spread.degrees, n, size, events, confidence))


def design_of(
    share: Any, error: Any, runs: Any, degrees: Any, txns: Any, txns_per_run: Any, events: Any, confidence: float
) -> Any:
    """Return the design effect of a share, with the doubt about the error in it; takes arrays too.

    It is below 1 where many txns turned out the rarer way and runs agree on how many: in a closed loop one failure
    makes room for a commit.
    """
    z = normal_z(confidence)
    last = np.asarray(runs, np.float64) - 1.0
    kinds = np.minimum(degrees, np.maximum(1.0, (np.asarray(runs, np.float64) / KINDS_SEEN) ** 3))
    whole, few, least = (np.square(student_ts(found, confidence) / z) for found in (last, degrees, kinds))
    with np.errstate(divide="ignore", invalid="ignore"):
        independent = share * (1.0 - np.asarray(share, np.float64)) / txns  # the variance of as many such txns
        agreed = np.minimum(1.0, COUNT_VARIANCE * runs / np.square(txns) / independent)
        measured = np.maximum(np.square(error) / independent, agreed)
        chance = 1.0 + z * np.sqrt(2.0 / last)  # how far runs that are alike may seem to differ
    measured = np.nan_to_num(measured, nan=0.0, posinf=0.0)
    seen = whole * measured + (few - whole) * np.maximum(0.0, measured - 1.0)
    seen = seen + (least - few) * np.maximum(0.0, measured - chance)
    may_agree = np.asarray(events, np.float64) >= EVENTS_MANY
    return np.maximum(seen, np.where(may_agree, 0.0, unseen_design(txns_per_run, events)))


def unseen_design(txns_per_run: Any, events: Any) -> Any:
    """The design effect of txns of which so few turned out the rarer way that runs cannot show it; takes arrays too."""
    thin = np.maximum(0.0, 1.0 - np.asarray(events, np.float64) / EVENTS_ENOUGH)
    return np.maximum(1.0, 1.0 + CORRELATION_UNSEEN * (np.asarray(txns_per_run, np.float64) - 1.0) * thin)


def wilson(share: Any, n: Any, z: float) -> tuple[Any, Any]:
    """Wilson's score interval of a share among ``n``; takes arrays too. That of all ends at 1, exactly."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = np.maximum(0.0, middle - reach), np.minimum(1.0, middle + reach)
    return np.where(np.asarray(share) <= 0.0, 0.0, low)[()], np.where(np.asarray(share) >= 1.0, 1.0, high)[()]


# --- percentiles --------------------------------------------------------------------------------------


def percentile_estimate(runs: Sequence[Floats], percent: float, confidence: float) -> Estimate:
    """Return a percentile of all values of all runs: every value of which the share below may be that percentage.

    Beyond the largest value the tail decides; an end is 0 or infinite if nothing that was seen bounds it.
    """
    ordered = [np.sort(values) for values in runs if len(values)]
    if not ordered:
        return Estimate(None, txns=0)
    values = np.sort(np.concatenate(ordered))
    n, share = len(values), percent / 100.0
    percentile = float(np.percentile(values, percent))
    sizes = [len(part) for part in ordered]
    if len(ordered) < 2:
        return Estimate(percentile, txns=n, runs=1)

    def may_be_below(value: Any, side: Literal["left", "right"]) -> tuple[float, float]:
        below = [int(np.searchsorted(part, value, side)) for part in ordered]
        estimate = share_estimate(below, sizes, 0, confidence)
        assert estimate.low is not None
        assert estimate.high is not None
        return estimate.low, estimate.high

    first = _first(n, lambda place: may_be_below(values[place], "right")[1] >= share)
    last = _first(n, lambda place: may_be_below(values[place], "left")[0] > share)
    low = 0.0 if may_be_below(values[0], "left")[1] >= share else float(values[min(first, n - 1)])
    if last < n:
        high = float(values[max(last - 1, 0)])
    else:
        high = float(values[-1]) * beyond_seen(1.0 - may_be_below(values[-1], "right")[0], 1.0 - share)
    return Estimate(percentile, min(low, percentile), max(high, percentile), n, len(ordered))


def beyond_seen(share_beyond: float, share: float) -> float:
    """How many times the largest value that was seen a percentile may be, if so large a share may lie beyond it."""
    if share_beyond < share:
        return 1.0
    is_tail = share > 0.0 and share_beyond <= TAIL_MOST
    return max(TAIL_REACH, share_beyond / share) if is_tail else math.inf


def _first(count: int, is_so: Any) -> int:
    """Return the first of ``count`` places that is so; ``count`` if none is.

    It is so of all places after the first, except near the ends: too few txns lie beyond a place there to show that
    runs agree, and it may not be so though it is of the place before. So the ends are gone through, the rest bisected.
    """
    begin, end = EVENTS_MANY, max(EVENTS_MANY, count - EVENTS_MANY)
    early = next((place for place in range(min(begin, count)) if is_so(place)), None)
    if early is not None:
        return early
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle + 1
    if low < end:
        return low
    return next((place for place in range(end, count) if is_so(place)), count)


# --- means and rates ----------------------------------------------------------------------------------


def ratio_estimate(y: Sequence[float], x: Sequence[float], confidence: float) -> Estimate:
    """sum(y) / sum(x) over runs, where y is never negative: a mean latency, requests per commit."""
    total = sum(x)
    if total <= 0:
        return Estimate(None)
    spread = spread_of(y, x)
    if spread is None:
        return Estimate(sum(y) / total, runs=1)
    low, high = score_ends(spread.ratio, student_t(spread.degrees, confidence) * spread.error)
    return Estimate(spread.ratio, float(low), float(high), runs=spread.runs)


def rate_estimate(counts: Sequence[float], lengths: Sequence[float], confidence: float) -> Estimate:
    """Return events per unit of ``lengths``: txns per second, retries per txn. Never surer than whole numbers allow."""
    rate = ratio_estimate(counts, lengths, confidence)
    if rate.value is None or rate.low is None or rate.high is None or rate.runs is None:
        return rate
    unseen = count_reach(rate.runs, confidence) * rate.runs / sum(lengths)
    high = rate.high if rate.value else none_reach(confidence) / sum(lengths)
    return Estimate(
        rate.value,
        max(0.0, min(rate.low, rate.value - unseen)),
        max(high, rate.value + unseen),
        runs=rate.runs,
    )


def events_estimate(counts: Sequence[float], of: Sequence[float], confidence: float) -> Estimate:
    """Return events per txn, such as retries: few of them are no surer than as few failures would be."""
    rate, n = rate_estimate(counts, of, confidence), sum(of)
    if rate.value is None or rate.low is None or rate.high is None or sum(counts) >= EVENTS_ENOUGH:
        return rate
    design = unseen_design(sum(count * count for count in of) / n, sum(counts))
    if rate.value:
        low, high = score_ends(rate.value, normal_z(confidence) * math.sqrt(design * sum(counts)) / n)
    else:
        low, high = 0.0, none_reach(confidence) * design / n
    return Estimate(rate.value, min(rate.low, float(low)), max(rate.high, float(high)), runs=rate.runs)


def count_reach(runs: Any, confidence: float) -> Any:
    """How far the mean of a count may be from a number that every run showed: some runs in which it is one off."""
    return 1.0 - ((1.0 - confidence) / 2.0) ** (1.0 / np.asarray(runs, np.float64))


def none_reach(confidence: float) -> float:
    """Return how many events may be expected where none was seen (Poisson)."""
    return -math.log((1.0 - confidence) / 2.0)


def score_ends(mean: Any, reach: Any) -> tuple[Any, Any]:
    """Ends of an interval of a mean that is never negative, whose variance grows with it; takes arrays too.

    They solve (mean - truth)^2 = reach^2 * truth / mean, so the lower one stays above 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.nan_to_num(np.square(reach) / mean, nan=0.0, posinf=0.0) / 2.0
    half = np.sqrt(np.square(reach) + np.square(skew))
    is_positive = np.asarray(mean) > 0.0
    low = np.where(is_positive, mean + skew - half, np.maximum(0.0, mean - reach))
    return low, np.where(is_positive, mean + skew + half, mean + reach)


# --- differences --------------------------------------------------------------------------------------


def mean_estimate(values: Sequence[float], confidence: float) -> Estimate:
    """Return the mean of values that may be negative, one of each run: differences between two sides, seed by seed."""
    if not values:
        return Estimate(None)
    mean = math.fsum(values) / len(values)
    spread = spread_of(list(values), [1.0] * len(values))
    if spread is None:
        return Estimate(mean, runs=1)
    reach = student_t(spread.degrees, confidence) * spread.error
    return Estimate(mean, mean - reach, mean + reach, runs=spread.runs)


def newcombe(before: Estimate, after: Estimate) -> Estimate:
    """Return the difference of two figures from their own intervals, as if they were independent."""
    a, b = before, after
    assert a.value is not None
    assert b.value is not None
    middle = b.value - a.value
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(middle)
    down = math.hypot(b.value - b.low, a.high - a.value)
    up = math.hypot(b.high - b.value, a.value - a.low)
    return Estimate(middle, middle - down, middle + up)
