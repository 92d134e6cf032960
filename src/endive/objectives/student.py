"""Student's t: how many standard errors an interval reaches to either side of a mean.

From finite sums, without a library of statistics.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
import numpy.typing as npt

CONFIDENCE: Final = 0.95  # two-sided

_SERIES_DEGREES_MIN: Final = 100  # from here on the expansion is exact to nine digits
_BISECTIONS: Final = 60


def student_t(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors the interval reaches to either side of a mean with ``degrees`` of freedom.

    Between whole degrees it is interpolated by their reciprocals, in which t is nearly straight.
    """
    assert degrees >= 1.0, "one value has no spread"
    below = math.floor(degrees)
    if degrees == below:
        return _whole(below, confidence)
    share = (1.0 / below - 1.0 / degrees) / (1.0 / below - 1.0 / (below + 1))
    return (1.0 - share) * _whole(below, confidence) + share * _whole(below + 1, confidence)


def student_ts(degrees: Any, confidence: float = CONFIDENCE) -> npt.NDArray[np.float64]:
    """``student_t`` of every number of an array; NaN below one."""
    wanted = np.asarray(degrees, np.float64)
    most = int(np.max(wanted, initial=1.0))
    table = np.array([_whole(count, confidence) for count in range(1, most + 2)])
    known = 1.0 / np.arange(1.0, most + 2.0)
    with np.errstate(divide="ignore"):
        ts = np.interp(1.0 / wanted, known[::-1], table[::-1])
    return np.where(wanted >= 1.0, ts, np.nan)


@cache
def _whole(degrees: int, confidence: float) -> float:
    if degrees >= _SERIES_DEGREES_MIN:
        return _expand(degrees, confidence)
    low, high = 0.0, math.pi / 2.0  # of the angle whose tangent is t / sqrt(degrees)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if _central_probability(middle, degrees) < confidence:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(degrees)


@cache
def normal_z(confidence: float = CONFIDENCE) -> float:
    """Return the same for a spread that is known: the quantile of the normal distribution."""
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


def _expand(degrees: int, confidence: float) -> float:
    """Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5)."""
    z, n = normal_z(confidence), float(degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )
