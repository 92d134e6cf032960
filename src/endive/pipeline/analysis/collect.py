"""The tables of an analysis, on the driver.

This file defines which tables there are, and the order of their rows and columns. They are aggregates; no txn comes
to the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.objectives import Objective
from endive.pipeline.analysis.assumptions import assumption_rows
from endive.pipeline.analysis.breakdown import conflicts, phases, requests
from endive.pipeline.analysis.frames import Frames
from endive.pipeline.analysis.histograms import attempts_histogram, convoy
from endive.pipeline.analysis.load_axis import LoadAxis
from endive.pipeline.analysis.measured import EXTRA_FIGURES
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.analysis.scopes import ALL, OPERATION, SOURCE
from endive.pipeline.analysis.table_files import unit_of
from endive.pipeline.analysis.verdicts import Place
from endive.pipeline.analysis.warning_table import warnings
from endive.pipeline.dataset.figure_columns import FIGURES
from endive.results import schema as s

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES_AT_ONCE: Final = 3
PARTITION_ROWS: Final = 2_000_000  # what one task of a shuffle holds at once
VALUES_PER_RUN: Final = 600  # figures of all its scopes, about
_PARTITIONS: Final = "spark.sql.shuffle.partitions"
SMALL_PARTITIONS: Final = 2  # of an analysis that fits into one task of such a shuffle
_CHECKS: Final = "spark.sql.ansi.enabled"
_ADAPTIVE: Final = "spark.sql.adaptive.enabled"
_RANKS: Final[dict[str, tuple[str, ...]]] = {  # values with an order of their own; others come after them
    "scope": (ALL, OPERATION, SOURCE),
    "phase": s.PHASES,
    "object": s.OBJECTS,
    "operation": (*s.KINDS, *s.OPERATIONS),
    "figure": (*FIGURES, *EXTRA_FIGURES),
}
_KEYS: Final = (
    *("study", "curve", "point", "seed", "run_id", "scope", "name", "figure", "phase", "object"),
    *("operation", "source", "counter", "bin", "attempts_low", "n_behind_low", "latency", "low_ms"),
)

Told = Callable[[str], None]
Maker = Callable[[], "DataFrame"]


def make_tables(
    spark: SparkSession,
    dataset: Dataset,
    loads: Mapping[str, LoadAxis],
    objectives: Mapping[Place, Objective],
    *,
    bins: int,
    tell: Told,
) -> dict[str, pa.Table]:
    """Every table of the analysis, sorted by its keys; those that need single txns only if txns were kept."""
    found: dict[str, pa.Table] = {}
    rows = dataset.n_txns + VALUES_PER_RUN * dataset.runs.num_rows
    with settings(spark, settings_for(spark, rows)), _frames(spark, dataset, bins, objectives) as frames:
        tell(f"reading {dataset.n_txns:,} txns" if dataset.detailed else "reading runs")
        found |= _collected(_from_txns(frames) | _from_counts(frames) if dataset.detailed else _from_counts(frames))
        tell("comparing seeds")
        found["figures"] = _sorted(frames.figure_table())
        found |= _collected(
            {
                "configurations": frames.configuration_table,
                "phases": lambda: phases(frames.figures),
                "requests": lambda: requests(frames.figures, frames.unused),
                "conflicts": lambda: conflicts(frames.figures, frames.unused),
            }
        )
        tell("looking for the load that is sustained")
        found |= _collected({"sustained": lambda: frames.sustained_table(loads)})
    found |= _by_scope(found["runs"])
    found["figures"] = _with_unit(found["figures"])
    whole = found["configurations"].filter(pc.equal(found["configurations"]["scope"], ALL))
    planned = {study: facts.runs_planned for study, facts in dataset.studies.items()}
    assumed = assumption_rows(dataset.configs, found["phases"].to_pylist(), found["requests"].to_pylist())
    found["warnings"] = warnings(found["runs"].to_pylist(), whole.to_pylist(), planned, assumed)
    return found


def _from_txns(frames: Frames) -> dict[str, Maker]:
    """The tables that read txns; all at once, so that one's last tasks leave no core idle."""
    tallies, points = frames.tallies, frames.kept_points
    return {
        "timeline": frames.timeline_table,
        "attempts": lambda: attempts_histogram(tallies, points),
        "convoy": lambda: convoy(tallies, points),
    }


def _from_counts(frames: Frames) -> dict[str, Maker]:
    """The tables made from what the sweep has measured and counted."""
    _ = frames.pooled  # one plan for both
    return {"runs": frames.run_table, "latencies": frames.latency_table, "histogram": frames.histogram_table}


@contextmanager
def _frames(
    spark: SparkSession, dataset: Dataset, bins: int, objectives: Mapping[Place, Objective]
) -> Iterator[Frames]:
    frames = Frames(spark, dataset, bins, objectives)
    try:
        yield frames
    finally:
        frames.release()


def settings_for(spark: SparkSession, rows: int) -> dict[str, str]:
    """Settings for an analysis of so many rows, txns and figures of runs together.

    As many shuffle partitions as keep one task's share in memory, never fewer than the session has; a small study has
    two and its plans are not looked at again on the way, which takes longer there than it saves. No overflow checks:
    they take a third of the time, and sums of microseconds and bytes are far from 2**63.
    """
    if rows <= PARTITION_ROWS:
        return {_CHECKS: "false", _PARTITIONS: str(SMALL_PARTITIONS), _ADAPTIVE: "false"}
    partitions = max(int(spark.conf.get(_PARTITIONS)), -(-rows // PARTITION_ROWS))
    return {_CHECKS: "false", _PARTITIONS: str(partitions)}


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """The session's settings as the analysis wants them, and afterwards as they were."""
    given = {key: spark.conf.get(key) for key in wanted}
    try:
        for key, value in wanted.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in given.items():
            spark.conf.set(key, value)


def _by_scope(figures: pa.Table) -> dict[str, pa.Table]:
    """Whole runs, failed ones too; runs by operation type; runs by source."""
    scope = pc.fill_null(figures["scope"], ALL)
    tables = {"runs": figures.filter(pc.equal(scope, ALL)).drop_columns(["scope", "name"])}
    for table, kind in (("operations", OPERATION), ("sources", SOURCE)):
        chosen = figures.filter(pc.equal(scope, kind)).drop_columns(["scope", "status", "error"])
        tables[table] = chosen.rename_columns([kind if name == "name" else name for name in chosen.column_names])
    return tables


def _collected(makers: Mapping[str, Maker]) -> dict[str, pa.Table]:
    """Several frames at once: most of a small one's time is Spark's planning, which one core does alone."""
    with ThreadPoolExecutor(TABLES_AT_ONCE, thread_name_prefix="endive-table") as pool:
        tables = pool.map(lambda make: _sorted(make().toArrow()), makers.values())
        return dict(zip(makers, tables, strict=True))


def _sorted(table: pa.Table) -> pa.Table:
    """Rows by the table's keys, in the order a reader expects."""
    keys = [name for name in _KEYS if name in table.column_names]
    columns = {name: _ranked(table[name], _RANKS[name]) if name in _RANKS else table[name] for name in keys}
    order = pc.sort_indices(pa.table(columns), [(name, "ascending") for name in keys])
    return table.take(order)


def _ranked(column: pa.ChunkedArray, order: tuple[str, ...]) -> pa.ChunkedArray:
    """Texts that sort like their place in ``order``, and after it by themselves."""
    place = pc.fill_null(pc.index_in(column, pa.array(order)), len(order))
    return pc.binary_join_element_wise(pc.utf8_lpad(pc.cast(place, pa.string()), 4, "0"), column, " ")


def _with_unit(figures: pa.Table) -> pa.Table:
    units = pa.array([unit_of(name) for name in figures["figure"].to_pylist()])
    return figures.add_column(figures.column_names.index("figure") + 1, "unit", units)
