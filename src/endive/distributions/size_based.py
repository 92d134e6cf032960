"""Size-based latency: a base, a price per MiB, and lognormal noise of median one on their sum.

It is a lognormal whose median grows with size, and leaves the rest to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from endive.distributions.code import Component
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.fixed import FixedLatency
from endive.distributions.lognormal import SIGMA_MAX, LognormalLatency, lognormal_component, lognormal_noise

_BYTES_PER_MIB = 1 << 20


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

    def parts(self) -> list[tuple[float, Component]]:
        component = lognormal_component(
            self.sigma, self.base_latency_ms, self.latency_per_mib_ms, 0.0, self.min_latency_ms
        )
        return [(1.0, component)]

    def _at_size_zero(self) -> LognormalLatency | FixedLatency:
        if self.base_latency_ms == 0.0:
            return FixedLatency(0.0, self.min_latency_ms)
        return LognormalLatency.by_median(self.base_latency_ms, self.sigma, self.min_latency_ms)

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.base_latency_ms * lognormal_noise(self.sigma, tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        if self.sigma == 0.0 or self.base_latency_ms == 0.0:
            return self.base_latency_ms, self.base_latency_ms
        return 0.0, float("inf")
