"""Latencies whose quantile function is made of straight lines: fixed, uniform, and through measured quantiles.

None extrapolates: below the first point and beyond the last, the latency is that point's.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from endive.distributions.code import CONSTANT, LINEAR, POLYLINE, Component
from endive.distributions.distribution import LatencyFamily, check_number

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class _Line(LatencyFamily):
    """What a line through points has, under a floor too, in closed form."""

    @abstractmethod
    def _points(self) -> Points:
        """Pairs (p, ms), p rising."""

    def mean(self) -> float:
        return sum((q - p) * 0.5 * (a + b) for p, a, q, b in self._segments())

    def variance(self) -> float:
        centre = self.mean()
        total = 0.0
        for p, a, q, b in self._segments():
            low, high = a - centre, b - centre
            total += (q - p) * (low * low + low * high + high * high) / 3.0
        return total

    def _segments(self) -> list[tuple[float, float, float, float]]:
        """The line from p = 0 to 1, cut where it crosses the floor, as (p, ms, p, ms) from end to end."""
        floor = self.min_latency_ms
        points = self._points()
        points = ((0.0, points[0][1]), *points, (1.0, points[-1][1]))
        segments = []
        for (p, a), (q, b) in pairwise(points):
            if a < floor < b:
                crossing = p + (q - p) * (floor - a) / (b - a)
                segments.append((p, floor, crossing, floor))
                segments.append((crossing, floor, q, b))
            else:
                segments.append((p, max(a, floor), q, max(b, floor)))
        return segments

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        p, points = 1.0 - tail if is_upper else tail, self._points()
        if p <= points[0][0]:
            return points[0][1]
        for (p_below, below), (p_above, above) in pairwise(points):
            if p < p_above:
                return below + (p - p_below) / (p_above - p_below) * (above - below)
        return points[-1][1]

    def _ends(self) -> tuple[float, float]:
        points = self._points()
        return points[0][1], points[-1][1]


@dataclass(frozen=True)
class FixedLatency(_Line):
    """Always ``ms``, or the floor if that is more."""

    ms: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("ms", self.ms)
        check_number("min_latency_ms", self.min_latency_ms)

    def _points(self) -> Points:
        return ((0.5, self.ms),)

    def _component(self) -> Component:
        return Component(kind=CONSTANT, scale_ms=self.ms)


@dataclass(frozen=True)
class UniformLatency(_Line):
    """Evenly spread from ``low_ms`` to ``high_ms``, at least ``min_latency_ms``."""

    low_ms: float
    high_ms: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("low_ms", self.low_ms)
        check_number("high_ms", self.high_ms, least=self.low_ms)
        check_number("min_latency_ms", self.min_latency_ms)

    def _points(self) -> Points:
        return ((0.0, self.low_ms), (1.0, self.high_ms))

    def _component(self) -> Component:
        return Component(kind=LINEAR, scale_ms=self.high_ms - self.low_ms, shift_ms=self.low_ms)


@dataclass(frozen=True)
class EmpiricalLatency(_Line):
    """A line through the points ``(p, ms)``, level beyond them, and at least ``min_latency_ms``."""

    quantiles: Points
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        points = _pairs(self.quantiles)
        object.__setattr__(self, "quantiles", points)
        check_number("min_latency_ms", self.min_latency_ms)
        if not points:
            raise ValueError("quantiles = [] is not allowed; give at least one [p, ms] pair.")
        for p, ms in points:
            check_number("quantiles: p", p, greatest=1.0)
            check_number("quantiles: ms", ms)
        for (p, ms), (next_p, next_ms) in pairwise(points):
            if next_p <= p or next_ms < ms:
                raise ValueError(
                    f"quantiles: [{next_p!r}, {next_ms!r}] after [{p!r}, {ms!r}] is not allowed; p must rise "
                    "from pair to pair, and ms must not fall."
                )

    def _points(self) -> Points:
        return self.quantiles

    def _component(self) -> Component:
        table = np.array([p for p, _ in self.quantiles] + [ms for _, ms in self.quantiles], dtype=np.float64)
        return Component(kind=POLYLINE, scale_ms=1.0, table=table, extent=len(self.quantiles))


def _pairs(quantiles: object) -> Points:
    """What was given, as pairs; refused if it is anything else."""
    if not isinstance(quantiles, list | tuple):
        raise ValueError(f"quantiles = {quantiles!r} is not allowed; give a list of [p, ms] pairs.")
    for pair in quantiles:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            shown = list(pair) if isinstance(pair, tuple) else pair
            raise ValueError(f"quantiles: {shown!r} is not allowed; give pairs of [p, ms].")
    return tuple((p, ms) for p, ms in quantiles)
