"""The questions as functions: ``endive.limit``, ``advise``, ``explain``, ``compare``; and runs with several seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from endive.answers.advice.advice_answer import advice_answer
from endive.answers.advice.advise import SEEDS, Advised, advise_on
from endive.answers.answer import Answer
from endive.answers.compare import Comparison, compare_bases
from endive.answers.compare_answer import compare_answer
from endive.answers.estimates import pooled_figures
from endive.answers.limit import TOLERANCE, Limit, find_limit
from endive.answers.limit_answer import limit_answer
from endive.answers.limit_search import SEEDS_MAX, SIMULATIONS_MAX
from endive.answers.run_answer import RunAnswer
from endive.answers.sample import Sample
from endive.answers.stories.explain import Explanation, explain_base
from endive.answers.stories.explain_answer import explain_answer
from endive.answers.variation import ConfigLike, base_of
from endive.config import SimulationConfig
from endive.objectives.names import SOURCE
from endive.render.html import answer_html
from endive.render.terminal import answer_text
from endive.results.statistics import join_slices


class _Shown:
    """An answer that shows itself: as text in a console, as HTML in a notebook."""

    def to_answer(self) -> Answer:
        """Return headline, tables, reason, warnings and provenance as one value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return answer_text(self.to_answer())

    def _repr_html_(self) -> str:
        return answer_html(self.to_answer(), with_style=True)


@dataclass(frozen=True, repr=False)
class Runs(_Shown):
    """Runs with several seeds, taken together."""

    answer: RunAnswer

    def to_answer(self) -> Answer:
        """Return what is shown."""
        return self.answer.to_answer(self.answer.name)

    def to_json_dict(self) -> dict[str, Any]:
        """Return what ``endive run --seeds N --json`` prints."""
        return self.answer.to_json_dict()

    def to_pandas(self) -> Any:
        """A pandas frame with a row for each run and source: what was submitted, what committed, and how fast."""
        return pa.Table.from_pylist([row for sample in self.answer.samples for row in _figure_rows(sample)]).to_pandas()

    def plot(self) -> Any:
        """Commit latency by source, and where it goes, all runs taken together; needs the extra ``report``."""
        from endive.report.charts.run_chart import run_chart

        names = self.answer.samples[0].statistics.source_names
        parts = {name: join_slices([sample.slice(SOURCE, name) for sample in self.answer.samples]) for name in names}
        latencies = pa.table(
            {
                "source": [name for name, part in parts.items() for _ in part.commit_us],
                "commit_latency_ms": np.concatenate([part.commit_us for part in parts.values()]) / 1000.0,
                "status": ["committed"] * sum(len(part.commit_us) for part in parts.values()),
            }
        )
        figures = {name: pooled_figures(self.answer.samples, SOURCE, name) for name in names}
        ages = {name: part.ages for name, part in parts.items() if part.ages is not None}
        return run_chart(latencies, {name: figure["phases_ms"] for name, figure in figures.items()}, ages)


def _figure_rows(sample: Sample) -> Iterator[dict[str, Any]]:
    """Yield the figures of one run that people plot, source by source."""
    for name in sample.statistics.source_names:
        figures = pooled_figures([sample], SOURCE, name)
        txns, latency = figures["txns"], figures["commit_latency_ms"]
        yield {
            "seed": sample.seed,
            "source": name,
            "submitted": txns["submitted"],
            "committed": txns["committed"],
            **{f"aborted_{reason}": count for reason, count in txns["aborted"].items()},
            "success_rate": figures["success_rate"],
            "committed_per_s": figures["committed_per_s"],
            **{f"commit_latency_{p}_ms": latency[p] for p in ("p50", "p95", "p99")},
        }


@dataclass(frozen=True, repr=False)
class LimitAnswer(_Shown):
    """How far a key can go."""

    found: Limit
    config: SimulationConfig

    @property
    def value(self) -> float:
        """Return the last value that meets the objective."""
        return self.found.value

    @property
    def interval(self) -> tuple[float, float]:
        """Return where that value lies."""
        return self.found.low, self.found.high

    def to_answer(self) -> Answer:
        """Return what is shown."""
        return limit_answer(self.found, self.config)


@dataclass(frozen=True, repr=False)
class AdviceAnswer(_Shown):
    """What would help."""

    found: Advised

    def to_answer(self) -> Answer:
        """Return what is shown."""
        return advice_answer(self.found)


@dataclass(frozen=True, repr=False)
class ComparisonAnswer(_Shown):
    """What differs."""

    found: Comparison

    def to_answer(self) -> Answer:
        """Return what is shown."""
        return compare_answer(self.found)


@dataclass(frozen=True, repr=False)
class ExplanationAnswer(_Shown):
    """What happened."""

    found: Explanation

    def to_answer(self) -> Answer:
        """Return what is shown."""
        return explain_answer(self.found)


def limit(
    config: ConfigLike,
    vary: str,
    slo: str | None = None,
    *,
    low: float | None = None,
    high: float | None = None,
    tolerance: float = TOLERANCE,
    seeds_max: int = SEEDS_MAX,
    simulations_max: int = SIMULATIONS_MAX,
) -> LimitAnswer:
    """Return the largest (or smallest) value of a key that meets the objective, between ``low`` and ``high`` if given.

    ``tolerance`` is how narrow the interval should be, as a share of the value; ``seeds_max`` and ``simulations_max``
    bound the runs of one value and of all.
    """
    base = base_of(config)
    found = find_limit(
        base,
        vary,
        slo=slo,
        low=low,
        high=high,
        tolerance=tolerance,
        seeds_max=seeds_max,
        simulations_max=simulations_max,
    )
    return LimitAnswer(found, base.config)


def advise(
    config: ConfigLike,
    slo: str | None = None,
    levers: Sequence[str] | None = None,
    *,
    seeds: int = SEEDS,
    with_hypothetical: bool = False,
) -> AdviceAnswer:
    """Return what to change, the least that is enough first; ``levers`` by name, or all that apply."""
    chosen = None if levers is None else tuple(levers)
    advice = advise_on(base_of(config), slo=slo, levers=chosen, seeds=seeds, with_hypothetical=with_hypothetical)
    return AdviceAnswer(advice)


def compare(
    a: ConfigLike, b: ConfigLike | None = None, *, overrides: Mapping[str, Any] | None = None, seeds: int | None = None
) -> ComparisonAnswer:
    """Return what differs between two configurations, or between one and itself with keys replaced."""
    other = base_of(a if b is None else b)
    changed = other.varied(overrides) if overrides else other
    return ComparisonAnswer(compare_bases(base_of(a), changed, seeds=seeds))


def explain(
    config: ConfigLike,
    *,
    seed: int | None = None,
    txn: int | None = None,
    worst: int | None = None,
    where: str | None = None,
    with_blame: bool = False,
) -> ExplanationAnswer:
    """Return the story of chosen txns: one by its number, or the worst of those for which ``where`` holds."""
    explanation = explain_base(base_of(config), seed=seed, txn=txn, worst=worst, where=where, with_blame=with_blame)
    return ExplanationAnswer(explanation)
