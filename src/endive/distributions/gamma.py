"""Gamma latency, given by its mean and shape, and the exponential: a gamma of shape one, in closed form.

The special functions the gamma stands on are in ``portable``.
"""

from __future__ import annotations

from dataclasses import dataclass

from endive.distributions.code import Component
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.portable import exp, gamma_tail_quantile, log, log1p
from endive.distributions.table import one_by_one, smooth_component

SHAPE_MIN = 0.1
SHAPE_MAX = 10_000.0


@dataclass(frozen=True)
class GammaLatency(LatencyFamily):
    """Gamma with mean ``mean_ms`` and the given shape (1 is exponential), at least ``min_latency_ms``."""

    mean_ms: float
    shape: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("mean_ms", self.mean_ms, is_least_excluded=True)
        check_number("shape", self.shape, least=SHAPE_MIN, greatest=SHAPE_MAX)
        check_number("min_latency_ms", self.min_latency_ms)

    def mean(self) -> float:
        return self.mean_ms if self.min_latency_ms == 0.0 else super().mean()

    def variance(self) -> float:
        return self.mean_ms * self.mean_ms / self.shape if self.min_latency_ms == 0.0 else super().variance()

    def _component(self) -> Component:
        return smooth_component(_gamma_quantiles, self.shape, scale_ms=self.mean_ms / self.shape)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.mean_ms / self.shape * gamma_tail_quantile(self.shape, tail, is_upper)


@dataclass(frozen=True)
class ExponentialLatency(LatencyFamily):
    """Exponential with mean ``mean_ms``, at least ``min_latency_ms``."""

    mean_ms: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("mean_ms", self.mean_ms, is_least_excluded=True)
        check_number("min_latency_ms", self.min_latency_ms)

    def mean(self) -> float:
        """floor + mean e**(-floor / mean): what exceeds the floor is exponential again."""
        return self.min_latency_ms + self.mean_ms * exp(-self.min_latency_ms / self.mean_ms)

    def variance(self) -> float:
        above = exp(-self.min_latency_ms / self.mean_ms)
        return self.mean_ms * self.mean_ms * above * (2.0 - above)

    def _component(self) -> Component:
        return smooth_component(_exponential_quantiles, scale_ms=self.mean_ms)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.mean_ms * _exponential_quantile(tail, is_upper)


def _exponential_quantile(tail: float, is_upper: bool) -> float:
    return -log(tail) if is_upper else -log1p(-tail)


_gamma_quantiles = one_by_one(gamma_tail_quantile)
_exponential_quantiles = one_by_one(_exponential_quantile)
