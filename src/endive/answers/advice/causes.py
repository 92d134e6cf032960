"""Why a figure is what it is: how its txns failed, and which other sources they would do better without.

Blame is by removal: the same runs without a source. That needs no theory of who conflicts with whom, and it is asked
anew after every change, since one cause may hide another. Single txns are told of in
``endive.answers.stories``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from endive.answers.advice.levers import HASTE, RIVALS, TRIES, VERDICT
from endive.answers.compare import difference_of
from endive.answers.replicate import Replicator
from endive.answers.sample import Sample
from endive.config import SimulationConfig, parse_config
from endive.errors import ConfigError
from endive.formats.delta import words as delta
from endive.objectives import Subject
from endive.objectives.fields import SHARE
from endive.objectives.names import SOURCE
from endive.results import statistics as st

# What removes a way to fail.
REMEDIES: Final = {
    "validation_exception": (VERDICT, RIVALS),
    "retries_exhausted": (TRIES, RIVALS, HASTE),
    "timeout": (HASTE, RIVALS),
    "commit_state_unknown": (HASTE,),
    "history_expired": (HASTE, RIVALS),
    "storage_failed": (HASTE,),
    **dict.fromkeys(delta.REASONS[:-1], (VERDICT, RIVALS)),
    "log_cleaned_up": (HASTE, RIVALS),
}
SLOW: Final = (HASTE, RIVALS, TRIES)  # what removes latency
RARE: Final = 0.01  # of the failures: below it a way to fail is no cause


@dataclass(frozen=True, slots=True)
class Causes:
    """What keeps a figure from being better."""

    remedies: tuple[str, ...]  # sorts of levers, the commonest failure's first
    rivals: tuple[str, ...]  # sources without which it is surely better, the worst first

    def rank(self, removes: str, aims_at: str | None) -> int:
        """Return how well a lever suits them: a rival that is to blame first, then the remedies in their order."""
        if aims_at is not None and aims_at in self.rivals:
            return self.rivals.index(aims_at)
        if aims_at is None and removes in self.remedies:
            return len(self.rivals) + self.remedies.index(removes)
        return len(self.rivals) + len(self.remedies) + (removes not in self.remedies)


def causes_of(
    replicator: Replicator, config: SimulationConfig, subject: Subject, sign: float, samples: Sequence[Sample]
) -> Causes:
    """Return the causes, from these runs and as many without each of the other sources.

    Where no source alone is to blame but all together are, since each hides the others, all of them are.
    """
    seeds = [sample.seed for sample in samples]
    others = [source.name for source in config.sources if (subject.scope, subject.name) != (SOURCE, source.name)]

    def gain_without(*names: str) -> float:
        without = _without(config, names)
        if without is None:
            return 0.0
        effect = difference_of(samples, replicator.samples(without, seeds), subject)
        if effect.value is None or effect.low is None or effect.high is None or effect.low <= 0.0 <= effect.high:
            return 0.0
        return sign * effect.value

    blamed = [(gain, name) for name in others if (gain := gain_without(name)) > 0.0]
    rivals = tuple(name for _, name in sorted(blamed, reverse=True))
    if not rivals and len(others) > 1 and gain_without(*others) > 0.0:
        rivals = tuple(others)
    return Causes(_remedies(subject, samples), rivals)


def _without(config: SimulationConfig, names: tuple[str, ...]) -> SimulationConfig | None:
    plain = {key: value for key, value in config.to_dict().items() if key != "slo"}
    others = [source for source in plain["source"] if source["name"] not in names]
    try:
        return parse_config({**plain, "source": others}) if others else None
    except ConfigError:
        return None


def _remedies(subject: Subject, samples: Sequence[Sample]) -> tuple[str, ...]:
    """Sorts of levers against the ways in which txns failed, the commonest way first."""
    if subject.field.unit != SHARE:
        return SLOW
    tallies = sum(sample.slice(subject.scope, subject.name).tallies[:, st.TXNS] for sample in samples)
    failed = {st.OUTCOMES[place]: int(tallies[place]) for place in range(1, st.EXECUTING)}  # type: ignore[index]
    common = [name for name, count in failed.items() if count > RARE * sum(failed.values())]
    common.sort(key=lambda name: -failed[name])
    return tuple(dict.fromkeys(remedy for name in common for remedy in REMEDIES[name]))
