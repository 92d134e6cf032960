"""An answer as the page reads it: verdict, one block per source, requests and price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from endive.answers.price import bill_of, usd_per_commit
from endive.answers.run_answer import RunAnswer, estimate_json
from endive.answers.run_tables import outcome_text
from endive.config.sections.stream import stream_problem
from endive.objectives import CANNOT_TELL, MET, NOT_MET, field_at
from endive.objectives.names import ALL, SOURCE
from endive.objectives.verdict_text import describe_verdict, figure_text, interval_text

SHOWN: Final = ("success_rate", "committed_per_s", "p50_commit", "p95_commit", "p99_commit")
OF_STREAMS: Final = ("p95_freshness",)
WHOLE: Final = ("retries_mean", "requests_per_commit")


def answer_event(answer: RunAnswer, *, stage: str, share: float) -> dict[str, Any]:
    """Everything the page shows of today's configuration; ``share`` of its duration was simulated."""
    total = answer.figures(ALL, "")
    config = answer.config
    return {
        "type": "answer",
        "stage": stage,
        "seeds": answer.seeds,
        "share": share,
        "duration_ms": config.simulation.duration_ms,
        "hash": config.config_hash(),
        "verdict": {
            "outcome": answer.verdict.outcome,
            "objective": answer.verdict.objective.text,
            "lines": [describe_verdict(part) for part in answer.verdict.decisive],
        },
        "sources": [_source(answer, source.name) for source in config.sources],
        "whole": {name: _figure(answer, ALL, "", name) for name in (*SHOWN, *WHOLE)},
        "txns": 0 if total is None else total["txns"]["submitted"],
        "usd_per_commit": None if total is None else usd_per_commit(config, total),
        "usd_per_month": None if total is None or (bill := bill_of(config, answer.samples)) is None else bill.usd,
        "warnings": [warned.line for warned in answer.warnings],
    }


def _source(answer: RunAnswer, name: str) -> dict[str, Any]:
    figures = answer.figures(SOURCE, name)
    source = next(source for source in answer.config.sources if source.name == name)
    weights: Mapping[str, float] = source.operation_types.model_dump()
    parts = answer.verdict.parts
    outcomes = {part.outcome for part in parts if (part.subject.scope, part.subject.name) == (SOURCE, name)}
    shown = SHOWN if stream_problem(source) is not None else (*SHOWN, *OF_STREAMS)
    return {
        "name": name,
        "kinds": [kind.replace("_", " ") for kind, weight in weights.items() if weight],
        "outcome": next((outcome for outcome in (NOT_MET, CANNOT_TELL, MET) if outcome in outcomes), None),
        "txns": "no txn yet" if figures is None else outcome_text(figures["txns"]),
        "figures": {field: _figure(answer, SOURCE, name, field) for field in shown} if figures else {},
    }


def _figure(answer: RunAnswer, scope: str, name: str, field_name: str) -> dict[str, Any]:
    field = field_at(field_name)
    assert field is not None
    estimate = answer.estimate(scope, name, field_name)
    text = figure_text(field, estimate.value, (estimate.low, estimate.high))
    return {**estimate_json(estimate), "text": text, "interval": interval_text(field, estimate)}
