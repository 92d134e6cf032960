"""An answer as the page reads it: its verdict, and the headline, table and warnings that ``endive run`` prints."""

from __future__ import annotations

from typing import Any

from endive.answers.run_answer import RunAnswer
from endive.explore.page_question import FILE
from endive.objectives.names import ALL
from endive.render.html import answer_html


def answer_event(answer: RunAnswer, *, stage: str, share: float) -> dict[str, Any]:
    """Return everything the page shows of today's configuration; ``share`` of its duration was simulated."""
    total = answer.figures(ALL, "")
    config = answer.config
    found = answer.to_answer(FILE)
    return {
        "type": "answer",
        "stage": stage,
        "seeds": answer.seeds,
        "share": share,
        "duration_ms": config.simulation.duration_ms,
        "hash": config.config_hash(),
        "outcome": answer.verdict.outcome,
        "depends": bool(answer.cases),
        "objective": answer.verdict.objective.text,
        "headline": found.headline,
        "html": answer_html(found, with_headline=False),
        "answer": found.to_dict(),
        "txns": 0 if total is None else total["txns"]["submitted"],
        "warnings": [warned.line for warned in answer.warnings],
    }
