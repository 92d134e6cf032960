"""How long a run is when the configuration does not say: as long as the objective and the rarest source need.

A stated ``simulation.duration_ms`` is kept, whatever it can tell. The choice follows from the rates of the sources and
from the objective alone, so the same configuration always gets the same run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from endive.answers.run_count import RUNS
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.slo import objective_of
from endive.objectives import Objective, Subject, duration_text
from endive.objectives.certainty import txns_to_tell
from endive.objectives.fields import DURATION, SHARE
from endive.objectives.names import KIND, SOURCE
from endive.objectives.tree import Comparison, Constant, comparisons
from endive.workload.expected_txns import arrivals_by_source, expected_by_source

_H: Final = 3_600_000.0
_D: Final = 24.0 * _H
LENGTHS_MS: Final = (
    *(hours * _H for hours in (1, 2, 3, 4, 6, 8, 12)),
    *(days * _D for days in (1, 2, 4, 7, 14, 30, 60)),
)
ARRIVALS_PER_RUN: Final = 2.0  # of every source, at least
TXNS_MAX: Final = 200_000.0  # of one run
LONGER: Final = (6.0, 36.0)  # times as long, while nothing can be told
SPARE: Final = 2.0  # times as many txns as tell a figure that is perfect: few are


def is_stated(config: SimulationConfig) -> bool:
    """Return whether the configuration says how long its runs are."""
    return "duration_ms" in config.simulation.model_fields_set


def long_enough(base: Base, slo: str | None = None, longest_ms: float = LENGTHS_MS[-1]) -> Base:
    """The configuration with runs as long as they need to be, and a note of it; as it is if it says so itself."""
    config = base.config
    if is_stated(config):
        return base
    rates = {name: txns / config.simulation.duration_ms for name, txns in expected_by_source(config).items()}
    needs = _needs(config, objective_of(config, slo), rates)
    rarest = max(needs, key=lambda name: needs[name], default="")
    margins_ms = config.simulation.warmup_ms + config.simulation.cooldown_ms
    if not needs or needs[rarest] <= config.simulation.duration_ms - margins_ms:
        return base
    cap_ms = min(longest_ms, TXNS_MAX / max(sum(rates.values()), 1e-12))
    allowed = [length for length in LENGTHS_MS if length <= cap_ms] or [config.simulation.duration_ms]
    chosen = next((length for length in allowed if length - 2 * margins_ms >= needs[rarest]), allowed[-1])
    if chosen <= config.simulation.duration_ms:
        return base
    txns = sum(rates.values()) * chosen
    note = (
        f"simulation.duration_ms is not given, so a run is {duration_text(chosen)} long, about {txns:,.0f} txns: in "
        f"less, {rarest} has too few to tell. Give it to choose yourself."
    )
    return replace(base.varied({"simulation.duration_ms": chosen}), notes=(note, *_growing(config, chosen)))


def _growing(config: SimulationConfig, length_ms: float) -> tuple[str, ...]:
    """Return what a long run does to a table of Iceberg from which nothing expires."""
    is_upkept = any(source.operation_types.model_dump().get("expire_snapshots") for source in config.sources)
    if config.table.format == "delta" or config.table.snapshots_kept_max or is_upkept or length_ms < _D:
        return ()
    return (
        "Nothing expires snapshots in a run this long, so metadata grows and commits get slower. Set "
        "table.snapshots_kept_max.",
    )


def ever_longer(base: Base, slo: str | None = None) -> list[Base]:
    """Return the configuration with runs that are long enough, and with ever longer ones unless it says how long."""
    first = long_enough(base, slo)
    if is_stated(base.config):
        return [first]
    duration_ms = first.config.simulation.duration_ms
    return [first, *(base.varied({"simulation.duration_ms": duration_ms * factor}) for factor in LONGER)]


def _needs(config: SimulationConfig, objective: Objective, rates: dict[str, float]) -> dict[str, float]:
    """For every part that is asked about, how long a window it needs in every run, in ms."""
    arrivals = arrivals_by_source(config)
    needs = {name: ARRIVALS_PER_RUN * config.simulation.duration_ms / arrivals[name] for name in rates if rates[name]}
    for comparison in comparisons(objective.tree):
        subject = next(side.of for side in (comparison.left, comparison.right) if not isinstance(side, Constant))
        assert isinstance(subject, Subject)
        rate = _rate(config, subject, rates)
        txns = SPARE * _txns(comparison, subject) / RUNS
        if rate and txns:
            name = subject.name or "the whole run"
            needs[name] = max(needs.get(name, ARRIVALS_PER_RUN / rate), txns / rate)
    return needs


def _txns(comparison: Comparison, subject: Subject) -> float:
    """Return how many txns tell that a figure which is as good as can be keeps its limit."""
    limits = [side.value for side in (comparison.left, comparison.right) if isinstance(side, Constant)]
    if subject.field.unit == SHARE and limits and 0.0 < limits[0] < 1.0:
        return txns_to_tell(limits[0])
    if subject.field.unit == DURATION and subject.field.path[-1] in ("p50", "p95", "p99"):
        return txns_to_tell(float(subject.field.path[-1].removeprefix("p")) / 100.0)
    return 0.0


def _rate(config: SimulationConfig, subject: Subject, rates: dict[str, float]) -> float:
    """Return txns per ms of the part that is spoken of."""
    if subject.scope == SOURCE:
        return rates.get(subject.name, 0.0)
    if subject.scope != KIND:
        return sum(rates.values())
    rate = 0.0
    for source in config.sources:
        weights = source.operation_types.model_dump()
        rate += rates.get(source.name, 0.0) * weights.get(subject.name, 0.0) / (sum(weights.values()) or 1.0)
    return rate
