"""How many runs an answer rests on when nobody says how many.

One run cannot tell how runs differ, so a few are taken, and more while the objective cannot be told and they are cheap.
The number follows from how many txns a run has, never from how long it took: the same question has the same answer on
every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from endive.answers.estimates import judge_samples
from endive.answers.replicate import Replicator
from endive.answers.sample import Sample
from endive.config import SimulationConfig
from endive.objectives import CANNOT_TELL, Objective

RUNS: Final = 16  # enough to see what one run in five does
RUNS_FEW: Final = 4  # of large runs
RUNS_MOST: Final = 64  # while the objective cannot be told
TXNS_MAX: Final = 10_000_000  # of all runs together; some ten seconds
TXNS_MORE_MAX: Final = 2_000_000  # of all runs together, for the sake of an objective that cannot be told


def runs_for(txns: int) -> int:
    """How many runs are taken of a configuration with so many txns in a run; one if even a few would take too long."""
    if txns * RUNS_FEW > TXNS_MAX:
        return 1
    return min(RUNS, max(RUNS_FEW, TXNS_MAX // max(1, txns)))


def take_enough(
    replicator: Replicator, config: SimulationConfig, objective: Objective, first: Sample | None = None
) -> list[Sample]:
    """Runs with this seed and the next ones; ``first`` is the run with this seed if it is there already."""
    seed = config.simulation.seed
    samples = [first] if first is not None else replicator.samples(config, [seed])
    txns = samples[0].n_txns
    _extend(samples, replicator, config, runs_for(txns))
    while (
        len(samples) >= RUNS
        and 2 * len(samples) <= RUNS_MOST
        and 2 * len(samples) * txns <= TXNS_MORE_MAX
        and judge_samples(objective, samples).outcome == CANNOT_TELL
    ):
        _extend(samples, replicator, config, 2 * len(samples))
    return samples


def runs_note(samples: Sequence[Sample]) -> str | None:
    """What to say of runs that are too large to be repeated unasked; None if they were."""
    if len(samples) > 1:
        return None
    more = "--seeds 8 runs eight" if samples[0].n_txns * RUNS_FEW > TXNS_MAX else "Leave out --seeds 1, or give more"
    return f"One run cannot tell how runs differ, so no figure has an interval. {more}."


def _extend(samples: list[Sample], replicator: Replicator, config: SimulationConfig, count: int) -> None:
    begin = config.simulation.seed
    samples += replicator.samples(config, range(begin + len(samples), begin + count))
