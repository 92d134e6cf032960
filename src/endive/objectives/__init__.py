"""Objectives: what a result is judged by, written as people say it, and the verdict on it."""

from endive.objectives.certainty import CANNOT_TELL, MET, NOT_MET
from endive.objectives.duration import duration_text, parse_duration_ms
from endive.objectives.estimate import Estimate
from endive.objectives.fields import FIELDS, Field, field_at
from endive.objectives.judge import Judged, Lookup, Verdict, judge
from endive.objectives.names import Names, Subject
from endive.objectives.objective import DEFAULT_OBJECTIVE, NAMED_OBJECTIVES, Objective, parse_objective

__all__ = [
    "CANNOT_TELL",
    "DEFAULT_OBJECTIVE",
    "FIELDS",
    "MET",
    "NAMED_OBJECTIVES",
    "NOT_MET",
    "Estimate",
    "Field",
    "Judged",
    "Lookup",
    "Names",
    "Objective",
    "Subject",
    "Verdict",
    "duration_text",
    "field_at",
    "judge",
    "parse_duration_ms",
    "parse_objective",
]
