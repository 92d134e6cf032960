"""The table of runs compared with its transactions: ``endive check --recount``.

Every metric of every run whose transactions were kept is compared bit for bit (but for data freshness, which no sum of
transactions shows), every count exactly, and the percentiles of all runs with the counts they must be in. It changes
nothing. Metrics have the names of ``endive.results.summary``, and integers are divided once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.latencies_from_txns import (
    EXACT_TXNS_MAX,
    LATENCIES,
    PERCENTILE_COLUMNS,
    by_scope,
    committed_latencies,
    counts_from_txns,
    exact_percentiles,
    find_brackets,
)
from endive.pipeline.analysis.open_dataset import COUNTED, Dataset
from endive.pipeline.analysis.txn_counts import (
    COMMITTED,
    PHASE_SUMS,
    STAGES,
    count_figures,
    count_outcomes,
    count_timeline,
    with_window,
)
from endive.results import schema as s
from endive.tables.figure_columns import FIGURES, OF_DATA
from endive.tables.run_counts import OUTCOME_KEYS, run_windows
from endive.tables.scopes import ALL, RUN, RUN_GROUP, figures_by_scope

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


COUNTS: Final = "latencies on the grid"
TIMELINE: Final = "timeline"
OUTCOMES: Final = "outcomes"
BRACKETS: Final = "percentiles within their bins"
_SIDES: Final = ("told", "found")  # what was written, what was derived
_COUNT_KEYS: Final = (*RUN, "source", "kind", "latency", "bin")
_TIME_KEYS: Final = (*RUN, "source", "kind", "bin")
_OUTCOME_KEYS: Final = (*RUN, *OUTCOME_KEYS)


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
    counts = dataset.count_frame(spark, "latencies").drop("point", "seed")
    runs = spark.createDataFrame(dataset.runs).where("status = 'ok'")
    told = spark.createDataFrame(figures_by_scope(dataset.runs, dataset.groups))
    if dataset.detailed:
        kept = runs.where("transactions_kept")
        windows = spark.createDataFrame(run_windows(dataset.runs))
        txns = with_window(dataset.transaction_frame(spark), windows)
        figures = _join(told, _figures_of_runs(kept, txns, windows), kept, RUN_GROUP)
        agreements += _agreements(figures, RUN_GROUP, {name: _is_equal(name) for name in RECOUNTED})
        both = _join(counts, counts_from_txns(txns), kept, _COUNT_KEYS)
        agreements += _agreements(both, _COUNT_KEYS, {COUNTS: "told.txns <=> found.txns"})
        for name, count, keys in ((TIMELINE, count_timeline, _TIME_KEYS), (OUTCOMES, count_outcomes, _OUTCOME_KEYS)):
            rows = dataset.count_frame(spark, name).drop("point", "seed")
            both = _join(rows, count(txns).drop("point", "seed"), kept, keys)
            agreements += _agreements(both, keys, {name: "told <=> found"})
    inside = find_brackets(counts, told)
    agreements += _agreements(inside, (*RUN_GROUP, "figure"), {BRACKETS: "is_inside"})
    return sorted(
        agreements, key=lambda each: (each.study, [*RECOUNTED, COUNTS, TIMELINE, OUTCOMES, BRACKETS].index(each.figure))
    )


def _figures_of_runs(runs: DataFrame, txns: DataFrame, windows: DataFrame) -> DataFrame:
    small = runs.where(sf.col("txns") <= EXACT_TXNS_MAX).select(*RUN)
    latencies = committed_latencies(txns).join(sf.broadcast(small), on=list(RUN), how="left_semi")
    tallies = count_figures(txns, FIGURE_SUMS).join(sf.broadcast(windows.select("run", *RUN)), on="run").drop("run")
    return figures_from_txns(runs, tallies, exact_percentiles(latencies))


def _is_equal(figure: str) -> str:
    """When a figure counts as equal. Percentiles of very large runs are left to the grid."""
    exempt = f" or run_txns > {EXACT_TXNS_MAX}" if figure in PERCENTILE_COLUMNS else ""
    return f"told.{figure} <=> found.{figure}{exempt}"


def _join(told: DataFrame, found: DataFrame, runs: DataFrame, keys: Sequence[str]) -> DataFrame:
    """What was written beside what was derived, of these runs: as two structs, either of which may be missing."""
    sides = [
        frame.select(*keys, sf.struct(*(name for name in frame.columns if name not in keys)).alias(side))
        for side, frame in zip(_SIDES, (told, found), strict=True)
    ]
    both = sides[0].join(sides[1], on=list(keys), how="full")
    sizes = runs.select(*RUN, sf.col("txns").alias("run_txns"))
    return both.join(sf.broadcast(sizes), on=list(RUN), how="inner")


def _agreements(both: DataFrame, keys: Sequence[str], compared: dict[str, str]) -> Iterator[Agreement]:
    """One per study and figure; ``compared`` says when a figure is equal, as an expression."""
    where = sf.concat_ws(" ", *(sf.col(key).cast("string") for key in keys[1:]))
    columns: list[Column] = [sf.count(sf.lit(1)).alias("values")]
    for place, (name, condition) in enumerate(compared.items()):
        whole = {TIMELINE: "", OUTCOMES: "", COUNTS: ".txns"}
        sides = [] if name == BRACKETS else [f"{side}{whole.get(name, f'.{name}')}" for side in _SIDES]
        values = sf.concat_ws(" ", *(sf.expr(f"coalesce(cast({side} as string), 'nothing')") for side in sides))
        equal = sf.expr(condition)
        columns.append(sf.count(sf.when(equal, True)).alias(f"equal_{place}"))
        columns.append(sf.min(sf.when(~equal, sf.concat_ws(": ", where, values))).alias(f"first_{place}"))
    for row in both.groupBy("study").agg(*columns).toArrow().to_pylist():
        for place, name in enumerate(compared):
            equal, first = row[f"equal_{place}"], row[f"first_{place}"]
            yield Agreement(study=row["study"], figure=name, values=row["values"], equal=equal, difference=first)


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
    totals = tallies.transform(by_scope).groupBy(*RUN_GROUP).agg(*_totals())
    whole = ended.select(*RUN, sf.lit(ALL).alias("scope"), sf.lit(ALL).alias("name"))
    groups = whole.join(totals, on=list(RUN_GROUP), how="full").na.fill(0)
    lengths = ended.select(*RUN, (sf.col("window_length_s") * 1e6 + 0.5).cast("bigint").alias("length_us"))
    return (
        groups.join(percentiles, on=list(RUN_GROUP), how="left")
        .join(sf.broadcast(lengths), on=list(RUN), how="inner")
        .transform(_figures)
    )


def _totals() -> Iterator[Column]:
    """Txns by outcome, and sums of the window's txns."""
    outcomes = {
        "txns_committed": COMMITTED,
        **{f"txns_aborted_{reason}": reason for reason in _REASONS},
        **{f"txns_in_flight_{stage}": stage for stage in STAGES},
    }
    yield sf.sum("commits_in_window").alias("commits_in_window")
    for name, outcome in outcomes.items():
        yield sf.expr(f"sum(if(in_window and outcome = '{outcome}', txns, 0L)) as {name}")
    for name in _COMMITTED_SUMS:
        yield sf.expr(f"sum(if(in_window and outcome = '{COMMITTED}', {name}, 0L)) as {name}")
    for name in _WINDOW_SUMS:
        yield sf.expr(f"sum(if(in_window, {name}, 0L)) as {name}")


def _figures(groups: DataFrame) -> DataFrame:
    aborted = " + ".join(f"txns_aborted_{reason}" for reason in _REASONS)
    in_flight = " + ".join(f"txns_in_flight_{stage}" for stage in STAGES)
    sums = groups.selectExpr(
        "*",
        f"txns_committed + {aborted} + {in_flight} as txns_submitted",
        f"txns_committed + {aborted} as txns_ended",
        " + ".join(f"requests_{request}" for request in s.REQUESTS) + " as requests_total",
    )
    ratios = {
        "offered_per_s": ("txns_submitted * 1000000", "length_us"),
        "committed_per_s": ("txns_committed * 1000000", "length_us"),
        "committed_in_window_per_s": ("commits_in_window * 1000000", "length_us"),
        "success_rate": ("txns_committed", "txns_ended"),
        "retries_mean": ("retries", "txns_ended"),
        "requests_per_committed_txn": ("requests_total", "txns_committed"),
    }
    for latency in LATENCIES:
        ratios[f"{latency}_latency_mean_ms"] = (f"{latency}_us", "1000 * txns_committed")
    halves = {"first": "txns_committed - late_commits", "second": "late_commits"}
    commit_us = {"first": "commit_us - late_commit_us", "second": "late_commit_us"}
    for half, txns in halves.items():
        ratios[f"commit_latency_{half}_half_mean_ms"] = (commit_us[half], f"1000 * ({txns})")
    for phase, total in zip(s.PHASES, PHASE_SUMS, strict=True):
        ratios[f"phase_{phase}_mean_ms"] = (total, "1000 * txns_committed")
    figures = {f"txns_committed_{half}_half": txns for half, txns in halves.items()}
    for name, (part, whole) in ratios.items():  # null where there is nothing to divide by
        figures[name] = f"if(({whole}) != 0, cast(({part}) as double) / cast(({whole}) as double), null)"
    assert set(PERCENTILE_COLUMNS) < set(FIGURES)
    return sums.selectExpr(*RUN_GROUP, *(f"{figures.get(name, name)} as {name}" for name in RECOUNTED))
