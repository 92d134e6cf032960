"""Exact 95 % intervals from few events: of a count (Poisson), and of a share (binomial, Clopper and Pearson).

And the 95 % quantile of chi square.

Ten MERGEs that all failed say a lot, and an interval by its normal approximation says nothing of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from endive.objectives.intervals import wilson

TAIL: Final = 0.025
Z_95: Final = 1.96
Z_ONE_SIDED: Final = 1.645
_MANY: Final = 1_000  # from here on the approximation is as good, and quicker
_STEPS: Final = 60


def count_interval(count: int) -> tuple[float, float]:
    """The means for which ``count`` events are neither too many nor too few."""
    if count >= _MANY:
        half = Z_95 * math.sqrt(count)
        return count - half, count + half
    top = 3.0 * count + 10.0
    low = 0.0 if count == 0 else _solve(lambda mean: 1.0 - _poisson_up_to(count - 1, mean) - TAIL, top)
    return low, _solve(lambda mean: TAIL - _poisson_up_to(count, mean), top)


def share_interval(hits: int, of: int) -> tuple[float, float]:
    """The shares for which ``hits`` of ``of`` are neither too many nor too few."""
    if of == 0:
        return 0.0, 1.0
    if of >= _MANY:
        low, high = wilson(hits / of, of, Z_95)
        return float(low), float(high)
    low = 0.0 if hits == 0 else _solve(lambda share: 1.0 - _binomial_up_to(hits - 1, of, share) - TAIL, 1.0)
    high = 1.0 if hits == of else _solve(lambda share: TAIL - _binomial_up_to(hits, of, share), 1.0)
    return low, high


def chi_square_95(freedom: int) -> float:
    """The 95 % quantile of chi square, by Wilson and Hilferty's approximation."""
    part = 2.0 / (9.0 * freedom)
    return float(freedom * (1.0 - part + Z_ONE_SIDED * math.sqrt(part)) ** 3)


def _solve(rising: Callable[[float], float], top: float) -> float:
    low, high = 0.0, top
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if rising(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0


def _poisson_up_to(count: int, mean: float) -> float:
    return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count + 1))


def _binomial_up_to(hits: int, of: int, share: float) -> float:
    yes, no = math.log(share), math.log1p(-share)
    whole = math.lgamma(of + 1)
    return math.fsum(
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * yes + (of - k) * no)
        for k in range(hits + 1)
    )
