"""Figures that no verdict counts, and that tell causes apart: what an attempt took, and what was before the first.

How long commits take depends on how fast requests are and on how often writers meet. These depend on one of the two: a
commit of one attempt met nobody, and between its beginning and its first attempt a statement loads its table and works.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from endive.observation.replay.figures import (
    COUNT_MIN,
    DURATION_ALLOWED,
    Figure,
    Floats,
    Seen,
    Sides,
    make_figure,
    order_interval,
    quantile_figure,
)

ATTEMPTS: Final = (1, 2)
MIDDLE: Final = 0.5


def evidence_of(real: Seen, runs: Sequence[Seen], *, tells_work: bool) -> tuple[Figure, ...]:
    """Such figures of one source, as far as it was seen; ``tells_work`` if its log tells work from commits."""
    sides = Sides(real=real, runs=tuple(runs), changed=())
    figures = []
    if runs and real.is_counted:
        for attempts in ATTEMPTS:
            own = _of_attempts(attempts)
            if len(own(real)) >= COUNT_MIN:
                figures.append(quantile_figure(f"commit of {attempts} attempts", MIDDLE, sides, own))
    if runs and tells_work and len(real.work_ms) >= COUNT_MIN:
        figures.append(_before_commit(sides))
    return tuple(figures)


def _of_attempts(attempts: int) -> Callable[[Seen], Floats]:
    def durations_ms(seen: Seen) -> Floats:
        own: Floats = seen.durations_ms[seen.attempts == attempts]
        return own

    return durations_ms


def _before_commit(sides: Sides) -> Figure:
    """What was before the first attempt, by the limit of a whole statement: of nothing there is no tenth."""
    whole_ms = float(np.median(sides.real.work_ms) + np.median(sides.real.durations_ms))

    def middle(seen: Seen) -> float:
        return float(np.median(seen.work_ms)) if len(seen.work_ms) else float("nan")

    def interval(seen: Seen) -> tuple[float, float]:
        return order_interval(np.sort(seen.work_ms), MIDDLE)

    allowed_ms = DURATION_ALLOWED * whole_ms
    return make_figure("before the commit P50", "ms", sides, middle, interval, allowed=allowed_ms, is_relative=False)
