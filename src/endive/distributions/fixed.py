"""Fixed latency: every draw is the same. Defines nothing but the number."""

from __future__ import annotations

from dataclasses import dataclass

from endive.distributions.code import CONSTANT, Component
from endive.distributions.distribution import LatencyFamily, check_number


@dataclass(frozen=True)
class FixedLatency(LatencyFamily):
    """Always ``ms``, or the floor if that is more."""

    ms: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("ms", self.ms)
        check_number("min_latency_ms", self.min_latency_ms)

    def mean(self) -> float:
        return max(self.ms, self.min_latency_ms)

    def variance(self) -> float:
        return 0.0

    def parts(self) -> list[tuple[float, Component]]:
        return [(1.0, Component(kind=CONSTANT, scale_ms=self.ms, floor_ms=self.min_latency_ms))]

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.ms

    def _ends(self) -> tuple[float, float]:
        return self.ms, self.ms
