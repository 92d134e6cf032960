"""What a sweep wrote down, held against its txns: ``endive verify dataset``.

Every figure of every run whose txns were kept is compared bit for bit (but for how late data are, which no sum of txns
tells), the counts of latencies on the grid exactly, and the percentiles of all runs with the counts they must lie in.
It changes nothing. Txns are counted as an analysis counts them (``txn_counts``), with more sums and fewer keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as sf

from endive.pipeline.analysis.figures_from_txns import FIGURE_SUMS, RECOUNTED, figures_from_txns
from endive.pipeline.analysis.latencies_from_txns import (
    EXACT_TXNS_MAX,
    PERCENTILE_COLUMNS,
    bracketed,
    committed_latencies,
    counts_from_txns,
    exact_percentiles,
)
from endive.pipeline.analysis.measured import measured
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.analysis.scopes import RUN, RUN_GROUP
from endive.pipeline.analysis.txn_counts import GRAIN, count_txns, run_windows, with_window

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
    found: list[Agreement] = []
    counts = dataset.latency_frame(spark)
    runs = dataset.run_frame(spark).where("status = 'ok'")
    told = spark.createDataFrame(measured(dataset.runs, dataset.groups))
    if dataset.detailed:
        kept = runs.where("transactions_kept")
        windows = spark.createDataFrame(run_windows(dataset.runs))
        txns = with_window(dataset.transaction_frame(spark), windows)
        found += _agreements(_joined(told, _figures(kept, txns, windows), kept), RUN_GROUP, _figures_compared())
        counts_compared = {COUNTS: "told.txns <=> found.txns"}
        both = _joined(counts, counts_from_txns(txns), kept, _COUNT_KEYS)
        found += _agreements(both, _COUNT_KEYS, counts_compared)
    inside = bracketed(counts, told)
    found += _agreements(inside, (*RUN_GROUP, "figure"), {BRACKETS: "is_inside"})
    return sorted(found, key=lambda each: (each.study, [*RECOUNTED, COUNTS, BRACKETS].index(each.figure)))


def _figures(runs: DataFrame, txns: DataFrame, windows: DataFrame) -> DataFrame:
    small = runs.where(sf.col("txns") <= EXACT_TXNS_MAX).select(*RUN)
    latencies = committed_latencies(txns).join(sf.broadcast(small), on=list(RUN), how="left_semi")
    counted = count_txns(txns.where("in_window or is_commit_in_window"), GRAIN, FIGURE_SUMS)
    tallies = counted.join(sf.broadcast(windows.select("run", *RUN)), on="run").drop("run")
    return figures_from_txns(runs, tallies, exact_percentiles(latencies))


def _figures_compared() -> dict[str, str]:
    """When a figure counts as equal. Percentiles of very large runs are left to the grid."""
    judged = [*PERCENTILE_COLUMNS]
    is_large = f"run_txns > {EXACT_TXNS_MAX}"
    return {name: f"told.{name} <=> found.{name}" + (f" or {is_large}" if name in judged else "") for name in RECOUNTED}


def _joined(told: DataFrame, found: DataFrame, runs: DataFrame, keys: Sequence[str] = RUN_GROUP) -> DataFrame:
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
