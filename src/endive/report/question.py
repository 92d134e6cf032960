"""The question of a study: who it is about, what is asked, and how far a configuration is from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from endive.objectives import Names, Objective, Subject, Verdict, judge, parse_objective
from endive.objectives.names import ALL as WHOLE_RUN
from endive.objectives.names import TABLE
from endive.objectives.tree import Comparison, Constant, comparisons
from endive.report.reading import Study
from endive.report.words import KIND_NAMES
from endive.tables.verdicts import PointFigures, group_of
from endive.vocabulary import REASONS

ALL: Final = ("all", "all")
_SUCCESS: Final = "success_rate"
_ENDED: Final = ("txns_committed", *(f"txns_aborted_{reason}" for reason in REASONS[1:]))
_NO_FIGURES: Final = pa.table(
    {name: pa.array([], pa.string()) for name in ("study", "point", "scope", "name", "figure", "mean")}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a study asks: the group of txns it is about, and the objective."""

    objective: Objective
    scope: str  # all, source or operation
    name: str
    sources: int
    study: Study
    figures: PointFigures

    @property
    def is_of_all(self) -> bool:
        """Return whether the question is about whole runs, or about each of their sources."""
        return (self.scope, self.name) == ALL

    @property
    def is_of_each_source(self) -> bool:
        """Return whether several sources are asked about, each for itself."""
        is_of_sources = any(subject.scope != WHOLE_RUN for subject in self.objective.subjects)
        return self.is_of_all and is_of_sources and self.sources > 1

    @property
    def who(self) -> str:
        """Return the txns the question is about, in words."""
        if self.is_of_all:
            return "txns"
        return KIND_NAMES.get(self.name, self.name) if self.scope == "operation" else self.name

    @property
    def success_min(self) -> float | None:
        """Return the success rate that is asked for, if one is and it is the same for everybody."""
        return self._level((_SUCCESS,), ">")

    def freshness_max(self, figure: str) -> float | None:
        """Return how late data may be, in ms, by a figure of their age; None if nothing or several things are asked."""
        return self._level(("freshness_ms", figure.removeprefix("freshness_").removesuffix("_ms")), "<")

    def _level(self, path: tuple[str, ...], sign: str) -> float | None:
        """Return the only number that a figure is held against."""
        parts = [part for part in comparisons(self.objective.tree) if _is_of(part, path) and part.sign[0] == sign]
        levels = {part.right.value for part in parts if isinstance(part.right, Constant)}
        return levels.pop() if len(levels) == 1 else None

    def verdict(self, point: int) -> Verdict:
        """Return the verdict on one configuration."""
        return judge(self.objective, self.figures.lookup(self.study.name, point))


def find_question(study: Study) -> Question:
    """Return the question of a study: its subject if it names one, else who its objective speaks of."""
    facts = study.facts
    names = Names(sources=tuple(facts["sources"]), kinds=tuple(facts["kinds"]))
    objective = parse_objective(facts["objective"], names)
    groups = list(dict.fromkeys(group_of(subject) for subject in objective.subjects))
    scope, name = groups[0] if len(groups) == 1 and groups[0][0] != TABLE else ALL
    if named := facts.get("subject"):
        scope, name = ("source", named) if named in names.sources else ("operation", named)
    if (scope == "source" and len(names.sources) == 1) or (scope == "operation" and len(names.kinds) == 1):
        scope, name = ALL  # there is nobody else
    return Question(
        objective=objective,
        scope=scope,
        name=name,
        sources=len(names.sources),
        study=study,
        figures=PointFigures(study.tables.get("figures", _NO_FIGURES), [objective]),
    )


def _is_of(part: Comparison, path: tuple[str, ...]) -> bool:
    """Return whether a comparison holds the figure at that place of a summary against a number."""
    left, right = part.left, part.right
    if isinstance(left, Constant) or not isinstance(left.of, Subject) or not isinstance(right, Constant):
        return False
    return left.of.field.path == path
