"""Whether configurations meet the objective of their study, by the means over their seeds.

The language is ``endive.objectives``'. No Spark is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.slo import names_in
from endive.errors import ConfigError, ObjectiveError
from endive.objectives import (
    CANNOT_TELL,
    DEFAULT_OBJECTIVE,
    MET,
    NOT_MET,
    Estimate,
    Judged,
    Lookup,
    Names,
    Objective,
    Subject,
    Verdict,
    judge,
    parse_objective,
)
from endive.objectives.names import KIND, unkept
from endive.objectives.names import SOURCE as SOURCE_SUBJECT
from endive.tables.figure_columns import FIGURES
from endive.tables.scopes import ALL, OPERATION, SOURCE

VERDICTS: Final = ("meets_objective", "verdict", "misses")
VERDICT_SCHEMA: Final = pa.schema(
    [
        pa.field("study", pa.string()),
        pa.field("point", pa.int32()),
        pa.field("scope", pa.string()),
        pa.field("name", pa.string()),
        pa.field("meets_objective", pa.bool_()),  # by the means themselves; null if one is missing
        pa.field("verdict", pa.string()),  # met, not met or cannot tell, by the intervals
        pa.field("misses", pa.string()),  # the comparisons that do not hold
    ]
)
_COLUMN_AT: Final = {place: column for column, (_, place) in FIGURES.items()}
_SCOPE_OF: Final = {KIND: OPERATION, SOURCE_SUBJECT: SOURCE}

Place = tuple[str, int]  # study and point


def objective_texts(documents: Mapping[str, Mapping[str, Any]], wanted: str | None) -> dict[str, str]:
    """The objective of every study, from its document: ``wanted`` if given, else its ``[slo]``, else the default."""
    return {study: wanted or _own_text(document) or DEFAULT_OBJECTIVE for study, document in documents.items()}


def point_objectives(configs: Mapping[Place, str], texts: Mapping[str, str]) -> dict[Place, Objective]:
    """What the objective of a study means at each of its points, whose configurations are given as JSON."""
    objectives: dict[Place, Objective] = {}
    for (study, point), text in configs.items():
        try:
            objectives[study, point] = _parse(texts[study], names_in(json.loads(text)))
        except ObjectiveError as error:
            raise ConfigError(f"Study {study}: {error}") from None
    return objectives


def study_names(configs: Mapping[Place, str], study: str) -> Names:
    """What there is to speak of at any point of a study."""
    of_points = {names_in(json.loads(text)) for (name, _), text in configs.items() if name == study}
    return Names(
        sources=tuple(dict.fromkeys(source for names in of_points for source in names.sources)),
        kinds=tuple(sorted({kind for names in of_points for kind in names.kinds})),
    )


def verdicts(figures: pa.Table, objectives: Mapping[Place, Objective]) -> pa.Table:
    """``VERDICT_SCHEMA`` from the table of all figures across seeds: a row per group that is judged."""
    point_figures = PointFigures(figures, set(objectives.values()))
    rows = [
        {"study": study, "point": point, "scope": scope, "name": name, **told}
        for (study, point), objective in objectives.items()
        for (scope, name), told in group_verdicts(judge(objective, point_figures.lookup(study, point)))
    ]
    return pa.Table.from_pylist(rows, VERDICT_SCHEMA)


class PointFigures:
    """What objectives ask about, from the table of all figures across seeds."""

    def __init__(self, figures: pa.Table, objectives: Iterable[Objective]) -> None:
        wanted = {_column(subject) for objective in objectives for subject in objective.subjects}
        keys = ["study", "point", "scope", "name"]
        rows = figures.group_by(keys).aggregate([]).select(keys).to_pylist()
        self._groups = {tuple(row.values()) for row in rows}
        chosen = figures.filter(pc.is_in(figures["figure"], pa.array(sorted(wanted), pa.string())))
        self._estimates = {
            (row["study"], row["point"], row["scope"], row["name"], row["figure"]): Estimate(
                row["mean"], row["ci95_low"], row["ci95_high"]
            )
            for row in chosen.to_pylist()
        }

    def lookup(self, study: str, point: int) -> Lookup:
        """The figures of one configuration; a count that is zero in every run is not in the table."""

        def find(subject: Subject) -> Estimate:
            group = (study, point, *group_of(subject))
            if group not in self._groups:
                return Estimate(None)
            column = _column(subject)
            missing = Estimate.exactly(0.0) if pa.types.is_integer(FIGURES[column][0]) else Estimate(None)
            return self._estimates.get((*group, column), missing)

        return find


@lru_cache(maxsize=256)
def _parse(text: str, names: Names) -> Objective:
    """A sweep keeps no figures by table and none of data, so an objective of a study cannot speak of them."""
    objective = parse_objective(text, names)
    if refused := unkept(objective.subjects):
        raise ObjectiveError(refused)
    return objective


def _own_text(document: Mapping[str, Any]) -> str | None:
    section = document.get("base", {}).get("slo", {})
    text = section.get("objective") if isinstance(section, Mapping) else None
    return text if isinstance(text, str) else None


def group_verdicts(verdict: Verdict) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """``VERDICTS`` of the whole run, and of each operation type and source that the objective speaks of."""
    yield (ALL, ALL), _row(verdict.holds, verdict.outcome, verdict.parts)
    own: dict[tuple[str, str], list[Judged]] = {}
    for part in verdict.parts:
        own.setdefault(group_of(part.subject), []).append(part)
    for (scope, name), parts in own.items():
        if scope != ALL:
            holds = [part.holds for part in parts]
            outcomes = [part.outcome for part in parts]
            told = _row(_all(holds, False, None, True), _all(outcomes, NOT_MET, CANNOT_TELL, MET), parts)
            yield (scope, name), told


def figure_row(subject: Subject, estimate: Estimate) -> dict[str, Any]:
    """What an objective asks about, as a row of the table of all figures."""
    scope, name = group_of(subject)
    high = None if estimate.high == math.inf else estimate.high
    ends = {"mean": estimate.value, "ci95_low": None if high is None else estimate.low, "ci95_high": high}
    return {"scope": scope, "name": name, "figure": _column(subject), **ends}


def _row(holds: bool | None, outcome: str, parts: tuple[Judged, ...] | list[Judged]) -> dict[str, Any]:
    missed = " and ".join(str(part.comparison) for part in parts if part.holds is False)
    return {"meets_objective": holds, "verdict": outcome, "misses": (missed or None) if holds is not True else None}


def _all(values: list[Any], no: Any, unknown: Any, yes: Any) -> Any:
    """All of them hold: Kleene's and."""
    return no if no in values else unknown if unknown in values else yes


def group_of(subject: Subject) -> tuple[str, str]:
    """Scope and name under which the tables of an analysis have what an objective speaks of."""
    return (ALL, ALL) if not subject.name else (_SCOPE_OF.get(subject.scope, subject.scope), subject.name)


def _column(subject: Subject) -> str:
    return _COLUMN_AT[subject.field.path]
