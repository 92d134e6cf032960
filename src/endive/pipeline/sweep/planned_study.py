"""A study as a sweep starts from it: its runs expanded, its columns typed, its size known.

How runs are identified and packed is in ``endive.pipeline.sweep.plan``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from endive.config.study import Study
from endive.config.toml_text import value_text
from endive.errors import ConfigError
from endive.pipeline.dataset.figure_columns import FIGURES, RESERVED
from endive.pipeline.sweep.plan import Run, plan_runs

RUNS_UNASKED_MAX: Final = 10_000  # more want --yes
TXNS_UNASKED_MAX: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class PlannedStudy:
    """A study with its runs expanded and its columns typed; nothing has run yet."""

    study: Study
    runs: tuple[Run, ...]
    axes: tuple[pa.Field, ...]

    @classmethod
    def of(cls, study: Study) -> PlannedStudy:
        """Expand a study; ConfigError with every problem of every combination."""
        unknown = [metric for metric in study.report.metrics if metric not in FIGURES]
        if unknown:
            raise ConfigError([f"study.report.metrics: '{metric}' is not a figure." for metric in unknown])
        runs = plan_runs(study)
        return cls(study, runs, axis_fields(study.columns, runs))

    @property
    def txns(self) -> float:
        """Expected txns of all runs."""
        return sum(run.txns for run in self.runs)

    def refuse_if_large(self) -> None:
        """Raise ConfigError if the study is larger than anybody wants by accident."""
        for count, limit, what in (
            (len(self.runs), RUNS_UNASKED_MAX, "runs"),
            (int(self.txns), TXNS_UNASKED_MAX, "expected txns"),
        ):
            if count > limit:
                raise ConfigError(
                    f"The study has {count:,} {what}; above {limit:,}, say that you mean it with --yes "
                    "(--dry-run shows the grid)."
                )


def axis_fields(names: Sequence[str], runs: Sequence[Run]) -> tuple[pa.Field, ...]:
    """One column per axis or derived key, typed by the values the runs have."""
    taken = [name for name in names if name in RESERVED]
    if taken:
        raise ConfigError([f"axes: '{name}' is the name of a column of the results; rename it." for name in taken])
    points: dict[int, Mapping[str, Any]] = {run.point: run.values for run in runs}
    return tuple(
        pa.field(name, _type_of(values[name] for values in points.values() if name in values)) for name in names
    )


def axis_values(fields: Iterable[pa.Field], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one run, as their columns hold them; null where a point leaves an axis to the base."""
    return {field.name: _cell(field, values.get(field.name)) for field in fields}


def _type_of(values: Iterable[Any]) -> pa.DataType:
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_()
    if kinds == {int}:
        return pa.int64()
    if kinds and kinds <= {int, float}:
        return pa.float64()
    return pa.string()


def _cell(field: pa.Field, value: Any) -> Any:
    if value is None:
        return None
    if field.type == pa.float64():
        return float(value)
    if field.type == pa.string() and not isinstance(value, str):
        return value_text(value)
    return value
