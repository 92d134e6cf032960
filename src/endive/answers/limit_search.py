"""One search for a limit under way: the values that were tried, what became of each, and what may still be tried.

Which values are tried, in which order, is decided in ``endive.answers.limit``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from endive.answers.estimates import judge_samples
from endive.answers.replicate import Replicator
from endive.answers.run_count import TXNS_MORE_MAX, are_too_few, runs_for
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.slo import objective_of
from endive.errors import ConfigError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Verdict, duration_text

CONFIDENCE: Final = 0.99  # of one decision; a search makes about ten
SEEDS_MAX: Final = 96  # of one value
SIMULATIONS_MAX: Final = 2_000
TXNS_MAX: Final = 200_000  # of one simulation's window; beyond it the bracket is not widened any more


@dataclass(frozen=True, slots=True)
class Point:
    """One value that was tried."""

    value: float
    verdict: Verdict
    seeds: int

    @property
    def holds(self) -> bool:
        """Return whether its estimate meets the objective, doubt aside."""
        return self.verdict.holds is True

    @property
    def outcome(self) -> str:
        """Met, not met or cannot tell."""
        return self.verdict.outcome


@dataclass
class Search:
    """One question under way: what has been tried, and what may still be."""

    base: Base
    key: str
    slo: str | None
    replicator: Replicator
    is_whole: bool
    seeds_max: int = SEEDS_MAX
    simulations_max: int = SIMULATIONS_MAX
    points: dict[float, Point] = field(default_factory=dict)
    sizes: dict[float, int] = field(default_factory=dict)  # txns of one simulation, by the value
    refusal: str = ""  # why the configuration cannot have the value that was tried last

    def config_of(self, value: float) -> SimulationConfig:
        """Return the configuration with this value."""
        return self.base.with_values({self.key: int(value) if self.is_whole else value})

    def try_value(self, value: float) -> Point | None:
        """Judge one value; None if the configuration cannot have it."""
        value = float(round(value)) if self.is_whole else value
        if value in self.points:
            return self.points[value]
        try:
            config = self.config_of(value)
        except ConfigError as error:
            self.refusal = error.problems[0]
            return None
        samples = self.replicator.take(config, 1)
        self.sizes[value] = samples[0].n_txns
        count = min(max(2, runs_for(samples[0].n_txns)), self.seeds_max)
        while True:
            verdict, samples = self._judge(config, count)
            is_sure = verdict.outcome != CANNOT_TELL and not are_too_few(samples, config)
            if is_sure or count >= self.seeds_max or self.is_spent:
                break
            count = min(2 * count, self.seeds_max)
        self.points[value] = Point(value, verdict, count)
        return self.points[value]

    def confirm(self, value: float) -> bool:
        """Return whether a value that was tried is judged the same with as many seeds as are allowed and cheap.

        All values share their first seeds, so that what these have not seen no value has.
        """
        point = self.points[value]
        count = min(self.seeds_max, TXNS_MORE_MAX // max(1, self.sizes[value]))
        if count <= point.seeds:
            return True
        verdict, _ = self._judge(self.config_of(value), count)
        self.points[value] = Point(value, verdict, count)
        return verdict.outcome == point.outcome

    def _judge(self, config: SimulationConfig, count: int) -> tuple[Verdict, list[Sample]]:
        samples = self.replicator.take(config, count)
        return judge_samples(objective_of(config, self.slo), samples, CONFIDENCE), samples

    def text_of(self, value: float) -> str:
        """Return a value as people write it."""
        return duration_text(value) if self.key.endswith("_ms") else f"{value:g}"

    def values_of(self, *outcomes: str) -> list[float]:
        """Return the values that were judged so."""
        return [value for value, point in self.points.items() if point.outcome in outcomes]

    @property
    def is_bracketed(self) -> bool:
        """Return whether both outcomes have been seen for sure."""
        return bool(self.values_of(MET)) and bool(self.values_of(NOT_MET))

    def is_as_heavy(self, value: float, start: float) -> bool:
        """Return whether the simulations of a value are too large to go on from ``start`` beyond it."""
        value = float(round(value)) if self.is_whole else value
        return self.sizes[value] > max(TXNS_MAX, self.sizes[start] - 1)

    @property
    def heavy_text(self) -> str:
        """Return why the bracket was not widened further, if that was for its size."""
        is_heavy = max(self.sizes.values()) > TXNS_MAX
        return f", and larger simulations than {TXNS_MAX:,} txns are not tried" if is_heavy else ""

    @property
    def is_spent(self) -> bool:
        """Return whether no more simulations may be run."""
        return self.replicator.simulations >= self.simulations_max
