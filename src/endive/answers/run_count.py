"""How many runs an answer rests on, when nobody says how many or only how well its figures are to be known.

One run cannot tell how runs differ, so a few are taken, and more if they are cheap: where runs differ (phases, tables
that tip), and while the objective cannot be told. The number follows from how many txns a run has, never from how long
it took: the same question has the same answer on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from endive.answers.estimates import estimate_of, judge_samples, outcome_counts
from endive.answers.replicate import Replicator
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.errors import ObjectiveError
from endive.objectives import CANNOT_TELL, Estimate, Objective, Subject
from endive.objectives.fields import SHARE
from endive.objectives.intervals import EVENTS_ENOUGH, share_design
from endive.objectives.names import ALL, SOURCE
from endive.objectives.student import CONFIDENCE

RUNS: Final = 16  # enough to see what one run in five does
RUNS_FEW: Final = 4  # of large runs
RUNS_MOST: Final = 256  # while they differ or the objective cannot be told: enough to see what one run in 70 does
TXNS_MAX: Final = 10_000_000  # of all runs together; some ten seconds
SIMULATIONS_MAX: Final = 200  # to know the figures as well as was asked
TXNS_MORE_MAX: Final = 2_000_000  # of all runs together, because they differ or the objective cannot be told
SLOW_PERCENT: Final = 95.0
DESIGN_MANY: Final = 4.0  # runs differ if their txns tell no more than a quarter of independent ones


def runs_for(txns: int) -> int:
    """How many runs are taken of a configuration with so many txns in a run; one if even a few would take too long."""
    if txns * RUNS_FEW > TXNS_MAX:
        return 1
    return min(RUNS, max(RUNS_FEW, TXNS_MAX // max(1, txns)))


def take_enough(
    replicator: Replicator, config: SimulationConfig, objective: Objective, first: Sample | None = None
) -> list[Sample]:
    """Return runs with this seed and the next ones; ``first`` is the run with this seed if it is there already."""
    samples = [first] if first is not None else replicator.take(config, 1)
    _extend(samples, replicator, config, runs_for(samples[0].n_txns))
    while wants_more(samples, config, objective):
        _extend(samples, replicator, config, 2 * len(samples))
    return samples


def wants_more(samples: Sequence[Sample], config: SimulationConfig, objective: Objective) -> bool:
    """Return whether twice as many runs are worth it: these differ or cannot tell the objective, and more are cheap."""
    return may_double(samples) and (
        do_runs_differ(samples, config) or judge_samples(objective, samples).outcome == CANNOT_TELL
    )


def may_double(samples: Sequence[Sample]) -> bool:
    """Return whether twice as many runs are still cheap enough to be taken unasked."""
    doubled = 2 * len(samples)
    return len(samples) >= RUNS and doubled <= RUNS_MOST and doubled * samples[0].n_txns <= TXNS_MORE_MAX


def are_too_few(samples: Sequence[Sample], config: SimulationConfig) -> bool:
    """Return whether runs differ and twice as many are cheap: whatever was found may be of the kinds that were seen."""
    return may_double(samples) and do_runs_differ(samples, config)


def do_runs_differ(samples: Sequence[Sample], config: SimulationConfig) -> bool:
    """Whether whole runs are of different kinds, by what commits or by how many commits are slow, in any source."""
    for scope, name in ((ALL, ""), *((SOURCE, source.name) for source in config.sources)):
        parts = [sample.slice(scope, name) for sample in samples]
        latencies = [part.commit_us for part in parts]
        if not sum(map(len, latencies)):
            continue
        slow = np.percentile(np.concatenate(latencies), SLOW_PERCENT)
        shares = (
            outcome_counts(parts),
            ([int((run > slow).sum()) for run in latencies], [len(run) for run in latencies]),
        )
        if any(does_share_differ(hits, of) for hits, of in shares):
            return True
    return False


def does_share_differ(hits: Sequence[int], of: Sequence[int]) -> bool:
    """Return whether runs differ in a share by more than their txns explain."""
    is_seen = min(sum(hits), sum(of) - sum(hits)) >= EVENTS_ENOUGH  # of fewer, no run can show that it differs
    return is_seen and (share_design(hits, of, CONFIDENCE) or 1.0) >= DESIGN_MANY


def runs_note(samples: Sequence[Sample]) -> str | None:
    """Return what to say of runs that are too large to be repeated unasked; None if they were."""
    if len(samples) > 1:
        return None
    more = "--seeds 8 runs eight" if samples[0].n_txns * RUNS_FEW > TXNS_MAX else "Leave out --seeds 1, or give more"
    return f"One run cannot tell how runs differ, so no figure has an interval. {more}."


def _extend(samples: list[Sample], replicator: Replicator, config: SimulationConfig, count: int) -> None:
    begin = config.simulation.seed
    samples += replicator.samples(config, range(begin + len(samples), begin + count))


# --- as many as a precision takes ---------------------------------------------------------------------


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
    precision: float | None = None,
) -> list[Sample]:
    """``seeds`` runs; with a precision (the ``reach_of`` every figure) as many as it takes, and ``seeds`` is the limit.

    The first look is at as many runs as are taken unasked: three that happen to agree look precise.
    """
    if precision is None:
        return replicator.take(config, seeds or 1)
    limit = seeds or SIMULATIONS_MAX
    count = min(limit, max(RUNS_FEW, runs_for(replicator.take(config, 1)[0].n_txns)))
    while True:
        samples = replicator.take(config, count)
        reaches = {subject: reach_of(subject, estimate_of(samples, subject)) for subject in objective.subjects}
        worst = max(reaches, key=lambda subject: reaches[subject])
        is_reached = reaches[worst] <= precision
        if is_reached and (count >= limit or not are_too_few(samples, config)):
            return samples
        if count >= limit:
            reached = "nothing" if math.isinf(reaches[worst]) else f"±{100 * reaches[worst]:.2g} %"
            raise ObjectiveError(
                f"--precision {100 * precision:g}% is not reached within {limit} simulations: {worst} is known to "
                f"{reached}. Allow more with --seeds, lengthen simulation.duration_ms, or ask for less."
            )
        factor = 2.0 if is_reached else 4.0 if math.isinf(reaches[worst]) else (reaches[worst] / precision) ** 2
        count = min(limit, max(count + 1, math.ceil(count * min(4.0, factor))))
