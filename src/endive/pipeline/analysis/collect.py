"""The tables of an analysis, on the driver.

They are aggregates. Spark adds up the counts of the runs (``endive.pipeline.analysis.count_frames``); what is made of
the sums, and of the metrics of the runs, is small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.objectives import Objective
from endive.pipeline.analysis.count_frames import LATENCIES, OUTCOMES, TIMELINE, collect_counts
from endive.pipeline.analysis.open_dataset import COUNTED, RUN_COLUMNS, Dataset
from endive.results import schema as s
from endive.tables.across_seeds import figures_across_seeds
from endive.tables.breakdown import configuration_table, configurations, conflicts, drift, phases, requests
from endive.tables.figure_columns import FIGURES, WINDOW
from endive.tables.histograms import (
    attempts_histogram,
    convoy,
    latency_histogram,
    pooled_counts,
    pooled_percentiles,
)
from endive.tables.load_axis import LoadAxis
from endive.tables.rates_over_time import rates_over_time
from endive.tables.run_counts import BINS
from endive.tables.scopes import ALL, EXTRA_FIGURES, MEASURED, OPERATION, RUN, SOURCE, figures_by_scope
from endive.tables.sustained import find_sustained
from endive.tables.table_files import unit_of
from endive.tables.verdicts import Place, verdicts
from endive.tables.warning_table import assumption_rows, warnings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def make_tables(
    spark: SparkSession,
    dataset: Dataset,
    loads: Mapping[str, LoadAxis],
    objectives: Mapping[Place, Objective],
    *,
    tell: Told,
) -> dict[str, pa.Table]:
    """Every table of the analysis, sorted by its keys; those that need single txns only if txns were kept."""
    tell(f"adding up {dataset.runs.num_rows:,} runs")
    tables = from_counts(collect_counts(spark, dataset), dataset)
    tell("comparing seeds")
    tables |= from_figures(dataset, loads, objectives)
    tables = {name: _sort(table) for name, table in tables.items()}
    tables |= _by_scope(tables["runs"])
    figures = tables["figures"]
    units = pa.array([unit_of(name) for name in figures["figure"].to_pylist()])
    tables["figures"] = figures.add_column(figures.column_names.index("figure") + 1, "unit", units)
    whole = tables["configurations"].filter(pc.equal(tables["configurations"]["scope"], ALL))
    planned = {study: facts.runs_planned for study, facts in dataset.studies.items()}
    assumed = assumption_rows(dataset.configs, tables["phases"].to_pylist(), tables["requests"].to_pylist())
    tables["warnings"] = warnings(tables["runs"].to_pylist(), whole.to_pylist(), planned, assumed)
    return tables


def from_counts(counts: Mapping[str, pa.Table], dataset: Dataset) -> dict[str, pa.Table]:
    """The tables that are made of what Spark has counted: ``endive.pipeline.analysis.count_frames``."""
    ended = dataset.runs.filter(pc.equal(dataset.runs["status"], "ok"))
    latencies = pooled_counts(counts[LATENCIES])
    tables = {"latencies": pooled_percentiles(latencies, ended), "histogram": latency_histogram(latencies)}
    if dataset.detailed:
        tables["timeline"] = rates_over_time(counts[TIMELINE], ended.filter(ended["transactions_kept"]), BINS)
        tables["attempts"] = attempts_histogram(counts[OUTCOMES])
        tables["convoy"] = convoy(counts[OUTCOMES])
    return tables


def from_figures(
    dataset: Dataset, loads: Mapping[str, LoadAxis], objectives: Mapping[Place, Objective]
) -> dict[str, pa.Table]:
    """The tables that are made of what the sweep has measured of every run."""
    of_runs = figures_by_scope(dataset.runs, dataset.groups)
    unused = frozenset(name for name in COUNTED if not pc.max(dataset.runs[name]).as_py())
    figures = figures_across_seeds(of_runs, dataset.runs, unused)
    table = figures.table()
    judged = configurations(figures, verdicts(table, objectives))
    whole = configuration_table(dataset.runs, dataset.axes, judged, drift(dataset.runs))
    return {
        "runs": _run_table(dataset, of_runs),
        "figures": table,
        "configurations": whole,
        "phases": phases(figures),
        "requests": requests(figures, unused),
        "conflicts": conflicts(figures, unused),
        "sustained": find_sustained(whole, loads, [dataset.runs.schema.field(name) for name in dataset.axes]),
    }


def _run_table(dataset: Dataset, of_runs: pa.Table) -> pa.Table:
    """Every run with its axes and window, once per scope; a failed run once, with nulls."""
    about = [*RUN, *(name for name in RUN_COLUMNS if name not in RUN), *dataset.axes, *WINDOW, "txns"]
    joined = dataset.runs.select(about).join(of_runs, keys=list(RUN), join_type="left outer", use_threads=False)
    return joined.select([*about, *(name for name in MEASURED if name not in RUN)])


def _by_scope(figures: pa.Table) -> dict[str, pa.Table]:
    """Whole runs, failed ones too; runs by operation type; runs by source."""
    scope = pc.fill_null(figures["scope"], ALL)
    tables = {"runs": figures.filter(pc.equal(scope, ALL)).drop_columns(["scope", "name"])}
    for table, kind in (("operations", OPERATION), ("sources", SOURCE)):
        chosen = figures.filter(pc.equal(scope, kind)).drop_columns(["scope", "status", "error"])
        tables[table] = chosen.rename_columns([kind if name == "name" else name for name in chosen.column_names])
    return tables


def _sort(table: pa.Table) -> pa.Table:
    """Rows by the table's keys, in the order a reader expects."""
    keys = [name for name in _KEYS if name in table.column_names]
    columns = {name: _rank(table[name], _RANKS[name]) if name in _RANKS else table[name] for name in keys}
    order = pc.sort_indices(pa.table(columns), [(name, "ascending") for name in keys])
    return table.take(order)


def _rank(column: pa.ChunkedArray, order: tuple[str, ...]) -> pa.ChunkedArray:
    """Texts that sort like their place in ``order``, and after it by themselves."""
    place = pc.fill_null(pc.index_in(column, pa.array(order)), len(order))
    return pc.binary_join_element_wise(pc.utf8_lpad(pc.cast(place, pa.string()), 4, "0"), column, " ")
