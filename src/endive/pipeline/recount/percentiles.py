"""Percentiles of latency per run, operation type and source.

This file defines how they are computed: the order statistics of the whole group, interpolated linearly as
``endive.results.summary`` does, operation by operation, so that both give the same number. All latencies of a run
come together in one place, so runs of more than ``EXACT_TXNS_MAX`` txns are left to the grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.scopes import RUN, RUN_GROUP
from endive.pipeline.recount.txn_scopes import scope_labels
from endive.pipeline.recount.txn_window import us

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT_TXNS_MAX: Final = 4_000_000  # of one run; about 32 bytes each while they are sorted
SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
LATENCIES: Final = ("commit", "total")
PERCENTILE_COLUMNS: Final = tuple(f"{latency}_latency_{name}_ms" for latency in LATENCIES for name in SHARES)


def committed_latencies(txns: DataFrame) -> DataFrame:
    """Both latencies of every txn of ``with_window`` that was submitted in the window and committed."""
    return txns.where("in_window and status = 'committed'").select(
        "study",
        "run_id",
        "kind",
        "source",
        us("commit_latency_ms").alias("commit_us"),
        us("total_latency_ms").alias("total_us"),
    )


def exact_percentiles(latencies: DataFrame) -> DataFrame:
    """``RUN_GROUP`` and ``PERCENTILE_COLUMNS``. The latencies of a run come together in one row."""
    gathered = latencies.groupBy(*RUN, "kind", "source").agg(
        *(sf.collect_list(f"{name}_us").alias(name) for name in LATENCIES)
    )
    runs = gathered.groupBy(*RUN).agg(sf.collect_list(sf.struct("kind", "source", *LATENCIES)).alias("parts"))
    labelled = runs.select(*RUN, "parts", sf.explode(_labels("parts")).alias("label"))
    ordered = labelled.select(*RUN, "label.scope", "label.name", *(_ordered("parts", name) for name in LATENCIES))
    return ordered.select(
        *RUN_GROUP,
        *(
            (interpolated(sf.col(name), share) / 1000.0).alias(f"{name}_latency_{percentile}_ms")
            for name in LATENCIES
            for percentile, share in SHARES.items()
        ),
    )


def _labels(parts: str) -> Column:
    """The groups that a run's parts, by operation type and source, belong to."""
    return sf.array_distinct(
        sf.flatten(sf.transform(parts, lambda part: scope_labels(part.getField("kind"), part.getField("source"))))
    )


def _ordered(parts: str, latency: str) -> Column:
    """A latency of all parts that belong to the group ``label``, sorted."""
    label = sf.col("label")
    chosen = sf.filter(
        parts,
        lambda part: sf.array_contains(scope_labels(part.getField("kind"), part.getField("source")), label),
    )
    values = sf.transform(chosen, lambda part: part.getField(latency))
    return sf.sort_array(sf.flatten(values)).alias(latency)


def interpolated(ordered: Column, share: float) -> Column:
    """The ``share`` quantile of a sorted array that is not empty, in NumPy's order of operations."""
    position = (sf.size(ordered) - 1) * share
    below = sf.floor(position).cast("int")
    low = sf.get(ordered, below)
    high = sf.get(ordered, sf.least(below + 1, sf.size(ordered) - 1))
    part = position - below
    difference = high - low
    return sf.when(part >= 0.5, high - difference * (1 - part)).otherwise(low + difference * part)
