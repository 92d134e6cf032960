"""This file defines the figures by which model and reality are compared, and when two of them agree.

They agree if the seen value lies where 95 of 100 runs of the model lie, or if the model is within the limits that
``endive verify load`` holds it to: 5 % of a rate, 10 % of a duration, 5 points of a share. Where they do not, but the
model is within those limits of the interval of what was seen, too few commits were seen to tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from endive.objectives.intervals import wilson
from endive.observation.log import FAILED
from endive.workload.trace import epoch_us
from endive.workload.trace_file import is_empty

RATE_ALLOWED: Final = 0.05
DURATION_ALLOWED: Final = 0.10
SHARE_ALLOWED_POINTS: Final = 5.0
QUANTILES: Final = (0.5, 0.95)
BAND: Final = (0.025, 0.975)
Z_95: Final = 1.96
COUNT_MIN: Final = 8  # fewer commits have no quantiles worth comparing
_MEASURE: Final = "Measure your store and catalog (endive measure), or give the profile with --profile."
_ASSUMED: Final = (
    "What the source does between reading and committing is assumed: give it with --assume source.NAME.runtime=..."
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The commits of one source, real or simulated; durations and attempts of those that committed, where known."""

    times_ms: Floats
    durations_ms: Floats
    attempts: Ints
    failed: int
    ended: int

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        """Several sources as one."""
        return cls(
            times_ms=np.sort(np.concatenate([part.times_ms for part in parts])),
            durations_ms=np.concatenate([part.durations_ms for part in parts]),
            attempts=np.concatenate([part.attempts for part in parts]),
            failed=sum(part.failed for part in parts),
            ended=sum(part.ended for part in parts),
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
    advice: str

    @property
    def error(self) -> float:
        """How far the model is off, in units of what is allowed."""
        distance = abs(self.model - self.real)
        scale = self.allowed * (abs(self.real) if self.is_relative else 1.0)
        return distance / scale if scale > 0.0 else (0.0 if distance == 0.0 else math.inf)

    @property
    def holds(self) -> bool:
        """Whether model and reality agree."""
        low, high = self.model_interval
        return bool(self.error <= 1.0 or low <= self.real <= high)

    @property
    def is_unclear(self) -> bool:
        """Whether they differ, but by no more than is allowed beside the interval of what was seen."""
        low, high = self.real_interval
        margin = self.allowed * (abs(self.real) if self.is_relative else 1.0)
        return bool(not self.holds and low - margin <= self.model <= high + margin)


def seen_of_trace(columns: Mapping[str, list[Any]]) -> dict[str, Seen]:
    """The real commits of each source of an observed folder."""
    rows: dict[str, list[tuple[float, float | None, int | None, bool]]] = {}
    for row, (when, name, duration, attempts, outcome) in enumerate(
        zip(
            columns["timestamp"],
            columns["source"],
            columns["duration_ms"],
            columns["attempts"],
            columns["outcome"],
            strict=True,
        ),
        start=1,
    ):
        took = None if is_empty(duration) else float(duration)
        begin_ms = epoch_us(Path("trace.csv"), row, "timestamp", when) / 1000.0
        tries = None if is_empty(attempts) else int(attempts)
        rows.setdefault(name, []).append((begin_ms + (took or 0.0), took, tries, str(outcome) not in FAILED))
    return {name: _seen(own) for name, own in rows.items()}


def _seen(rows: Sequence[tuple[float, float | None, int | None, bool]]) -> Seen:
    made = [row for row in rows if row[3]]
    return Seen(
        times_ms=np.sort(np.array([row[0] for row in made], dtype=np.float64)),
        durations_ms=np.array([row[1] for row in made if row[1] is not None], dtype=np.float64),
        attempts=np.array([row[2] for row in made if row[2] is not None], dtype=np.int64),
        failed=len(rows) - len(made),
        ended=len(rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One source: as it was, as the runs of the model have it, and as they have it after a change."""

    real: Seen
    runs: tuple[Seen, ...]
    changed: tuple[Seen, ...]


# ---- which figures, and their intervals ----------------------------------------------------------------


def figures_of(real: Seen, runs: Sequence[Seen], changed: Sequence[Seen]) -> tuple[Figure, ...]:
    """The figures that the history knows; none of a source with too few commits."""
    if len(real.times_ms) < COUNT_MIN or not runs:
        return ()
    sides = Sides(real=real, runs=tuple(runs), changed=tuple(changed))
    span_h = float(real.times_ms[-1] - real.times_ms[0]) / 3.6e6
    found = [_figure("commits", "per hour", sides, lambda seen: _per_hour(seen, span_h), _rate_interval(span_h))]
    if len(real.attempts) >= COUNT_MIN:
        found.append(_share("more than one attempt", sides, _retried))
    if real.failed:
        found.append(_share("failed", sides, _failed))
    if len(real.durations_ms) >= COUNT_MIN:
        found += [_quantile("commit", share, sides, lambda seen: seen.durations_ms) for share in (0.5, 0.95)]
    else:
        found += [_quantile("gap", share, sides, lambda seen: np.diff(seen.times_ms)) for share in (0.5, 0.95)]
    return tuple(found)


def _figure(
    name: str,
    unit: str,
    sides: Sides,
    value: Callable[[Seen], float],
    interval: Callable[[Seen], tuple[float, float]],
    *,
    allowed: float = RATE_ALLOWED,
    is_relative: bool = True,
    advice: str = _MEASURE,
) -> Figure:
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
        advice=advice,
    )


def _band(values: Sequence[float]) -> tuple[float, float]:
    low, high = np.quantile(np.asarray(values, dtype=np.float64), BAND)
    return float(low), float(high)


def _per_hour(seen: Seen, span_h: float) -> float:
    return (len(seen.times_ms) - 1) / span_h if span_h > 0.0 else math.nan


def _rate_interval(span_h: float) -> Callable[[Seen], tuple[float, float]]:
    def interval(seen: Seen) -> tuple[float, float]:
        count = len(seen.times_ms) - 1
        half = Z_95 * math.sqrt(count)
        return max(0.0, count - half) / span_h, (count + half) / span_h

    return interval


def _retried(seen: Seen) -> tuple[int, int]:
    return int((seen.attempts > 1).sum()), len(seen.attempts)


def _failed(seen: Seen) -> tuple[int, int]:
    return seen.failed, seen.ended


def _share(name: str, sides: Sides, count: Callable[[Seen], tuple[int, int]]) -> Figure:
    def percent(seen: Seen) -> float:
        part, whole = count(seen)
        return 100.0 * part / whole if whole else math.nan

    def interval(seen: Seen) -> tuple[float, float]:
        part, whole = count(seen)
        low, high = wilson(part / whole, whole, Z_95)
        return 100.0 * low, 100.0 * high

    return _figure(
        name,
        "%",
        sides,
        percent,
        interval,
        allowed=SHARE_ALLOWED_POINTS,
        is_relative=False,
        advice=_ASSUMED,
    )


def _quantile(name: str, share: float, sides: Sides, values: Callable[[Seen], Floats]) -> Figure:
    def at(seen: Seen) -> float:
        found = values(seen)
        return float(np.quantile(found, share)) if len(found) else math.nan

    def interval(seen: Seen) -> tuple[float, float]:
        return order_interval(np.sort(values(seen)), share)

    return _figure(f"{name} P{round(100 * share)}", "ms", sides, at, interval, allowed=DURATION_ALLOWED)


def order_interval(ordered: Floats, share: float) -> tuple[float, float]:
    """A 95 % interval of a quantile from order statistics: binomial, by its normal approximation."""
    count = len(ordered)
    half = Z_95 * math.sqrt(count * share * (1 - share))
    low, high = math.floor(count * share - half), math.ceil(count * share + half)
    return float(ordered[max(0, low)]), float(ordered[min(count - 1, high)])
