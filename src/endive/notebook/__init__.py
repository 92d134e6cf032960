"""Endive in a notebook: questions as functions, answers as values that show themselves."""

from endive.notebook.answers import (
    AdviceAnswer,
    ComparisonAnswer,
    ExplanationAnswer,
    LimitAnswer,
    Runs,
    advise,
    compare,
    explain,
    limit,
)
from endive.notebook.simulated_run import Run, simulate

__all__ = [
    "AdviceAnswer",
    "ComparisonAnswer",
    "ExplanationAnswer",
    "LimitAnswer",
    "Run",
    "Runs",
    "advise",
    "compare",
    "explain",
    "limit",
    "simulate",
]
