"""One pass over all txns: exact sums, small enough to be rolled up in any way afterwards.

This file defines the grain (run, operation type, source, outcome, attempts, n_behind) and the integers summed over
it. Everything that is a sum or a ratio of sums comes from here; percentiles are no sums, and time has bins of its
own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.open_dataset import COUNTED
from endive.pipeline.analysis.txn_window import us_sql
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT_BELOW: Final = 4  # values from here on share bins, two to an octave: 4-5, 6-7, 8-11, 12-15, 16-23, ...

TALLY_KEYS: Final = (
    "study",
    "run_id",
    "kind",
    "source",
    "outcome",  # committed, a reason to abort, executing or committing
    "in_window",
    "attempts_low",
    "n_behind_low",  # null unless the txn read history
)
PHASE_SUMS: Final = tuple(f"phase_{phase}_us" for phase in s.PHASES)
TALLY_SUMS: Final = (
    "txns",
    "commits_in_window",  # of all txns, in_window or not
    "attempts",
    "retries",
    "n_behind",
    "commit_us",
    "total_us",
    *PHASE_SUMS,
    *COUNTED,
)


def bin_low(value: Column) -> Column:
    """The smallest value of the bin a count lies in; null stays null."""
    octave = sf.floor(sf.log2(value) + 1e-10)  # the small part keeps powers of two in their own octave
    half = sf.pow(sf.lit(2.0), octave - 1)
    return sf.when(value < EXACT_BELOW, value).otherwise((sf.floor(value / half) * half).cast("bigint")).cast("bigint")


def bin_high(low: Column) -> Column:
    """The largest value of the bin that begins at ``low``."""
    half = sf.pow(sf.lit(2.0), sf.floor(sf.log2(low) + 1e-10) - 1)
    return sf.when(low < EXACT_BELOW, low).otherwise((low + half - 1).cast("bigint")).cast("bigint")


def tallied(txns: DataFrame, zero_columns: Collection[str] = ()) -> DataFrame:
    """Sums of the txns of ``with_window``: one row per ``TALLY_KEYS``, with ``TALLY_SUMS``.

    ``zero_columns`` are known to hold nothing but zeros, and are not read.
    """
    counted = txns.where("in_window or is_commit_in_window").select(
        "study", "run_id", "kind", "source", *_grain(), *map(sf.expr, _terms(zero_columns))
    )
    read = [name for name in TALLY_SUMS if name not in zero_columns]
    sums = counted.groupBy(*TALLY_KEYS).agg(*(sf.expr(f"sum({name}) as {name}") for name in read))
    return sums.selectExpr(
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
        bin_low(sf.col("attempts")).alias("attempts_low"),
        sf.when(sf.col("history_lists") > 0, bin_low(sf.col("n_behind_first"))).alias("n_behind_low"),
    ]


def _terms(zero_columns: Collection[str]) -> list[str]:
    phases = zip(PHASE_SUMS, s.PHASES, strict=True)
    return [
        "1L as txns",
        "cast(is_commit_in_window as bigint) as commits_in_window",
        "cast(attempts as bigint) as attempts",
        "greatest(cast(attempts as bigint) - 1L, 0L) as retries",
        "n_behind_first as n_behind",
        f"{us_sql('commit_latency_ms')} as commit_us",
        f"{us_sql('total_latency_ms')} as total_us",
        *(f"{us_sql(f'phase_{phase}_ms')} as {name}" for name, phase in phases),
        *(f"cast({name} as bigint) as {name}" for name in COUNTED if name not in zero_columns),
    ]
