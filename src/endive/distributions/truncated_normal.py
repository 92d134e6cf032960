"""Normal latency with the mass below a minimum removed (not moved onto it).

A draw below ``min_ms`` never happens, and what remains keeps its proportions. Lifting draws to a floor is another
thing: ``min_latency_ms``.
"""

from __future__ import annotations

from dataclasses import dataclass

from endive.distributions.code import CONSTANT, Component
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.portable import exp, normal_tail, normal_tail_quantile
from endive.distributions.table import one_by_one, smooth_component

STDDEV_MS_MIN = 1.0e-6  # a thousandth of the clock's tick; the cut in deviations stays a finite number
DEVIATIONS_ABOVE_MEAN_MAX = 30.0  # a minimum farther out leaves nothing to sample
_ONE_OVER_SQRT_TWO_PI = 0.3989422804014327


@dataclass(frozen=True)
class TruncatedNormalLatency(LatencyFamily):
    """Normal, given that it is at least ``min_ms``; mean and deviation are those before the truncation."""

    mean_ms: float
    stddev_ms: float
    min_ms: float = 0.0
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("mean_ms", self.mean_ms)
        check_number("stddev_ms", self.stddev_ms)
        if 0.0 < self.stddev_ms < STDDEV_MS_MIN:
            raise ValueError(f"stddev_ms = {self.stddev_ms!r} is not allowed; give 0 or at least {STDDEV_MS_MIN:g}.")
        check_number("min_ms", self.min_ms)
        check_number("min_latency_ms", self.min_latency_ms)
        if self.min_ms > self.mean_ms + DEVIATIONS_ABOVE_MEAN_MAX * self.stddev_ms:
            raise ValueError(
                f"min_ms = {self.min_ms!r} removes the whole of a normal with mean_ms = {self.mean_ms!r} and "
                f"stddev_ms = {self.stddev_ms!r}; give a min_ms nearer to the mean."
            )

    def mean(self) -> float:
        if self.stddev_ms == 0.0:
            return max(self.mean_ms, self.min_latency_ms)
        if self.min_latency_ms > self.min_ms:
            return super().mean()
        return self.mean_ms + self.stddev_ms * self._hazard()

    def variance(self) -> float:
        if self.stddev_ms == 0.0:
            return 0.0
        if self.min_latency_ms > self.min_ms:
            return super().variance()
        hazard = self._hazard()
        return self.stddev_ms * self.stddev_ms * (1.0 + hazard * (self._cut() - hazard))

    def _component(self) -> Component:
        if self.stddev_ms == 0.0:
            return Component(kind=CONSTANT, scale_ms=self.mean_ms)
        cut = self._cut()
        return smooth_component(_quantiles, cut, normal_tail(cut), scale_ms=self.stddev_ms, shift_ms=self.min_ms)

    def _cut(self) -> float:
        """The minimum in standard deviations from the mean."""
        return (self.min_ms - self.mean_ms) / self.stddev_ms

    def _hazard(self) -> float:
        """Density over tail of the standard normal at the cut: the mean of what remains, in deviations."""
        cut = self._cut()
        return _ONE_OVER_SQRT_TWO_PI * exp(-0.5 * cut * cut) / normal_tail(cut)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        if self.stddev_ms == 0.0:
            return self.mean_ms
        cut = self._cut()
        return self.min_ms + self.stddev_ms * _above_cut(cut, normal_tail(cut), tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        return (self.mean_ms, self.mean_ms) if self.stddev_ms == 0.0 else (self.min_ms, float("inf"))


def _above_cut(cut: float, kept: float, tail: float, is_upper: bool) -> float:
    """How far above ``cut`` a standard normal lies, given that it does, with ``tail`` above (or below) it."""
    above = kept * (tail if is_upper else 1.0 - tail)
    if above <= 0.5:
        return max(normal_tail_quantile(above) - cut, 0.0)
    below = normal_tail(-cut) + kept * (1.0 - tail if is_upper else tail)
    return max(-normal_tail_quantile(min(below, 0.5)) - cut, 0.0)


_quantiles = one_by_one(_above_cut)
