"""The ``[slo]`` section: the objective a run is judged by, and the names it can speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from endive.config.sections.stream import stream_problem_of
from endive.config.values import Check, Table, key, refusal
from endive.errors import ObjectiveError
from endive.objectives import DEFAULT_OBJECTIVE, NAMED_OBJECTIVES, Names, Objective, parse_objective
from endive.objectives.objective import check_syntax
from endive.vocabulary import KINDS

if TYPE_CHECKING:
    from endive.config.simulation_config import SimulationConfig

EXAMPLE = "merge.success_rate >= 99 % and appends.p99_commit <= 5s"


@dataclass(frozen=True, slots=True)
class ObjectiveText(Check):
    """A text in the language of objectives."""

    words = f"an objective such as `{EXAMPLE}`, or a name: {', '.join(NAMED_OBJECTIVES)}"

    def check(self, value: object) -> str:
        if not isinstance(value, str) or not value.strip():
            raise refusal(f"must be {self.describe()}.")
        try:
            check_syntax(value)
        except ObjectiveError as error:
            raise refusal(f"is no objective: {error}") from None
        return value


class SloSection(Table):
    """What a run is judged by; it changes no result."""

    objective: Annotated[str, ObjectiveText()] | None = key(
        None, "What must hold, in the language of docs/reference/objectives.md.", DEFAULT_OBJECTIVE
    )


def names_of(config: SimulationConfig) -> Names:
    """What an objective can speak of in this configuration."""
    sources = [source.model_dump() for source in config.sources]
    return names_in({"source": sources, "catalog": {"num_tables": config.catalog.num_tables}})


def names_in(document: Mapping[str, Any]) -> Names:
    """The same from a resolved configuration as plain values."""
    sources = document["source"]
    used = tuple(kind for kind in KINDS if any(source["operation_types"].get(kind, 0.0) > 0.0 for source in sources))
    return Names(
        sources=tuple(source["name"] for source in sources),
        kinds=used,
        tables=document["catalog"]["num_tables"],
        kinds_unused=tuple(kind for kind in KINDS if kind not in used),
        stream_problems=tuple(stream_problem_of(source) or "" for source in sources),
    )


def objective_of(config: SimulationConfig, text: str | None = None) -> Objective:
    """The objective of a configuration: ``text`` if given, else its ``[slo]``, else the default."""
    return parse_objective(config.slo.objective if text is None else text, names_of(config))
