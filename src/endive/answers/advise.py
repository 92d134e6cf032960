"""Which change helps most: levers one at a time, the best in pairs, under common random numbers.

This file defines what is measured of each and the ranking; the levers live in ``endive.answers.levers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from endive.answers.caveats import caveats_of
from endive.answers.compare import difference_of
from endive.answers.enough import RUNS, take_enough
from endive.answers.estimates import estimate_of, judge_samples, pooled_figures
from endive.answers.levers import Lever, Values, offers_of
from endive.answers.price import usd_per_commit
from endive.answers.replicate import Replicator
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.slo import objective_of
from endive.errors import ConfigError, ObjectiveError
from endive.objectives import CANNOT_TELL, MET, NOT_MET, Estimate, Subject, Verdict
from endive.objectives.names import ALL
from endive.objectives.tree import Constant

SEEDS: Final = 16
PAIRED: Final = 4  # of the best levers, every two together
_ORDER: Final = {MET: 0, CANNOT_TELL: 1, NOT_MET: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What one change, or two together, would do."""

    words: str
    gives_up: str
    keys: Values
    verdict: Verdict
    found: Estimate  # of the figure that is advised on
    effect: Estimate  # on that figure, against the configuration as it is
    gain: float  # the effect, counted towards the objective
    requests_per_commit: float | None
    usd_per_1000_commits: float | None

    @property
    def is_sure(self) -> bool:
        """Whether the effect is surely not nothing."""
        low, high = self.effect.low, self.effect.high
        return low is not None and high is not None and (low > 0.0 or high < 0.0)

    @property
    def helps(self) -> bool:
        """Whether it surely brings the figure closer to the objective."""
        return self.gain > 0.0 and self.is_sure


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """The configuration as it is, and every change that was tried, best first."""

    objective: str
    subject: Subject
    now: Advice
    advice: tuple[Advice, ...]
    simulations: int
    seeds: int
    caveats: tuple[str, ...] = ()  # of the configuration as it is: everything to know before the advice is taken


def advise_on(
    base: Base,
    *,
    slo: str | None = None,
    levers: tuple[str, ...] | None = None,
    seeds: int = SEEDS,
    replicator: Replicator | None = None,
) -> Advised:
    """Try the levers and rank them by their effect on the figure that is farthest from the objective."""
    objective = objective_of(base.config, slo)
    with replicator or Replicator() as running:
        asked = _Asked(base, slo, seeds, running)
        before = asked.samples(base.config)
        verdict = judge_samples(objective, before)
        subject, sign = _advised_on(verdict)
        now = asked.advice(subject, sign, before, base.config, "as it is", "", {})
        offers = offers_of(base, levers)
        if not offers:
            raise ObjectiveError("No lever applies to this configuration. Choose others with --levers.")
        running.run_all([(config, seed) for *_, config in offers for seed in asked.seeds])
        singles = [
            asked.advice(subject, sign, before, config, words, lever.gives_up, keys)
            for lever, words, keys, config in offers
        ]
        pairs = _pairs(asked, subject, sign, before, offers, singles)
        return Advised(
            objective=objective.text,
            subject=subject,
            now=now,
            advice=tuple(sorted([*singles, *pairs], key=_rank)),
            simulations=running.simulations,
            seeds=seeds,
            caveats=caveats_of(base.config, before, running),
        )


@dataclass(frozen=True)
class _Asked:
    """What every change is asked."""

    base: Base
    slo: str | None
    count: int
    replicator: Replicator

    @property
    def seeds(self) -> range:
        first = self.base.config.simulation.seed
        return range(first, first + self.count)

    def samples(self, config: SimulationConfig) -> list[Sample]:
        return self.replicator.samples(config, self.seeds)

    def advice(
        self,
        subject: Subject,
        sign: float,
        before: Sequence[Sample],
        config: SimulationConfig,
        words: str,
        gives_up: str,
        keys: Values,
    ) -> Advice:
        after = self.samples(config)
        effect = difference_of(before, after, subject)
        figures = pooled_figures(after, ALL, "")
        usd = usd_per_commit(config, figures)
        return Advice(
            words=words,
            gives_up=gives_up,
            keys=keys,
            verdict=self._verdict(config, after),
            found=estimate_of(after, subject),
            effect=effect,
            gain=sign * (effect.value or 0.0),
            requests_per_commit=figures["requests"]["per_committed_txn"],
            usd_per_1000_commits=None if usd is None else 1000.0 * usd,
        )

    def _verdict(self, config: SimulationConfig, after: Sequence[Sample]) -> Verdict:
        """With more runs than effects are measured with, if the objective holds and cannot be told from so many."""
        objective = objective_of(config, self.slo)
        verdict = judge_samples(objective, after)
        if verdict.outcome != CANNOT_TELL or not verdict.holds or self.count < RUNS:
            return verdict
        return judge_samples(objective, take_enough(self.replicator, config, objective))


def _advised_on(verdict: Verdict) -> tuple[Subject, float]:
    """The figure of the first decisive comparison, and the direction in which it should go."""
    part = verdict.decisive[0]
    is_upward = (part.comparison.sign[0] == ">") != isinstance(part.comparison.left, Constant)
    return part.subject, 1.0 if is_upward else -1.0


def _pairs(
    asked: _Asked,
    subject: Subject,
    sign: float,
    before: Sequence[Sample],
    offers: Sequence[tuple[Lever, str, Values, SimulationConfig]],
    singles: Sequence[Advice],
) -> list[Advice]:
    """The best levers, two at a time, unless they are two strengths of one."""
    ranked = sorted(zip(offers, singles, strict=True), key=lambda item: _rank(item[1]))
    best = [(offer, advice) for offer, advice in ranked if advice.helps][:PAIRED]
    found: list[Advice] = []
    for (one, first), (other, second) in combinations(best, 2):
        if one[0].name == other[0].name:
            continue
        keys = {**first.keys, **second.keys}
        try:
            config = asked.base.with_values(keys)
        except ConfigError:
            continue
        words, gives_up = f"{first.words} + {second.words}", f"{first.gives_up}; {second.gives_up}"
        found.append(asked.advice(subject, sign, before, config, words, gives_up, keys))
    return found


def _rank(advice: Advice) -> tuple[int, float, bool, int]:
    """Those that meet the objective first, then by effect; of equals those with a figure, and the simpler one."""
    is_unknown = advice.found.value is None
    return _ORDER[advice.verdict.outcome], -advice.gain, is_unknown, advice.words.count(" + ")
