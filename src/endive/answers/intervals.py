"""Intervals of shares, ratios and percentiles from clustered samples.

This file defines the statistics; what is a cluster (a batch of a run, or a whole run) is decided in
``endive.answers.estimates``.

Txns of one run are not independent: a convoy fails together. So the variance is taken between clusters. A ratio is
sum(y) / sum(x) with the usual linearised variance. A share gets Wilson's interval with as many txns as would be equally
certain if they were independent (Kish's effective sample size), which stays honest at 0 and 100 %. A percentile gets
Woodruff's interval: the percentiles at the ends of the interval of its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from endive.objectives.estimate import Estimate
from endive.objectives.student import normal_z, student_t

Floats = npt.NDArray[np.float64]


def ratio_estimate(y: Sequence[float], x: Sequence[float], confidence: float) -> Estimate:
    """sum(y) / sum(x) over clusters, cut off at 0."""
    total_x = sum(x)
    if total_x <= 0:
        return Estimate(None)
    ratio = sum(y) / total_x
    error = ratio_error(y, x)
    if error is None:
        return Estimate(ratio)
    reach = student_t(len(x) - 1, confidence) * error
    return Estimate(ratio, max(0.0, ratio - reach), ratio + reach)


def ratio_error(y: Sequence[float], x: Sequence[float]) -> float | None:
    """Standard error of sum(y) / sum(x), from the spread between clusters; None for a single one."""
    n, total_x = len(x), sum(x)
    if n < 2 or total_x <= 0:
        return None
    ratio = sum(y) / total_x
    residuals = sum((b - ratio * a) ** 2 for a, b in zip(x, y, strict=True))
    return math.sqrt(n / (n - 1) * residuals) / total_x


def share_estimate(hits: Sequence[int], of: Sequence[int], pending: int, confidence: float) -> Estimate:
    """Share of ``hits`` in ``of`` over clusters; ``pending`` ones may yet turn out either way."""
    n, hit = sum(of), sum(hits)
    if n == 0:
        return Estimate(None, 0.0, 1.0, 0) if pending else Estimate(None, txns=0)
    share = hit / n
    error = ratio_error(hits, of)
    z = normal_z(confidence)
    n_effective = float(n)
    if error and 0.0 < share < 1.0:
        design_effect = max(1.0, error * error * n / (share * (1.0 - share)))
        n_effective, z = n / design_effect, student_t(len(of) - 1, confidence)
    total = n + pending
    low, _ = wilson(hit / total, n_effective * total / n, z)
    _, high = wilson((hit + pending) / total, n_effective * total / n, z)
    return Estimate(share, low, high, n)


def wilson(share: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's score interval of a share among ``n``."""
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def percentile_estimate(clusters: Sequence[Floats], percent: float, confidence: float) -> Estimate:
    """A percentile of all values; an end beyond the largest value is infinite, because nothing bounds it."""
    values = np.sort(np.concatenate(clusters)) if clusters else np.empty(0)
    n = len(values)
    if n == 0:
        return Estimate(None, txns=0)
    share = percent / 100.0
    found = float(np.percentile(values, percent))
    below = [int(np.count_nonzero(cluster <= found)) for cluster in clusters]
    error = ratio_error(below, [len(cluster) for cluster in clusters])
    independent = math.sqrt(share * (1.0 - share) / n)
    if error is not None and error > independent:
        reach = student_t(len(clusters) - 1, confidence) * error
    else:
        reach = normal_z(confidence) * independent
    low_rank, high_rank = (share - reach) * n, (share + reach) * n
    low = float(values[math.floor(low_rank)]) if low_rank >= 0 else 0.0
    high = float(values[math.ceil(high_rank)]) if math.ceil(high_rank) < n else math.inf
    return Estimate(found, min(low, found), max(high, found), n)
