"""What a sweep wrote down, held against its txns: ``endive verify dataset``.

Every figure of every run whose txns were kept is compared bit for bit (but for how late data are, which no sum of txns
tells), the counts of latencies on the grid exactly, and the percentiles of all runs with the counts they must lie in.
It changes nothing. Txns are counted as an analysis counts them (``txn_counts``), with more sums
and fewer keys. Figures have the names of ``endive.results.summary``, and integers are divided once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.latencies_from_txns import (
    EXACT_TXNS_MAX,
    LATENCIES,
    PERCENTILE_COLUMNS,
    bracketed,
    by_scope,
    committed_latencies,
    counts_from_txns,
    exact_percentiles,
)
from endive.pipeline.analysis.open_dataset import COUNTED, Dataset
from endive.pipeline.analysis.scopes import ALL, RUN, RUN_GROUP, measured
from endive.pipeline.analysis.txn_counts import (
    COMMITTED,
    PHASE_SUMS,
    STAGES,
    count_figures,
    run_windows,
    with_window,
)
from endive.pipeline.dataset.figure_columns import FIGURES, OF_DATA
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


COUNTS: Final = "latencies on the grid"
BRACKETS: Final = "percentiles within their bins"
_COUNT_KEYS: Final = (*RUN, "source", "kind", "latency", "bin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How many values of one figure were compared, and how many are equal."""

    study: str
    figure: str
    values: int
    equal: int
    difference: str | None  # the first one, in words


def recount(spark: SparkSession, dataset: Dataset) -> list[Agreement]:
    """Every figure of every study, compared."""
    agreements: list[Agreement] = []
    counts = dataset.latency_frame(spark)
    runs = dataset.run_frame(spark).where("status = 'ok'")
    told = spark.createDataFrame(measured(dataset.runs, dataset.groups))
    if dataset.detailed:
        kept = runs.where("transactions_kept")
        windows = spark.createDataFrame(run_windows(dataset.runs))
        txns = with_window(dataset.transaction_frame(spark), windows)
        agreements += _agreements(
            _join(told, _figures_of_runs(kept, txns, windows), kept), RUN_GROUP, _figures_compared()
        )
        counts_compared = {COUNTS: "told.txns <=> found.txns"}
        both = _join(counts, counts_from_txns(txns), kept, _COUNT_KEYS)
        agreements += _agreements(both, _COUNT_KEYS, counts_compared)
    inside = bracketed(counts, told)
    agreements += _agreements(inside, (*RUN_GROUP, "figure"), {BRACKETS: "is_inside"})
    return sorted(agreements, key=lambda each: (each.study, [*RECOUNTED, COUNTS, BRACKETS].index(each.figure)))


def _figures_of_runs(runs: DataFrame, txns: DataFrame, windows: DataFrame) -> DataFrame:
    small = runs.where(sf.col("txns") <= EXACT_TXNS_MAX).select(*RUN)
    latencies = committed_latencies(txns).join(sf.broadcast(small), on=list(RUN), how="left_semi")
    counted = count_figures(txns, FIGURE_SUMS)
    tallies = counted.join(sf.broadcast(windows.select("run", *RUN)), on="run").drop("run")
    return figures_from_txns(runs, tallies, exact_percentiles(latencies))


def _figures_compared() -> dict[str, str]:
    """When a figure counts as equal. Percentiles of very large runs are left to the grid."""
    judged = [*PERCENTILE_COLUMNS]
    is_large = f"run_txns > {EXACT_TXNS_MAX}"
    return {name: f"told.{name} <=> found.{name}" + (f" or {is_large}" if name in judged else "") for name in RECOUNTED}


def _join(told: DataFrame, found: DataFrame, runs: DataFrame, keys: Sequence[str] = RUN_GROUP) -> DataFrame:
    """What was written beside what was derived, of these runs: as two structs, either of which may be missing."""
    sides = [
        frame.select(*keys, sf.struct(*(name for name in frame.columns if name not in keys)).alias(side))
        for side, frame in (("told", told), ("found", found))
    ]
    both = sides[0].join(sides[1], on=list(keys), how="full")
    sizes = runs.select(*RUN, sf.col("txns").alias("run_txns"))
    return both.join(sf.broadcast(sizes), on=list(RUN), how="inner")


def _agreements(both: DataFrame, keys: Sequence[str], compared: dict[str, str]) -> Iterator[Agreement]:
    """One per study and figure; ``compared`` says when a figure is equal, as an expression."""
    names = list(compared)
    columns: list[Column] = [sf.count(sf.lit(1)).alias("values")]
    for place, name in enumerate(names):
        where = sf.concat_ws(" ", *(sf.col(key).cast("string") for key in keys[1:]))
        sides = [f"cast({side}.{name} as string)" for side in ("told", "found")] if "told" in both.columns else []
        values = sf.concat_ws(" ", *(sf.expr(f"coalesce({side}, 'nothing')") for side in _known(both, name, sides)))
        equal = sf.expr(compared[name])
        columns.append(sf.count(sf.when(equal, True)).alias(f"equal_{place}"))
        columns.append(sf.min(sf.when(~equal, sf.concat_ws(": ", where, values))).alias(f"first_{place}"))
    rows: list[dict[str, Any]] = both.groupBy("study").agg(*columns).toArrow().to_pylist()
    for row in rows:
        for place, name in enumerate(names):
            yield Agreement(
                study=row["study"],
                figure=name,
                values=row["values"],
                equal=row[f"equal_{place}"],
                difference=row[f"first_{place}"],
            )


def _known(both: DataFrame, name: str, sides: list[str]) -> list[str]:
    if not sides:
        return []
    fields = both.schema["told"].dataType.fieldNames()
    return sides if name in fields else [f"cast({side}.txns as string)" for side in ("told", "found")]


# ---- figures of every run, operation type and source -------------------------------------------------


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
