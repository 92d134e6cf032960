"""Runs until the figures of an objective are known as well as was asked.

The runs are ``endive.answers.replicate``'s. The first look is at as many of them as ``endive.answers.run_count`` takes
unasked: three that happen to agree look precise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from endive.answers.estimates import estimate_of
from endive.answers.replicate import Replicator
from endive.answers.run_count import RUNS_FEW, are_too_few, runs_for
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.errors import ObjectiveError
from endive.objectives import Estimate, Objective, Subject
from endive.objectives.fields import SHARE

SIMULATIONS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Precision:
    """Half the interval of a share in percentage points, of any other figure as a part of its value."""

    share: float

    def is_reached(self, subject: Subject, estimate: Estimate) -> bool:
        """Whether the figure is known that well."""
        return reach_of(subject, estimate) <= self.share


def reach_of(subject: Subject, estimate: Estimate) -> float:
    """Half the interval: of a share as it is, of any other figure as a part of its value."""
    if not estimate.is_known or estimate.value is None or estimate.low is None or estimate.high is None:
        return math.inf
    half = (estimate.high - estimate.low) / 2.0
    if subject.field.unit == SHARE:
        return half
    return half / estimate.value if estimate.value else (0.0 if half == 0.0 else math.inf)


def replicate(
    replicator: Replicator,
    config: SimulationConfig,
    objective: Objective,
    *,
    seeds: int | None = None,
    precision: Precision | None = None,
) -> list[Sample]:
    """``seeds`` runs; with a precision as many as it takes, and ``seeds`` is the limit."""
    first = config.simulation.seed
    if precision is None:
        return replicator.samples(config, range(first, first + (seeds or 1)))
    limit = seeds or SIMULATIONS_MAX
    count = min(limit, max(RUNS_FEW, runs_for(replicator.samples(config, [first])[0].n_txns)))
    while True:
        samples = replicator.samples(config, range(first, first + count))
        estimates = {subject: estimate_of(samples, subject) for subject in objective.subjects}
        reached = max(reach_of(subject, estimate) for subject, estimate in estimates.items())
        is_reached = reached <= precision.share
        if is_reached and (count >= limit or not are_too_few(samples, config)):
            return samples
        if count >= limit:
            worst = max(estimates, key=lambda subject: reach_of(subject, estimates[subject]))
            raise ObjectiveError(_not_reached(worst, reach_of(worst, estimates[worst]), precision, limit))
        factor = 2.0 if is_reached else 4.0 if math.isinf(reached) else (reached / precision.share) ** 2
        count = min(limit, max(count + 1, math.ceil(count * min(4.0, factor))))


def _not_reached(subject: Subject, reach: float, precision: Precision, limit: int) -> str:
    reached = "nothing" if math.isinf(reach) else f"±{100 * reach:.2g} %"
    return (
        f"--precision {100 * precision.share:g}% is not reached within {limit} simulations: {subject} is known to "
        f"{reached}. Allow more with --seeds, lengthen simulation.duration_ms, or ask for less."
    )
