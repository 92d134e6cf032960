"""One pass over all txns: exact sums, small enough to be rolled up in any way afterwards.

This file defines the grain (run, operation type, source, outcome) and the integers summed over it. Everything that is
a sum or a ratio of sums comes from here; percentiles are no sums.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.open_dataset import COUNTED
from endive.pipeline.recount.txn_window import us_sql
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

TALLY_KEYS: Final = (
    "study",
    "run_id",
    "kind",
    "source",
    "outcome",  # committed, a reason to abort, executing or committing
    "in_window",
)
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)
TALLY_SUMS: Final = (
    "txns",
    "commits_in_window",  # of all txns, in_window or not
    "retries",
    "late_commits",  # of txns submitted in the window's second half
    "late_commit_us",
    "commit_us",
    "total_us",
    *PHASE_SUMS,
    *COUNTED,
)


def tallied(txns: DataFrame, zero_columns: Collection[str] = ()) -> DataFrame:
    """Sums of the txns of ``with_window``: one row per ``TALLY_KEYS``, with ``TALLY_SUMS``.

    ``zero_columns`` are known to hold nothing but zeros, and are not read.
    """
    terms = _terms()
    read = [name for name in TALLY_SUMS if name not in zero_columns]
    counted = txns.where("in_window or is_commit_in_window").select(
        "study", "run_id", "kind", "source", *_grain(), *(sf.expr(f"{terms[name]} as {name}") for name in read)
    )
    found = counted.groupBy(*TALLY_KEYS).agg(*(sf.expr(f"sum({name}) as {name}") for name in read))
    return found.selectExpr(
        *TALLY_KEYS,
        *(f"0L as {name}" if name in zero_columns else f"coalesce({name}, 0L) as {name}" for name in TALLY_SUMS),
    )


def _grain() -> list[Column]:
    status = sf.col("status")
    outcome = (
        sf.when(status == "committed", status)
        .when(status == "aborted", sf.col("reason"))
        .otherwise(sf.col("in_flight_stage"))
    )
    return [
        outcome.alias("outcome"),
        sf.col("in_window"),
    ]


def _terms() -> dict[str, str]:
    """What is summed, by name."""
    commit_us = us_sql("commit_latency_ms")
    is_late = (
        "(status = 'committed' and in_window and "
        "submit_us >= window_start_us + (window_end_us - window_start_us) div 2)"
    )
    return {
        "txns": "1L",
        "commits_in_window": "cast(is_commit_in_window as bigint)",
        "retries": "greatest(cast(attempts as bigint) - 1L, 0L)",
        "late_commits": f"cast({is_late} as bigint)",
        "late_commit_us": f"if({is_late}, {commit_us}, 0L)",
        "commit_us": commit_us,
        "total_us": us_sql("total_latency_ms"),
        **{name: us_sql(f"phase_{phase}_ms") for name, phase in zip(PHASE_SUMS, s.PHASES, strict=True)},
        **{name: f"cast({name} as bigint)" for name in COUNTED},
    }
