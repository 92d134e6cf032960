"""The answer of a run: every source by itself with its doubt, the total, and the verdict on the objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from endive.answers.caveats import caveats_of
from endive.answers.estimates import estimate_of, judge_samples, pooled_figures, pooled_window, subject_of
from endive.answers.format_words import protocol_of
from endive.answers.sample import Sample
from endive.answers.why import how_busy_is_catalog, why_it_fails
from endive.config import SimulationConfig
from endive.config.slo import names_of
from endive.objectives import Estimate, Objective, Verdict
from endive.objectives.certainty import certainty_text
from endive.objectives.names import ALL, KIND, SOURCE, TABLE

SHOWN: Final = ("success_rate", "committed_per_s", "p50_commit", "p95_commit", "p99_commit")
OF_STREAMS: Final = ("p50_freshness", "p95_freshness", "p99_freshness", "stale_share", "lost_share")
_BLOCKS: Final = ((SOURCE, "by_source"), (KIND, "by_operation"), (TABLE, "by_table"))


@dataclass(frozen=True)
class RunAnswer:
    """Runs of one configuration with one or several seeds, judged by an objective."""

    config: SimulationConfig
    samples: Sequence[Sample]
    objective: Objective
    name: str
    notes: tuple[str, ...] = ()  # what was chosen that the configuration does not say
    caveats: tuple[str, ...] | None = None  # with how much they matter, if that was simulated

    @cached_property
    def warnings(self) -> list[str]:
        """Everything to know before the answer is trusted, the weightiest first."""
        caveats = caveats_of(self.config, self.samples) if self.caveats is None else self.caveats
        return [*caveats, *self.notes]

    @cached_property
    def why(self) -> list[str]:
        """A sentence for each source most of whose txns fail, and one on a catalog whose calls are limited."""
        figures = [(source, self.figures(SOURCE, source.name)) for source in self.config.sources]
        sentences = [why_it_fails(source, each["txns"]) for source, each in figures if each is not None]
        length_us = pooled_window([sample.window for sample in self.samples]).length_us
        total = pooled_figures(self.samples, ALL, "")
        sentences.append(how_busy_is_catalog(self.config, total, length_us))
        if undone := total["counters"]["compactions_undone"]:
            sentences.append(f"catalog: {undone:,} compactions were undone for commits that were built before them.")
        return [sentence for sentence in sentences if sentence is not None]

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the objective is met."""
        return judge_samples(self.objective, self.samples)

    @property
    def seeds(self) -> list[int]:
        """The seeds that ran."""
        return [sample.seed for sample in self.samples]

    def estimate(self, scope: str, name: str, field_name: str) -> Estimate:
        """One figure of a part of the runs, with its interval."""
        return estimate_of(self.samples, subject_of(scope, name, field_name))

    def parts(self, scope: str) -> tuple[str, ...]:
        """The sources, kinds or tables that had txns."""
        if scope == TABLE and not self.samples[0].tables:
            return ()
        return tuple(name for name in names_of(self.config).of_scope(scope) if self.figures(scope, name))

    def figures(self, scope: str, name: str) -> dict[str, Any] | None:
        """Every figure of a part, all seeds taken together; None if it had no txn and no commit in the windows."""
        figures = pooled_figures(self.samples, scope, name)
        return figures if figures["txns"]["submitted"] or figures["committed_in_window_per_s"] else None

    def to_json_dict(self) -> dict[str, Any]:
        """What ``endive run --json`` prints about objective, estimates and, with several seeds, their totals."""
        total = pooled_figures(self.samples, ALL, "")
        requests = total.pop("requests")
        window = self.samples[0].window
        return {
            "config_hash": self.config.config_hash(),
            "window": window.to_dict(),
            "summary": total,
            **self._by_part(self.figures),
            "requests": requests,
            **self.judgement(),
        }

    def judgement(self) -> dict[str, Any]:
        """Verdict and estimates alone, and the seeds they rest on."""
        return {
            "seeds": self.seeds,
            "protocol": protocol_of(self.config),
            "warnings": self.warnings,
            "why": self.why,
            "objective": verdict_json(self.verdict),
            "estimates": {"summary": self._estimates(ALL, ""), **self._by_part(self._estimates)},
        }

    def _by_part(self, make: Callable[[str, str], object]) -> dict[str, object]:
        """What ``make`` says of every source, kind and table that had txns."""
        parts = {scope: self.parts(scope) for scope, _ in _BLOCKS}
        return {block: {name: make(scope, name) for name in parts[scope]} for scope, block in _BLOCKS if parts[scope]}

    def _estimates(self, scope: str, name: str) -> dict[str, object]:
        is_stream = scope == SOURCE and name in names_of(self.config).streams
        shown = (*SHOWN, *OF_STREAMS) if is_stream else SHOWN
        return {field_name: estimate_json(self.estimate(scope, name, field_name)) for field_name in shown}


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain values."""
    return {
        "text": verdict.objective.text,
        "outcome": verdict.outcome,
        "parts": [
            {
                "comparison": str(part.comparison),
                "outcome": part.outcome,
                "certainty": certainty_text(part),
                **estimate_json(part.found),
            }
            for part in verdict.parts
        ],
    }


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    """An estimate as plain values; an end that nothing bounds is null."""
    high = None if estimate.high == float("inf") else estimate.high
    return {"value": estimate.value, "low": estimate.low, "high": high}


def outcome_text(txns: Mapping[str, Any]) -> str:
    """``0 of 24 committed, 24 retries exhausted``."""
    ended = txns["committed"] + sum(txns["aborted"].values())
    lost = {**txns["aborted"], **{f"still {stage}": count for stage, count in txns["in_flight"].items()}}
    told = [f"{count:,} {name.replace('_', ' ')}" for name, count in lost.items() if count]
    return ", ".join([f"{txns['committed']:,} of {ended:,} committed", *told])
