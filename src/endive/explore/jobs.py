"""The jobs of worker processes: a first answer, a better one, a curve, a comparison.

Each asks between two simulations whether it is still wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from endive.answers.cases import assess
from endive.answers.compare import compare_configs, difference_words
from endive.answers.replicate import Replicator
from endive.answers.run_answer import RunAnswer
from endive.answers.run_count import wants_more
from endive.answers.sample import Sample
from endive.answers.variation import Base
from endive.config import SimulationConfig
from endive.config.slo import objective_of
from endive.explore.curve import curve
from endive.explore.figures import answer_event
from endive.explore.runs import Events, IsCancelled, Watched, shorten
from endive.objectives.verdict_text import figure_text

FIRST_TXNS: Final = 4_000  # of a first answer's only run
LONGER: Final = 8.0  # how much longer the next run is, until it is the whole one
SEEDS: Final = (1, 2, 4, 8, 12, 16)
COMPARE_SEEDS: Final = (2, 4, 8, None)  # and then as many as the side needs that needs more

Event = dict[str, Any]
Job = Callable[[Any, IsCancelled], Events]


def first(base: Base, is_cancelled: IsCancelled) -> Events:
    """Return one short run."""
    yield _answer(base, Watched(is_cancelled), FIRST_TXNS, 1, "first")


def refine(base: Base, is_cancelled: IsCancelled) -> Events:
    """Longer runs, then more seeds; every event is a better answer than the one before."""
    replicator = Watched(is_cancelled)
    txns, share = float(FIRST_TXNS), shorten(base.config, FIRST_TXNS)[1]
    while share < 1.0:
        txns *= LONGER
        event = _answer(base, replicator, txns, 1, "refined")
        share = event["share"]
        if share < 1.0:
            yield event
    for seeds in SEEDS[:-1]:
        yield _answer(base, replicator, float("inf"), seeds, "refined")
    seeds = SEEDS[-1]
    while wants_more(_samples(base.config, replicator, seeds), base.config, objective_of(base.config)):
        yield _answer(base, replicator, float("inf"), seeds, "refined")
        seeds *= 2
    yield _answer(base, replicator, float("inf"), seeds, "done", with_cases=True)


def _samples(config: SimulationConfig, replicator: Replicator, seeds: int) -> list[Sample]:
    begin = config.simulation.seed
    return replicator.samples(config, range(begin, begin + seeds))


def _answer(
    base: Base, replicator: Replicator, txns: float, seeds: int, stage: str, *, with_cases: bool = False
) -> Event:
    config = base.config
    short, share = shorten(config, txns)
    samples = _samples(short, replicator, seeds)
    objective = objective_of(short)
    assessment = assess(short, objective, samples, replicator if with_cases else None)
    name = config.experiment.label or "run"
    answer = RunAnswer(short, tuple(samples), objective, name, base.notes, assessment)
    return answer_event(answer, stage=stage, share=share)


def compare(bases: tuple[Base, Base], is_cancelled: IsCancelled) -> Events:
    """Return the pinned configuration and today's, with the same seeds."""
    replicator = Watched(is_cancelled)
    a, b = bases[0].config, bases[1].config
    for seeds in COMPARE_SEEDS:
        comparison = compare_configs(a, b, names=("pinned", "now"), seeds=seeds, replicator=replicator)
        yield {
            "type": "comparison",
            "seeds": comparison.seeds,
            "stage": "done" if seeds == COMPARE_SEEDS[-1] else "refined",
            "keys": [[key, _show(ours), _show(theirs)] for key, ours, theirs in comparison.keys],
            "notes": list(comparison.notes),
            "rows": [
                {
                    "part": row.subject.name or "all txns",
                    "figure": row.subject.field.name,
                    "a": figure_text(row.subject.field, row.a.value),
                    "b": figure_text(row.subject.field, row.b.value),
                    "difference": difference_words(row),
                    "outcome": row.outcome,
                }
                for row in comparison.differences
            ],
        }


def _show(value: object) -> str:
    return "not given" if value is None else str(value)


JOBS: Final[Mapping[str, Job]] = {job.__name__: job for job in (first, refine, curve, compare)}
