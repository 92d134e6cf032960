"""The figures of every run, operation type and source, rolled up from the counts of its txns.

The same figures under the same names as ``endive.results.summary``, and the same numbers, bit for bit. Integers are
divided once, at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.count_tables import by_scope
from endive.pipeline.analysis.latencies_from_txns import LATENCIES, PERCENTILE_COLUMNS
from endive.pipeline.analysis.open_dataset import COUNTED
from endive.pipeline.analysis.scopes import ALL, RUN, RUN_GROUP
from endive.pipeline.analysis.txn_counts import COMMITTED, PHASE_SUMS, STAGES
from endive.pipeline.dataset.figure_columns import FIGURES, OF_DATA
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_REASONS: Final = s.REASONS[1:]
_COMMITTED_SUMS: Final = ("commit_us", "total_us", *PHASE_SUMS)
_WINDOW_SUMS: Final = ("retries", "late_commits", "late_commit_us", *COUNTED)
RECOUNTED: Final = tuple(name for name in FIGURES if name not in OF_DATA)  # ages need the order of txns, not sums
FIGURE_SUMS: Final = ("txns", "commits_in_window", *_COMMITTED_SUMS, *_WINDOW_SUMS)


def figures_from_txns(runs: DataFrame, tallies: DataFrame, percentiles: DataFrame) -> DataFrame:
    """``RUN_GROUP`` and ``RECOUNTED`` of every run that ended, and of each of its operation types and sources.

    ``tallies`` are txns counted by ``GRAIN``, with ``FIGURE_SUMS``, and ``RUN`` in the place of the run's number.
    """
    ended = runs.where("status = 'ok'")
    totals = tallies.transform(by_scope).transform(_totals)
    whole = ended.select(*RUN, sf.lit(ALL).alias("scope"), sf.lit(ALL).alias("name"))
    groups = whole.join(totals, on=list(RUN_GROUP), how="full").na.fill(0)
    lengths = ended.select(*RUN, (sf.col("window_length_s") * 1e6 + 0.5).cast("bigint").alias("length_us"))
    return (
        groups.join(percentiles, on=list(RUN_GROUP), how="left")
        .join(sf.broadcast(lengths), on=list(RUN), how="inner")
        .transform(_figures)
    )


# ---- sums per group ----------------------------------------------------------------------------------


def _totals(tallies: DataFrame) -> DataFrame:
    """One row per ``RUN_GROUP``: txns by outcome, and sums of the window's txns."""
    outcomes = {
        "txns_committed": COMMITTED,
        **{f"txns_aborted_{reason}": reason for reason in _REASONS},
        **{f"txns_in_flight_{stage}": stage for stage in STAGES},
    }
    return tallies.groupBy(*RUN_GROUP).agg(
        sf.sum("commits_in_window").alias("commits_in_window"),
        *(_sum_where(f"in_window and outcome = '{outcome}'", "txns", name) for name, outcome in outcomes.items()),
        *(_sum_where(f"in_window and outcome = '{COMMITTED}'", name) for name in _COMMITTED_SUMS),
        *(_sum_where("in_window", name) for name in _WINDOW_SUMS),
    )


def _sum_where(condition: str, name: str, alias: str | None = None) -> Column:
    assert name in FIGURE_SUMS
    return sf.expr(f"sum(if({condition}, {name}, 0L)) as {alias or name}")


# ---- figures ------------------------------------------------------------------------------------------


def _figures(groups: DataFrame) -> DataFrame:
    aborted = " + ".join(f"txns_aborted_{reason}" for reason in _REASONS)
    in_flight = " + ".join(f"txns_in_flight_{stage}" for stage in STAGES)
    rates = groups.selectExpr(
        "*",
        f"txns_committed + {aborted} + {in_flight} as txns_submitted",
        f"txns_committed + {aborted} as txns_ended",
        " + ".join(f"requests_{request}" for request in s.REQUESTS) + " as requests_total",
    )
    figures = {
        "offered_per_s": _per_s("txns_submitted"),
        "committed_per_s": _per_s("txns_committed"),
        "committed_in_window_per_s": _per_s("commits_in_window"),
        "success_rate": ratio_sql("txns_committed", "txns_ended"),
        "retries_mean": ratio_sql("retries", "txns_ended"),
        "requests_per_committed_txn": ratio_sql("requests_total", "txns_committed"),
    }
    for latency in LATENCIES:
        figures[f"{latency}_latency_mean_ms"] = ratio_sql(f"{latency}_us", "(1000 * txns_committed)")
    for half, txns, commit_us in (
        ("first", "(txns_committed - late_commits)", "(commit_us - late_commit_us)"),
        ("second", "late_commits", "late_commit_us"),
    ):
        figures[f"txns_committed_{half}_half"] = txns
        figures[f"commit_latency_{half}_half_mean_ms"] = ratio_sql(commit_us, f"(1000 * {txns})")
    for phase, total in zip(s.PHASES, PHASE_SUMS, strict=True):
        figures[f"phase_{phase}_mean_ms"] = ratio_sql(total, "(1000 * txns_committed)")
    assert set(PERCENTILE_COLUMNS) < set(FIGURES)
    kept = [name for name in RECOUNTED if name not in figures]
    made = rates.selectExpr(*RUN_GROUP, *kept, *(f"{text} as {name}" for name, text in figures.items()))
    return made.select(*RUN_GROUP, *RECOUNTED)


def ratio_sql(part: str, whole: str) -> str:
    """A quotient as a double; null where there is nothing to divide by."""
    return f"if({whole} != 0, cast({part} as double) / cast({whole} as double), null)"


def _per_s(count: str) -> str:
    return ratio_sql(f"{count} * 1000000", "length_us")
