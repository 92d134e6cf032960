"""Gamma latency, given by its mean and shape.

The special functions it stands on are in ``incomplete_gamma``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from endive.distributions.code import SMOOTH, Component, FloatArray
from endive.distributions.distribution import LatencyFamily, check_number
from endive.distributions.incomplete_gamma import gamma_tail_quantile
from endive.distributions.table import one_by_one, smooth_table

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

    def parts(self) -> list[tuple[float, Component]]:
        table, extent = _table(self.shape)
        component = Component(
            kind=SMOOTH, scale_ms=self.mean_ms / self.shape, floor_ms=self.min_latency_ms, table=table, extent=extent
        )
        return [(1.0, component)]

    def _unfloored(self, tail: float, is_upper: bool) -> float:
        return self.mean_ms / self.shape * gamma_tail_quantile(self.shape, tail, is_upper)

    def _ends(self) -> tuple[float, float]:
        return 0.0, float("inf")


@lru_cache(maxsize=256)
def _table(shape: float) -> tuple[FloatArray, int]:
    return smooth_table(one_by_one(lambda tail, is_upper: gamma_tail_quantile(shape, tail, is_upper)))
