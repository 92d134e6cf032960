"""Lognormal latency, by mu, by median or by mean: three constructors, never one read as another.

And size-based latency: a base, a price per MiB, and lognormal noise of median one on their sum. Which figures to use, a
storage profile or the workload says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from endive.distributions.code import CONSTANT, Component, FloatArray
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.linear import FixedLatency
from endive.distributions.portable import exp, expm1, log, normal_tail, normal_tail_quantile
from endive.distributions.table import smooth_component
from endive.kernel import jitted

SIGMA_MAX = 8.0
MU_MAX = 60.0  # a median of 1e26 ms: anything beyond is a mistaken unit
_BYTES_PER_MIB = 1 << 20


@dataclass(frozen=True)
class LognormalLatency(LatencyFamily):
    """``shift_ms + (e**mu + latency_per_mib_ms * MiB) * e**(sigma Z)``, at least ``min_latency_ms``.

    ``mu`` and ``sigma`` are the mean and deviation of the logarithm of what lies above the shift, in ms.
    """

    mu: float
    sigma: float
    min_latency_ms: float = 0.0
    shift_ms: float = 0.0
    latency_per_mib_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("mu", self.mu, least=-MU_MAX, greatest=MU_MAX)
        check_number("sigma", self.sigma, greatest=SIGMA_MAX)
        check_number("min_latency_ms", self.min_latency_ms)
        check_number("shift_ms", self.shift_ms)
        check_number("latency_per_mib_ms", self.latency_per_mib_ms)

    @classmethod
    def by_median(
        cls,
        median_ms: float,
        sigma: float,
        min_latency_ms: float = 0.0,
        shift_ms: float = 0.0,
        latency_per_mib_ms: float = 0.0,
    ) -> LognormalLatency:
        """The lognormal whose median, shift included, is ``median_ms`` for an object of no size."""
        check_number("shift_ms", shift_ms)
        check_number("median_ms", median_ms, least=shift_ms, is_least_excluded=True)
        return cls(log(median_ms - shift_ms), sigma, min_latency_ms, shift_ms, latency_per_mib_ms)

    @classmethod
    def by_mean(
        cls, mean_ms: float, sigma: float, shift_ms: float = 0.0, min_latency_ms: float = 0.0
    ) -> LognormalLatency:
        """The lognormal whose mean, shift included and before any floor, is ``mean_ms``."""
        check_number("sigma", sigma, greatest=SIGMA_MAX)
        check_number("shift_ms", shift_ms)
        check_number("mean_ms", mean_ms, least=shift_ms, is_least_excluded=True)
        mu = log(mean_ms - shift_ms) - 0.5 * sigma * sigma
        return cls(mu, sigma, min_latency_ms, shift_ms)

    def mean(self) -> float:
        """E[max(X, floor)] in closed form."""
        whole = self.shift_ms + exp(self.mu + 0.5 * self.sigma * self.sigma)
        over_shift = self.min_latency_ms - self.shift_ms
        if over_shift <= 0.0:
            return whole
        if self.sigma == 0.0:
            return max(whole, self.min_latency_ms)
        z = (log(over_shift) - self.mu) / self.sigma
        above = self.shift_ms * normal_tail(z)
        above += (whole - self.shift_ms) * normal_tail(z - self.sigma)
        return self.min_latency_ms * normal_tail(-z) + above

    def variance(self) -> float:
        if self.min_latency_ms > self.shift_ms:
            return super().variance()
        square = self.sigma * self.sigma
        return expm1(square) * exp(2.0 * self.mu + square)

    def at_size(self, size_bytes: int) -> LognormalLatency:
        if self.latency_per_mib_ms == 0.0 or size_bytes == 0:
            return self
        base_ms = exp(self.mu) + self.latency_per_mib_ms * (size_bytes / _BYTES_PER_MIB)
        return replace(self, mu=log(base_ms), latency_per_mib_ms=0.0)

    def _component(self) -> Component:
        return _noisy(self.sigma, exp(self.mu), self.latency_per_mib_ms, self.shift_ms)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.shift_ms + exp(self.mu) * _noise(self.sigma, tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        if self.sigma == 0.0:
            return self.shift_ms + exp(self.mu), self.shift_ms + exp(self.mu)
        return self.shift_ms, float("inf")


@dataclass(frozen=True)
class SizeBasedLatency(LatencyFamily):
    """``(base_latency_ms + latency_per_mib_ms * MiB) * e**(sigma Z)``, at least ``min_latency_ms``."""

    base_latency_ms: float
    latency_per_mib_ms: float
    sigma: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("base_latency_ms", self.base_latency_ms)
        check_number("latency_per_mib_ms", self.latency_per_mib_ms)
        check_number("sigma", self.sigma, greatest=SIGMA_MAX)
        check_number("min_latency_ms", self.min_latency_ms)

    def mean(self) -> float:
        return self._at_size_zero().mean()

    def variance(self) -> float:
        return self._at_size_zero().variance()

    def at_size(self, size_bytes: int) -> SizeBasedLatency:
        base_ms = self.base_latency_ms + self.latency_per_mib_ms * (size_bytes / _BYTES_PER_MIB)
        return replace(self, base_latency_ms=base_ms, latency_per_mib_ms=0.0)

    with_size = at_size  # the name the refactoring specification gives it

    def _component(self) -> Component:
        return _noisy(self.sigma, self.base_latency_ms, self.latency_per_mib_ms, 0.0)

    def _at_size_zero(self) -> LognormalLatency | FixedLatency:
        if self.base_latency_ms == 0.0:
            return FixedLatency(0.0, self.min_latency_ms)
        return LognormalLatency.by_median(self.base_latency_ms, self.sigma, self.min_latency_ms)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.base_latency_ms * _noise(self.sigma, tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        if self.sigma == 0.0 or self.base_latency_ms == 0.0:
            return self.base_latency_ms, self.base_latency_ms
        return 0.0, float("inf")


def _noisy(sigma: float, base_ms: float, per_mib_ms: float, shift_ms: float) -> Component:
    """Lognormal noise of median one around a base that may grow with size."""
    if sigma == 0.0:
        return Component(kind=CONSTANT, scale_ms=base_ms, per_mib_ms=per_mib_ms, shift_ms=shift_ms)
    return smooth_component(_noises, sigma, scale_ms=base_ms, per_mib_ms=per_mib_ms, shift_ms=shift_ms)


@jitted
def _noise(sigma: float, tail: float, is_upper: bool) -> float:
    """Quantile of e**(sigma Z) with ``tail`` of the probability above (or below) it."""
    z = normal_tail_quantile(tail)
    return exp(sigma * z) if is_upper else exp(-sigma * z)


@jitted
def _noises(sigma: float, tails: FloatArray, is_upper: bool) -> FloatArray:
    noises = np.empty(len(tails))
    for place in range(len(tails)):
        noises[place] = _noise(sigma, tails[place], is_upper)
    return noises
