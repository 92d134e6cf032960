"""How far chance alone moves a figure: standard errors by resampling whole runs, and of shares and means.

What is done with them (right, wrong, unclear) is the business of ``endive.verification.suite``. Runs are resampled as
wholes, because txns of one run are not independent of each other.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

RESAMPLES: Final = 100
STANDARD_ERRORS: Final = 2.0  # about 95 of 100 cases

Run = TypeVar("Run")
Figure = TypeVar("Figure")


def resample(runs: Sequence[Run], figure: Callable[[list[Run]], Figure], times: int = RESAMPLES) -> list[Figure]:
    """The figure of as many runs, drawn from ``runs`` with replacement, ``times`` times over; always the same draws."""
    chance = random.Random(len(runs))
    return [figure(chance.choices(runs, k=len(runs))) for _ in range(times)]


def standard_error(figures: Sequence[float]) -> float:
    """Of a figure, from its resampled values; those that do not exist are left out."""
    known = [figure for figure in figures if math.isfinite(figure)]
    return statistics.stdev(known) if len(known) > 1 else 0.0


def share_error_percent(hits: int, count: int) -> float:
    """Of a share in percent, from few yes or no; one of each is added, so that 8 of 8 is not certainty."""
    share = (hits + 1) / (count + 2)
    return 100.0 * math.sqrt(share * (1.0 - share) / (count + 2))


def mean_error(values: Sequence[float]) -> float:
    """Of a mean of independent values."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def doubt(*errors: float, scale: float = 1.0) -> float:
    """Two standard errors of a difference; ``scale`` turns it into a share of what is expected."""
    return STANDARD_ERRORS * math.hypot(*errors) / scale if scale else 0.0


def errors_of(figures: Sequence[object], names: Sequence[str]) -> Mapping[str, float]:
    """The standard error of each named field of resampled figures."""
    return {name: standard_error([float(getattr(each, name)) for each in figures]) for name in names}
