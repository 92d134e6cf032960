"""The counts of all runs, summed over the seeds of each configuration: named steps from DataFrame to DataFrame.

Every row of the table of runs holds counts of its transactions: latencies on a grid, submissions and ends over
simulated time, outcomes by attempts. They are whole numbers, so Spark adds them up in any order, and what reaches the
driver is as small as the tables that are made of it.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.spark.session import job_group, settings
from endive.tables.run_counts import OUTCOME_KEYS, OUTCOME_SUMS, TIME_SUMS, TIMELINE_SUMS
from endive.tables.scopes import ALL, OPERATION, POINT, POINT_GROUP, SOURCE, sum_by

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATENCIES: Final = "latencies"
TIMELINE: Final = "timeline"
OUTCOMES: Final = "outcomes"
LATENCY_KEYS: Final = (*POINT, "kind", "source", "latency", "bin")
_TABLE: Final = "count_table"  # which of the three a row belongs to, while they travel together
_COLUMNS: Final = {
    LATENCIES: (*LATENCY_KEYS, "txns"),
    TIMELINE: (*POINT_GROUP, "bin", *TIMELINE_SUMS),
    OUTCOMES: (*POINT, *OUTCOME_KEYS, *OUTCOME_SUMS),
}
_RUNS_INTERPRETED_MAX: Final = 2_000  # to compile a plan for fewer takes longer than to interpret it
# Whole numbers far below 2**63; the plan is small and known beforehand.
_SETTINGS: Final = {"spark.sql.adaptive.enabled": "false", "spark.sql.ansi.enabled": "false"}


def collect_counts(spark: SparkSession, dataset: Dataset) -> dict[str, pa.Table]:
    """Return the three tables of counts; OutputError if they are not what the runs measured."""
    runs = dataset.runs.num_rows
    with settings(spark, _settings_for(dataset)), job_group(spark).described(f"sum the counts of {runs:,} runs"):
        rows = count_frame(spark, dataset).toArrow()
    counts = {}
    for name in (LATENCIES, TIMELINE, OUTCOMES) if dataset.detailed else (LATENCIES,):
        counts[name] = rows.filter(pc.equal(rows[_TABLE], name)).select(_COLUMNS[name]).combine_chunks()
    _refuse_other_counts(dataset, counts)
    return counts


def explain_counts(spark: SparkSession, dataset: Dataset) -> str:
    """Return Spark's physical plan of the job that ``collect_counts`` runs, as text."""
    text = io.StringIO()
    with settings(spark, _settings_for(dataset)), redirect_stdout(text):
        count_frame(spark, dataset).explain()
    return text.getvalue().strip()


def count_frame(spark: SparkSession, dataset: Dataset) -> DataFrame:
    """Return all counts in one DataFrame, so that one job brings them."""
    from pyspark.sql import functions as sf

    frames = {LATENCIES: sum_latencies(dataset.count_frame(spark, LATENCIES))}
    if dataset.detailed:
        frames[TIMELINE] = sum_timeline(dataset.count_frame(spark, TIMELINE))
        frames[OUTCOMES] = sum_outcomes(dataset.count_frame(spark, OUTCOMES))
    named = [frame.select(sf.lit(name).alias(_TABLE), *_COLUMNS[name]) for name, frame in frames.items()]
    whole = named[0]
    for frame in named[1:]:
        whole = whole.unionByName(frame, allowMissingColumns=True)
    return whole


def sum_latencies(latencies: DataFrame) -> DataFrame:
    """Add up the latencies on the grid of all seeds of a configuration."""
    from pyspark.sql import functions as sf

    return latencies.groupBy(*LATENCY_KEYS).agg(sf.sum("txns").alias("txns"))


def sum_outcomes(outcomes: DataFrame) -> DataFrame:
    """Add up transactions by outcome, attempts and n_behind."""
    from pyspark.sql import functions as sf

    return outcomes.groupBy(*POINT, *OUTCOME_KEYS).agg(*(sf.sum(name).alias(name) for name in OUTCOME_SUMS))


def sum_timeline(timeline: DataFrame) -> DataFrame:
    """Add up what happened in each bin of time, in all of a run and in each of its operation types and sources.

    ``committed_squared`` is the sum over seeds of each seed's commits squared: the spread over seeds follows from it.
    """
    from pyspark.sql import functions as sf

    labels = sf.array(
        sf.struct(sf.lit(ALL).alias("scope"), sf.lit(ALL).alias("name")),
        sf.struct(sf.lit(OPERATION).alias("scope"), sf.col("kind").alias("name")),
        sf.struct(sf.lit(SOURCE).alias("scope"), sf.col("source").alias("name")),
    )
    scoped = timeline.select(*POINT, "seed", "bin", *TIME_SUMS, sf.explode(labels).alias("label")).select(
        *POINT, "seed", "label.scope", "label.name", "bin", *TIME_SUMS
    )
    of_seeds = scoped.groupBy(*POINT_GROUP, "seed", "bin").agg(*(sf.sum(name).alias(name) for name in TIME_SUMS))
    squared = of_seeds.withColumn("committed_squared", sf.col("committed") * sf.col("committed"))
    return squared.groupBy(*POINT_GROUP, "bin").agg(*(sf.sum(name).alias(name) for name in TIMELINE_SUMS))


def _settings_for(dataset: Dataset) -> dict[str, str]:
    runs = dataset.runs.num_rows
    is_small = runs <= _RUNS_INTERPRETED_MAX and dataset.has_counts
    compiled = {
        "spark.sql.codegen.wholeStage": str(not is_small).lower(),
        "spark.sql.codegen.factoryMode": "NO_CODEGEN" if is_small else "FALLBACK",
    }
    return {**_SETTINGS, **compiled, "spark.sql.shuffle.partitions": str(2 + runs // 5_000)}


# ---- what must add up ----------------------------------------------------------------------------------------


def _refuse_other_counts(dataset: Dataset, counts: Mapping[str, pa.Table]) -> None:
    """Compare the counts with the metrics of the runs: rows that were exchanged or lost show here."""
    ended = dataset.runs.filter(pc.equal(dataset.runs["status"], "ok"))
    commits = counts[LATENCIES].filter(pc.equal(counts[LATENCIES]["latency"], "commit"))
    compared = [("commits", _by_point(commits, "txns"), _by_point(ended, "txns_committed"))]
    if TIMELINE in counts:
        whole = counts[TIMELINE].filter(pc.equal(counts[TIMELINE]["scope"], ALL))
        kept = ended.filter(ended["transactions_kept"])
        compared.append(("transactions", _by_point(whole, "submitted"), _by_point(kept, "txns")))
    for what, counted, measured in compared:
        for study, point in sorted({*counted, *measured}):
            here, expected = (each.get((study, point), 0) for each in (counted, measured))
            if here != expected:
                raise OutputError(
                    f"{dataset.place} has {here:,} {what} of study {study}, point {point}, but its runs made "
                    f"{expected:,}. A file is missing or was exchanged: 'endive check {dataset.place}' says which."
                )


def _by_point(table: pa.Table, column: str) -> dict[tuple[str, int], int]:
    columns = (each.to_pylist() for each in sum_by(table, POINT, [column]).columns)
    return {(study, point): count for study, point, count in zip(*columns, strict=True) if count}
