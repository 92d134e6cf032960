"""A study as a sweep starts from it: its runs expanded, its columns typed, its size known.

How runs are identified and packed is in ``endive.pipeline.sweep.plan``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from endive.config.study import Study
from endive.errors import ConfigError
from endive.pipeline.dataset.figure_columns import FIGURES
from endive.pipeline.sweep.axis_columns import axis_fields
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
