"""Exponential latency: memoryless, given by its mean. Defines the family's closed forms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from endive.distributions.code import SMOOTH, Component, FloatArray
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.portable import exp, log, log1p
from endive.distributions.table import one_by_one, smooth_table


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

    def parts(self) -> list[tuple[float, Component]]:
        table, extent = _table()
        component = Component(
            kind=SMOOTH, scale_ms=self.mean_ms, floor_ms=self.min_latency_ms, table=table, extent=extent
        )
        return [(1.0, component)]

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.mean_ms * _unit_quantile(tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        return 0.0, float("inf")


def _unit_quantile(tail: float, is_upper: bool) -> float:
    return -log(tail) if is_upper else -log1p(-tail)


@cache
def _table() -> tuple[FloatArray, int]:
    return smooth_table(one_by_one(_unit_quantile))
