"""The figures of every run, operation type and source, as the sweep wrote them down.

This file defines the frame that everything across seeds starts from, and the quotients used on Spark. No txn is read:
a run's figures were measured exactly when it was simulated (``endive.results.summary``). ``endive.pipeline.recount``
derives them again from txns, to test that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.scopes import ALL, RUN, RUN_GROUP
from endive.pipeline.dataset.figure_columns import FIGURES
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXTRA_FIGURES: Final = ("requests_per_txn", "in_flight_committing_share")  # beside the sweep's FIGURES
MEASURED: Final = (*RUN_GROUP, *FIGURES, *EXTRA_FIGURES)

_REASONS: Final = s.REASONS[1:]


def measured(runs: DataFrame, groups: DataFrame) -> DataFrame:
    """``MEASURED``: one row for every run that ended, and one for each of its operation types and sources."""
    whole = runs.where("status = 'ok'").selectExpr(*RUN, f"'{ALL}' as scope", f"'{ALL}' as name", *FIGURES)
    both = whole.unionByName(groups.selectExpr(*RUN_GROUP, *FIGURES))
    return both.selectExpr(*RUN_GROUP, *FIGURES, *_extras())


def _extras() -> list[str]:
    ended = " + ".join(["txns_committed", *(f"txns_aborted_{reason}" for reason in _REASONS)])
    return [
        ratio_sql("requests_total", f"({ended})") + " as requests_per_txn",
        ratio_sql("txns_in_flight_committing", "txns_submitted") + " as in_flight_committing_share",
    ]


def ratio(part: Column, whole: Column) -> Column:
    """A quotient as a double; null where there is nothing to divide by."""
    return sf.when(whole != 0, part.cast("double") / whole.cast("double"))


def ratio_sql(part: str, whole: str) -> str:
    """``ratio`` as text."""
    return f"if({whole} != 0, cast({part} as double) / cast({whole} as double), null)"
