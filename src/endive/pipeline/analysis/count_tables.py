"""The counts an analysis is made of, rolled up from the groups of ``txn_counts``: one job of Spark's, small answers.

Three tables leave it: txns by bins of simulated time; txns by outcome, attempts and n_behind; and latencies on the
grid, which the sweep has counted per run. All seeds of a configuration are together in each. What is made of them is
in ``rates_over_time``, ``histograms`` and ``pooled_latencies``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import reduce
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.analysis.scopes import ALL, OPERATION, POINT, POINT_GROUP, SOURCE
from endive.pipeline.analysis.txn_counts import (
    COMMITTED,
    GRAIN,
    STAGES,
    TIME,
    TRIES,
    count_txns,
    run_windows,
    with_window,
)
from endive.pipeline.spark.session import AGGREGATIONS, job_named

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TIME_SUMS: Final = ("submitted", "committed", "aborted", "latency_us", "latency_txns")
TIMELINE_SUMS: Final = (*TIME_SUMS, "committed_squared")
OUTCOME_KEYS: Final = ("kind", "source", "is_committed", *TRIES)
OUTCOME_SUMS: Final = ("txns", "attempts", "n_behind", "history_lists", "phase_history_us", "commit_us")

TIMELINE: Final = "timeline"
OUTCOMES: Final = "outcomes"
LATENCIES: Final = "latencies"
_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    TIMELINE: (*POINT_GROUP, "bin", *TIMELINE_SUMS),
    OUTCOMES: (*POINT, *OUTCOME_KEYS, *OUTCOME_SUMS),
    LATENCIES: (*POINT, "kind", "source", "latency", "bin", "txns"),
}
PARTITION_TXNS: Final = 5_000_000  # of one partition of a shuffle


def collect_counts(spark: SparkSession, dataset: Dataset, bins: int) -> dict[str, pa.Table]:
    """The three tables, or latencies alone if no txns were kept; OutputError if txns are missing or too many."""
    _suit_size(spark, dataset.n_txns)
    frame, scanned = count_frame(spark, dataset, bins)
    try:
        with job_named(spark, f"aggregate {dataset.n_txns:,} txns" if dataset.detailed else "aggregate latencies"):
            rows = frame.toArrow()
    finally:
        if scanned is not None:
            scanned.unpersist()
    found = {name: _part(rows, name) for name in _COLUMNS if name == LATENCIES or dataset.detailed}
    _refuse_other_counts(dataset, found)
    return found


def explain_counts(spark: SparkSession, dataset: Dataset, bins: int) -> str:
    """Spark's physical plan of the job that ``collect_counts`` runs, as text."""
    _suit_size(spark, dataset.n_txns)
    frame, scanned = count_frame(spark, dataset, bins)
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain()
    if scanned is not None:
        scanned.unpersist()
    return text.getvalue().strip()


def count_frame(spark: SparkSession, dataset: Dataset, bins: int) -> tuple[DataFrame, DataFrame | None]:
    """All counts under each other, ``counts`` tells which; and the groups of txns they share, which are kept."""
    from pyspark.sql import functions as sf

    windows = spark.createDataFrame(run_windows(dataset.runs))
    parts = {LATENCIES: pool_latencies(dataset.latency_frame(spark), windows)}
    groups = None
    if dataset.detailed:
        txns = with_window(dataset.transaction_frame(spark), windows)
        groups = count_txns(txns, (*GRAIN, *TIME, *TRIES), OUTCOME_SUMS, bins=bins).persist()
        parts |= {TIMELINE: count_times(groups, windows), OUTCOMES: count_outcomes(groups, windows)}
    told = [part.select(sf.lit(name).alias("counts"), *_COLUMNS[name]) for name, part in parts.items()]
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), told), groups


def count_times(groups: DataFrame, windows: DataFrame) -> DataFrame:
    """``TIMELINE_SUMS`` by ``POINT_GROUP`` and ``bin``: submissions and latency in one bin, ends in another.

    ``committed_squared`` is the square of each run's commits.
    """
    from pyspark.sql import functions as sf

    is_committed = f"outcome = '{COMMITTED}'"
    labels = ("run", "kind", "source")
    begun = groups.selectExpr(
        *labels,
        "submit_bin as bin",
        *("txns as submitted", "0L as committed", "0L as aborted"),
        f"if({is_committed}, commit_us, 0L) as latency_us",
        f"if({is_committed}, txns, 0L) as latency_txns",
    )
    ended = groups.where(f"outcome not in {STAGES}").selectExpr(
        *labels,
        "end_bin as bin",
        "0L as submitted",
        f"if({is_committed}, txns, 0L) as committed",
        f"if({is_committed}, 0L, txns) as aborted",
        *("0L as latency_us", "0L as latency_txns"),
    )
    of_runs = (
        begun.unionByName(ended)
        .transform(by_scope)
        .transform(_summed, ("run", "scope", "name", "bin"), TIME_SUMS)
        .withColumn("committed_squared", sf.expr("committed * committed"))
    )
    return of_runs.transform(_with_point, windows).transform(_summed, (*POINT_GROUP, "bin"), TIMELINE_SUMS)


def count_outcomes(groups: DataFrame, windows: DataFrame) -> DataFrame:
    """``OUTCOME_SUMS`` of the window's txns that ended, by ``POINT`` and ``OUTCOME_KEYS``."""
    ended = groups.where("attempts_low is not null")
    keyed = ended.selectExpr(
        *("run", "kind", "source", f"cast(outcome = '{COMMITTED}' as bigint) as is_committed"), *TRIES, *OUTCOME_SUMS
    )
    return keyed.transform(_with_point, windows).transform(_summed, (*POINT, *OUTCOME_KEYS), OUTCOME_SUMS)


def pool_latencies(latencies: DataFrame, windows: DataFrame) -> DataFrame:
    """The sweep's counts on the grid, of all seeds of a configuration that ended."""
    from pyspark.sql import functions as sf

    known = latencies.join(sf.broadcast(windows.select("study", "run_id", "point")), on=["study", "run_id"])
    return _summed(known, (*POINT, "kind", "source", "latency", "bin"), ("txns",))


def by_scope(frame: DataFrame) -> DataFrame:
    """Each row three times, once per scope: ``kind`` and ``source`` give way to ``scope`` and ``name``."""
    from pyspark.sql import functions as sf

    kept = [column for column in frame.columns if column not in ("kind", "source")]
    exploded = frame.withColumn("label", sf.explode(scope_labels(sf.col("kind"), sf.col("source"))))
    return exploded.select(*kept, "label.scope", "label.name")


def scope_labels(kind: Column, source: Column) -> Column:
    """``scope`` and ``name`` of the three groups that a txn of this kind and source belongs to."""
    from pyspark.sql import functions as sf

    names = {ALL: sf.lit(ALL), OPERATION: kind, SOURCE: source}
    return sf.array(*(sf.struct(sf.lit(scope).alias("scope"), name.alias("name")) for scope, name in names.items()))


def _summed(frame: DataFrame, keys: Sequence[str], sums: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as sf

    return frame.groupBy(*keys).agg(*(sf.sum(name).alias(name) for name in sums))


def _with_point(frame: DataFrame, windows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as sf

    return frame.join(sf.broadcast(windows.select("run", *POINT)), on="run", how="inner")


def _part(rows: pa.Table, name: str) -> pa.Table:
    return rows.filter(pc.equal(rows["counts"], name)).select(list(_COLUMNS[name])).combine_chunks()


def _suit_size(spark: SparkSession, n_txns: int) -> None:
    """A plan this small is known beforehand; its shuffles have as many partitions as keep memory level."""
    settings = {**AGGREGATIONS, "spark.sql.shuffle.partitions": max(2, n_txns // PARTITION_TXNS)}
    for key, value in settings.items():
        spark.conf.set(key, str(value))


# ---- what must add up ----------------------------------------------------------------------------------


def _refuse_other_counts(dataset: Dataset, found: Mapping[str, pa.Table]) -> None:
    """What was scanned must be what the runs made: a file that is missing, or one too many, shows here."""
    ended = dataset.runs.filter(pc.equal(dataset.runs["status"], "ok"))
    commits = found[LATENCIES].filter(pc.equal(found[LATENCIES]["latency"], "commit"))
    _compare(dataset, "latencies", "commits", _by_point(commits, "txns"), _by_point(ended, "txns_committed"))
    if TIMELINE in found:
        whole = found[TIMELINE].filter(pc.equal(found[TIMELINE]["scope"], ALL))
        kept = ended.filter(ended["transactions_kept"])
        _compare(dataset, "transactions", "txns", _by_point(whole, "submitted"), _by_point(kept, "txns"))


def _by_point(table: pa.Table, column: str) -> dict[tuple[str, int], int]:
    sums = table.group_by(list(POINT), use_threads=False).aggregate([(column, "sum")])
    columns = (sums[name].to_pylist() for name in (*POINT, f"{column}_sum"))
    return {(study, point): count for study, point, count in zip(*columns, strict=True) if count}


def _compare(
    dataset: Dataset, folder: str, what: str, found: Mapping[tuple[str, int], int], made: Mapping[tuple[str, int], int]
) -> None:
    for place in sorted({*found, *made}):
        if found.get(place, 0) != made.get(place, 0):
            study, point = place
            raise OutputError(
                f"{dataset.folder.path / folder} has {found.get(place, 0):,} {what} of study {study}, point {point}, "
                f"but its runs made {made.get(place, 0):,}. A file is missing, or does not belong there: "
                f"'endive check {dataset.folder.path}' says which."
            )
