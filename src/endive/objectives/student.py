"""Student's t: how many standard errors an interval reaches to either side of a mean.

This file defines the quantile, from finite sums and without a library of statistics. Which figures get such an
interval is said where they are computed.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95  # two-sided

_SERIES_DEGREES_MIN: Final = 100  # from here on the expansion is exact to nine digits
_BISECTIONS: Final = 60


@cache
def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """How many standard errors the interval reaches to either side of a mean with ``degrees`` of freedom."""
    assert degrees >= 1, "one value has no spread"
    if degrees >= _SERIES_DEGREES_MIN:
        return _expanded(degrees, confidence)
    low, high = 0.0, math.pi / 2.0  # of the angle whose tangent is t / sqrt(degrees)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if _central_probability(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


def student_t_table(values_max: int) -> list[float]:
    """``student_t`` for 2, 3, ... up to ``values_max`` values; at least one entry."""
    return [student_t(count - 1) for count in range(2, max(2, values_max) + 1)]


@cache
def normal_z(confidence: float = CONFIDENCE) -> float:
    """The same for a spread that is known: the quantile of the normal distribution."""
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0)


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


def _expanded(degrees: int, confidence: float) -> float:
    """Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5)."""
    z, n = normal_z(confidence), float(degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )
