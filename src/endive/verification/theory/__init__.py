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

_INTRO: Final = """
Nothing here is fitted. Each expected value comes from a formula, or from sampling the profile's distributions with
NumPy; the actual value from a run of the engine in which what the formula assumes is arranged: constant latencies,
Poisson arrivals, tables that never meet.

**Ceilings.** Hazard windows of committed attempts cannot overlap, so windows of W allow at most 1/W commits per second,
and many clients whose reads are spread out reach it ([W of every protocol and
mode](../model/time-and-messages.md#ceilings)). `merge` repairs before it reads its base, so the table rests until the
next client reads, and W + 1/lambda lie between two commits, where lambda is the rate of attempts in the same run.

**Queues.** A `service` catalog with one worker and exponential service, and txns that arrive as a Poisson process and
send two requests each, are an M/M/1 queue and a delay: a visit's sojourn is exponential with mean 1/(mu - 2 lambda)
(Jackson, BCMP), however the runtime is distributed. With c workers: Erlang's C. With fixed service arrivals are only
nearly Poisson, so the mean of Pollaczek and Khinchine is held more loosely. Txns at work are an M/G/infinity queue:
Poisson with mean lambda E[S].

**Chances.** A txn that writes k tables, each of which moved, is in real conflict with probability 1 - (1-p)^k; allowed
are four standard errors.
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
        intro=f"{_INTRO.strip()}\n\n{CYCLE_TEXT.strip()}",
        checks=tuple(checks),
        figures=(cycle_figure(cycles),),
        provenance=provenance(engine="compiled"),
    )
