"""Suite ``theory``: the engine held to what can be computed without one.

Ceilings, queues, chances and the commit cycle each have a module, which says where its formula comes from.
"""

from __future__ import annotations

from typing import Final

from endive.verification.suite import Options, Outcome, provenance
from endive.verification.theory.ceilings import ceiling_checks
from endive.verification.theory.chances import chance_checks
from endive.verification.theory.cycle import CYCLE_TEXT, cycle_checks, cycle_figure
from endive.verification.theory.queues import queue_checks

SUITE: Final = "theory"

_INTRO: Final = """
Nothing here is fitted. Each expected value comes from a formula, or from sampling the profile's distributions with
NumPy; the actual value from a run of the engine. What a formula assumes is arranged in the run: constant latencies,
Poisson arrivals, tables that never meet.

**Ceilings.** Every request takes exactly L, half of it each way. Windows of committed attempts cannot overlap, so
with windows of W there are at most 1/W commits per second, and many clients whose reads are spread out reach it. W is
derived for every protocol and mode in [time and messages](../model/time-and-messages.md#ceilings). `merge` repairs
before it reads its base, so its W is one round trip and its cycle many times as long: there the table rests after a
commit until the next client reads, and W + 1/lambda lie between two commits, where lambda is the rate of attempts in
the same run.

**Queues.** A `service` catalog with one worker, exponential service and txns that arrive as a Poisson process and
send two requests each (read, then commit after their runtime) is an open network of an M/M/1 queue and a delay. Its
product form (Jackson, BCMP) gives each visit a sojourn that is exponential with mean 1/(mu - 2 lambda), however the
runtime is distributed. With c workers: Erlang's C. With fixed service the arrivals at the queue are only nearly
Poisson (the second visits come from a delay that is long against the queue); the mean of Pollaczek and Khinchine is
held more loosely. Txns at work are an M/G/infinity queue: their number is Poisson with mean lambda E[S], whatever the
runtime's distribution.

**Chances.** A txn that writes k tables, each of which moved, is in real conflict with probability 1 - (1-p)^k
(experiment plan); allowed are four standard errors.
"""


def run(options: Options) -> Outcome:
    """All of it."""
    cycles = cycle_checks(is_quick=options.is_quick)
    checks = [
        *ceiling_checks(is_quick=options.is_quick),
        *queue_checks(is_quick=options.is_quick),
        *chance_checks(is_quick=options.is_quick),
        *cycles,
    ]
    return Outcome(
        suite=SUITE,
        intro=f"{_INTRO.strip()}\n\n{CYCLE_TEXT.strip()}",
        checks=tuple(checks),
        figures=(cycle_figure(cycles),),
        command="endive verify theory",
        provenance=provenance(engine="compiled"),
    )
