"""One pass over all txns: exact sums, small enough to be rolled up in any way afterwards.

Owns the grain (run, operation type, source, outcome, attempts, n_behind) and the integers summed over it. Everything
that is a sum or a ratio of sums comes from here; percentiles are no sums, and time has bins of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.reading import COUNTED
from endive.pipeline.window import us
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
        "study", "run_id", "kind", "source", *_grain(), *_terms(zero_columns)
    )
    read = [name for name in TALLY_SUMS if name not in zero_columns]
    sums = counted.groupBy(*TALLY_KEYS).agg(*(sf.sum(name).alias(name) for name in read))
    return sums.select(
        *TALLY_KEYS,
        *(
            sf.lit(0).cast("bigint").alias(name) if name in zero_columns else sf.coalesce(name, sf.lit(0)).alias(name)
            for name in TALLY_SUMS
        ),
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


def _terms(zero_columns: Collection[str]) -> list[Column]:
    attempts = sf.col("attempts").cast("bigint")
    phases = zip(PHASE_SUMS, s.PHASES, strict=True)
    return [
        sf.lit(1).cast("bigint").alias("txns"),
        sf.col("is_commit_in_window").cast("bigint").alias("commits_in_window"),
        attempts.alias("attempts"),
        sf.greatest(attempts - 1, sf.lit(0)).alias("retries"),
        sf.col("n_behind_first").alias("n_behind"),
        us("commit_latency_ms").alias("commit_us"),
        us("total_latency_ms").alias("total_us"),
        *(us(f"phase_{phase}_ms").alias(name) for name, phase in phases),
        *(sf.col(name).cast("bigint").alias(name) for name in COUNTED if name not in zero_columns),
    ]
