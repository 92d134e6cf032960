"""The counts an analysis is made of, rolled up from the groups of ``txn_counts``: one job of Spark's, small answers.

Four tables leave it: txns by bins of simulated time; txns by outcome, attempts and n_behind; the sums of every run,
which must be what the sweep wrote (``run_figures``); and latencies on the grid, which the sweep has counted per run.
All seeds of a configuration are together in the others. What is made of them is in ``rates_over_time`` and
``histograms``.
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
from endive.pipeline.analysis.run_figures import RUN_SUMS, refuse_other_figures
from endive.pipeline.analysis.scopes import ALL, OPERATION, POINT, POINT_GROUP, SOURCE
from endive.pipeline.analysis.txn_counts import (
    ABORTED,
    COMMITTED,
    SEED,
    TRY_SUMS,
    Labels,
    count_txns,
    numbered_runs,
    run_windows,
    split_groups,
    with_bounds,
)
from endive.pipeline.analysis.verdicts import study_names
from endive.pipeline.spark.session import AGGREGATIONS, job_named
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

TIME_SUMS: Final = ("submitted", "committed", "aborted", "latency_us", "latency_txns")
TIMELINE_SUMS: Final = (*TIME_SUMS, "committed_squared")
OUTCOME_KEYS: Final = ("kind", "source", "is_committed", "attempts_low", "n_behind_low")
OUTCOME_SUMS: Final = ("txns", *TRY_SUMS, "commit_us")
RUN_KEYS: Final = (*SEED, "kind", "source")

TIMELINE: Final = "timeline"
OUTCOMES: Final = "outcomes"
OF_RUNS: Final = "runs"
LATENCIES: Final = "latencies"
_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    TIMELINE: (*POINT_GROUP, "bin", *TIMELINE_SUMS),
    OUTCOMES: (*POINT, *OUTCOME_KEYS, *OUTCOME_SUMS),
    OF_RUNS: (*RUN_KEYS, *RUN_SUMS),
    LATENCIES: (*POINT, "kind", "source", "latency", "bin", "txns"),
}
_IS_COMMITTED: Final = f"status = '{COMMITTED}'"
_IS_ABORTED: Final = f"status = '{ABORTED}'"
PARTITION_TXNS: Final = 5_000_000  # of one partition of a shuffle


def collect_counts(spark: SparkSession, dataset: Dataset, bins: int) -> dict[str, pa.Table]:
    """The tables, or latencies alone if no txns were kept; OutputError if they are not what the sweep wrote."""
    _suit_size(spark, dataset.n_txns)
    frame, kept = count_frame(spark, dataset, bins)
    try:
        with job_named(spark, f"aggregate {dataset.n_txns:,} txns" if dataset.detailed else "aggregate latencies"):
            rows = frame.toArrow()
    finally:
        if kept is not None:
            kept.unpersist()
    counts = {name: _part(rows, name) for name in _COLUMNS if name == LATENCIES or dataset.detailed}
    _refuse_other_counts(dataset, counts)
    if OF_RUNS in counts:
        refuse_other_figures(dataset, counts[OF_RUNS])
    return counts


def explain_counts(spark: SparkSession, dataset: Dataset, bins: int) -> str:
    """Spark's physical plan of the job that ``collect_counts`` runs, as text."""
    _suit_size(spark, dataset.n_txns)
    frame, kept = count_frame(spark, dataset, bins)
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain()
    if kept is not None:
        kept.unpersist()
    return text.getvalue().strip()


def count_frame(spark: SparkSession, dataset: Dataset, bins: int) -> tuple[DataFrame, DataFrame | None]:
    """All counts under each other, ``counts`` tells which; and the groups they share, which Spark keeps meanwhile."""
    from pyspark.sql import functions as sf

    windows = run_windows(dataset.runs)
    parts = {LATENCIES: pool_latencies(dataset.latency_frame(spark), spark.createDataFrame(windows))}
    shared = None
    if dataset.detailed:
        points, runs = numbered_runs(run_windows(dataset.runs.filter(dataset.runs["transactions_kept"])))
        txns = with_bounds(dataset.transaction_frame(spark), spark.createDataFrame(points))
        labels = labels_of(dataset)
        shared = count_txns(txns, labels, bins).persist()
        groups = split_groups(shared, spark.createDataFrame(runs), labels, bins)
        parts[TIMELINE] = count_times(groups)
        parts[OF_RUNS] = count_runs(groups)
        parts[OUTCOMES] = count_outcomes(groups)
    named = [part.select(sf.lit(name).alias("counts"), *_COLUMNS[name]) for name, part in parts.items()]
    return reduce(lambda above, below: above.unionByName(below, allowMissingColumns=True), named), shared


def labels_of(dataset: Dataset) -> Labels:
    """What a txn may be called: as its study says, or as the sweep has called it."""
    names = [study_names(dataset.configs, study) for study in dataset.studies]
    written = {scope: _names_in(dataset.groups, scope) for scope in (OPERATION, SOURCE)}
    kinds = dict.fromkeys([*written[OPERATION], *(kind for each in names for kind in each.kinds), *s.KINDS])
    sources = dict.fromkeys([*written[SOURCE], *(source for each in names for source in each.sources)])
    return Labels(tuple(kinds), tuple(sources))


def _names_in(groups: pa.Table, scope: str) -> list[str]:
    names: list[str] = pc.unique(groups.filter(pc.equal(groups["scope"], scope))["name"]).to_pylist()
    return names


def count_times(groups: DataFrame) -> DataFrame:
    """``TIMELINE_SUMS`` by ``POINT_GROUP`` and ``bin``. ``committed_squared`` is the square of each run's commits.

    A txn is submitted in one bin, to which its latency belongs, and ends in another.
    """
    from pyspark.sql import functions as sf

    submission = {"submitted": "txns", "latency_us": f"if({_IS_COMMITTED}, commit_us, 0L)"}
    submission["latency_txns"] = f"if({_IS_COMMITTED}, txns, 0L)"
    end = {"committed": f"if({_IS_COMMITTED}, txns, 0L)", "aborted": f"if({_IS_ABORTED}, txns, 0L)"}
    events = [
        sf.struct(sf.col(place).alias("bin"), *(sf.expr(terms.get(name, "0L")).alias(name) for name in TIME_SUMS))
        for place, terms in (("submit_bin", submission), ("end_bin", end))
    ]
    keys = ("run", *POINT, "kind", "source")
    both = groups.select(*keys, sf.explode(sf.array(*events)).alias("event")).select(*keys, "event.*")
    happened = both.where("submitted + committed + aborted > 0").transform(_summed, (*keys, "bin"), TIME_SUMS)
    of_runs = by_scope(happened).transform(_summed, ("run", *POINT_GROUP, "bin"), TIME_SUMS)
    squared = of_runs.selectExpr("*", "committed * committed as committed_squared")
    return squared.transform(_summed, (*POINT_GROUP, "bin"), TIMELINE_SUMS)


def count_runs(groups: DataFrame) -> DataFrame:
    """``RUN_SUMS`` by ``RUN_KEYS``."""
    terms = {
        "window_submitted": "if(in_window, txns, 0L)",
        "window_committed": f"if(in_window and {_IS_COMMITTED}, txns, 0L)",
        "window_aborted": f"if(in_window and {_IS_ABORTED}, txns, 0L)",
        "commits_in_window": "if(is_commit_in_window, txns, 0L)",
        "window_commit_us": f"if(in_window and {_IS_COMMITTED}, commit_us, 0L)",
    }
    return groups.selectExpr(*RUN_KEYS, *(f"{terms[name]} as {name}" for name in RUN_SUMS)).transform(
        _summed, RUN_KEYS, RUN_SUMS
    )


def count_outcomes(groups: DataFrame) -> DataFrame:
    """``OUTCOME_SUMS`` of the window's txns that ended, by ``POINT`` and ``OUTCOME_KEYS``."""
    tried = groups.where("attempts_low is not null").selectExpr("*", f"cast({_IS_COMMITTED} as bigint) as is_committed")
    return tried.transform(_summed, (*POINT, *OUTCOME_KEYS), OUTCOME_SUMS)


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
