"""Uniform latency between two bounds. Defines the family's moments, exact under a floor as well."""

from __future__ import annotations

from dataclasses import dataclass

from endive.distributions.code import LINEAR, Component
from endive.distributions.distribution import LatencyFamily, check_number


@dataclass(frozen=True)
class UniformLatency(LatencyFamily):
    """Evenly spread from ``low_ms`` to ``high_ms``, at least ``min_latency_ms``."""

    low_ms: float
    high_ms: float
    min_latency_ms: float = 0.0

    def __post_init__(self) -> None:
        check_number("low_ms", self.low_ms)
        check_number("high_ms", self.high_ms, least=self.low_ms)
        check_number("min_latency_ms", self.min_latency_ms)

    def parts(self) -> list[tuple[float, Component]]:
        component = Component(
            kind=LINEAR, scale_ms=self.high_ms - self.low_ms, shift_ms=self.low_ms, floor_ms=self.min_latency_ms
        )
        return [(1.0, component)]

    def mean(self) -> float:
        at_floor, edge_ms = self._above_floor()
        return at_floor * edge_ms + (1.0 - at_floor) * 0.5 * (edge_ms + max(self.high_ms, edge_ms))

    def variance(self) -> float:
        at_floor, edge_ms = self._above_floor()
        span_ms = max(self.high_ms, edge_ms) - edge_ms
        # Distances from the floor: none with probability at_floor, else uniform on (0, span).
        second = (1.0 - at_floor) * span_ms * span_ms / 3.0
        first = (1.0 - at_floor) * span_ms / 2.0
        return second - first * first

    def _above_floor(self) -> tuple[float, float]:
        """The share of draws that the floor lifts, and the least value that is left."""
        if self.min_latency_ms <= self.low_ms:
            return 0.0, self.low_ms
        if self.min_latency_ms >= self.high_ms:
            return 1.0, self.min_latency_ms
        return (self.min_latency_ms - self.low_ms) / (self.high_ms - self.low_ms), self.min_latency_ms

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        span_ms = self.high_ms - self.low_ms
        return self.high_ms - span_ms * tail if is_upper else self.low_ms + span_ms * tail

    def _ends(self) -> tuple[float, float]:
        return self.low_ms, self.high_ms
