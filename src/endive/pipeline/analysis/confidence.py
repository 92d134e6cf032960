"""Confidence intervals of a mean over seeds: Student's t.

This file defines the one constant of the method and the quantile it needs. Pure numbers, no Spark; how the interval
is computed for every figure of a study is ``endive.pipeline.analysis.across_seeds``'s.

Seeds are independent repetitions, so the mean of a figure over n seeds, less its true value, divided by s / sqrt(n),
follows Student's t with n - 1 degrees of freedom as far as the figure is normal across seeds. One seed has no
interval.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

CONFIDENCE: Final = 0.95  # two-sided
METHOD: Final = (
    "two-sided 95 % interval of the mean over seeds: mean +- t * stddev / sqrt(n), with stddev the sample standard "
    "deviation and t the 97.5 % quantile of Student's t with n - 1 degrees of freedom; null for a single seed; cut "
    "off at 0, and shares at 1"
)

_Z: Final = 1.959963984540054  # 97.5 % quantile of the normal distribution
_SERIES_DEGREES_MIN: Final = 100  # from here on the expansion is exact to nine digits
_BISECTIONS: Final = 60


@cache
def student_t(degrees: int) -> float:
    """How many standard errors the 95 % interval reaches to either side of a mean with ``degrees`` of freedom."""
    assert degrees >= 1, "one value has no spread"
    if degrees >= _SERIES_DEGREES_MIN:
        return _expanded(degrees)
    low, high = 0.0, math.pi / 2.0  # of the angle whose tangent is t / sqrt(degrees)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if _central_probability(middle, degrees) < CONFIDENCE:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


def student_t_table(values_max: int) -> list[float]:
    """``student_t`` for 2, 3, ... up to ``values_max`` values; at least one entry."""
    return [student_t(count - 1) for count in range(2, max(2, values_max) + 1)]


def _central_probability(angle: float, degrees: int) -> float:
    """P(|T| < sqrt(degrees) * tan(angle)): the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4."""
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = degrees % 2 == 1
    term = cosine if is_odd else 1.0
    total = 0.0
    for step in range(3 if is_odd else 2, degrees + 1, 2):
        total += term
        term *= cosine * cosine * (step - 1) / step
    return 2.0 / math.pi * (angle + sine * total) if is_odd else sine * total


def _expanded(degrees: int) -> float:
    """Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5)."""
    z, n = _Z, float(degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )
