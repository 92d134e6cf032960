"""The frames of one analysis, from the dataset to the tables.

This file defines which step feeds which, and what is computed once because several tables are built on it. What a
step computes is in its own module; each takes DataFrames and returns one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sf

from endive.objectives import Objective
from endive.pipeline.analysis.across_seeds import figures_across_seeds
from endive.pipeline.analysis.configurations import CONFIGURATIONS, configurations
from endive.pipeline.analysis.drift import drift
from endive.pipeline.analysis.load_axis import LoadAxis
from endive.pipeline.analysis.measured import MEASURED, measured
from endive.pipeline.analysis.open_dataset import COUNTED, RUN_COLUMNS, Dataset
from endive.pipeline.analysis.pooled_latencies import latency_histogram, pooled_counts, pooled_percentiles
from endive.pipeline.analysis.rates_over_time import binned, point_timeline, timeline_rates
from endive.pipeline.analysis.scopes import POINT, RUN
from endive.pipeline.analysis.sustained import CURVE, SUSTAINED, sustained
from endive.pipeline.analysis.tally import HISTOGRAM_SUMS, tallied
from endive.pipeline.analysis.txn_window import windows, with_common_window, with_window
from endive.pipeline.analysis.verdicts import Place, verdicts
from endive.pipeline.dataset.figure_columns import WINDOW

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Frames:
    """Frames by name. Each is made when it is first asked for, by one thread.

    What several tables are built on is computed once. Tallies grow with the txns, so Spark keeps them until
    ``release``. The others are small aggregates: they come to the driver as Arrow and go back as local
    frames, so that the next step's plan starts there instead of at the txns. Planning is most of a small study's time.
    """

    def __init__(self, spark: SparkSession, dataset: Dataset, bins: int, objectives: Mapping[Place, Objective]) -> None:
        self._spark = spark
        self._dataset = dataset
        self._bins = bins
        self._objectives = objectives
        self._kept: list[DataFrame] = []
        self._held: dict[str, pa.Table] = {}
        self.runs = dataset.run_frame(spark)
        ended = self.runs.where("status = 'ok'")
        self.points = ended.select(*RUN, "point", "seed")
        self.kept_points = ended.where("transactions_kept").select(*RUN, "point", "seed")

    def release(self) -> None:
        """Let Spark forget what it kept."""
        for frame in self._kept:
            frame.unpersist()

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return frame

    def _hold(self, name: str, frame: DataFrame) -> DataFrame:
        self._held[name] = frame.toArrow()
        return self._spark.createDataFrame(self._held[name])

    # --- from txns --------------------------------------------------------------------------------------

    @cached_property
    def txns(self) -> DataFrame:
        """Every txn, with its run's window. Not kept: there are many."""
        return reduce(lambda left, right: left.unionByName(right), map(self._txns_of, self._dataset.detailed))

    def _txns_of(self, study: str) -> DataFrame:
        txns = self._dataset.transaction_frame(self._spark, study)
        window = self._dataset.common_window(study)
        if window is None:
            return txns.transform(with_window, windows(self.runs))
        return txns.transform(with_common_window, window)

    @cached_property
    def tallies(self) -> DataFrame:
        """Sums for the histograms; kept."""
        return self._keep(tallied(self.txns, HISTOGRAM_SUMS))

    @cached_property
    def pooled(self) -> DataFrame:
        """Latencies of configurations, counted on the grid; kept."""
        return self._keep(pooled_counts(self._dataset.latency_frame(self._spark), self.points))

    @cached_property
    def timeline(self) -> DataFrame:
        """Every configuration over time; held."""
        counts = binned(self.txns, self._bins)
        return self._hold("timeline", point_timeline(counts, self.kept_points, windows(self.runs), self._bins))

    # --- figures ----------------------------------------------------------------------------------------

    @cached_property
    def measured(self) -> DataFrame:
        """The figures of every run, operation type and source; held."""
        found = measured(self.runs, self._dataset.group_frame(self._spark))
        return self._hold("measured", found.select(*MEASURED))

    @cached_property
    def figures(self) -> DataFrame:
        """Every figure across seeds; held."""
        found = figures_across_seeds(self.measured, self.points, self.unused, self.seeds_max)
        return self._hold("figures", found)

    @cached_property
    def judged(self) -> DataFrame:
        """Configurations with their verdict and their drift; held."""
        judged = self._spark.createDataFrame(verdicts(self.figure_table(), self._objectives))
        found = configurations(self.figures, judged)
        return self._hold("judged", found.join(sf.broadcast(drift(self.runs)), on=list(POINT), how="left"))

    def figure_table(self) -> pa.Table:
        """``figures``, as it came to the driver."""
        if "figures" not in self._held:
            _ = self.figures
        return self._held["figures"]

    # --- tables that need more than one step ------------------------------------------------------------

    def run_table(self) -> DataFrame:
        """Every run with its axes and window, once per scope; a failed run once, with nulls."""
        about = self.runs.select(*map(_quoted, (*RUN_COLUMNS, *self._dataset.axes, *WINDOW, "txns")))
        return about.join(self.measured, on=list(RUN), how="left")

    def timeline_table(self) -> DataFrame:
        """Rates over time, across seeds."""
        return timeline_rates(self.timeline, self.seeds_max)

    def latency_table(self) -> DataFrame:
        """Percentiles of configurations, all seeds together."""
        return pooled_percentiles(self.pooled, self.points)

    def histogram_table(self) -> DataFrame:
        """Histograms of latency of configurations, all seeds together."""
        return latency_histogram(self.pooled)

    def configuration_table(self) -> DataFrame:
        """Configurations with their axes."""
        axes = [_quoted(name) for name in self._dataset.axes]
        about = self.runs.select(*POINT, "config_hash", *axes).distinct()
        columns = [name for name in CONFIGURATIONS if name not in POINT]
        joined = about.join(self.judged, on=list(POINT), how="inner")
        return joined.select(*POINT, "config_hash", *axes, *columns, "commit_latency_drift", "commits_half_min")

    def sustained_table(self, loads: Mapping[str, LoadAxis]) -> DataFrame:
        """Curves with their load axis and the axes that tell them apart."""
        places, curves = load_frames(self._spark, self._dataset, loads)
        axes = [_quoted(name) for name in self._dataset.axes]
        columns = [name for name in SUSTAINED if name not in CURVE]
        joined = sustained(self.judged, places).join(sf.broadcast(curves), on=["study", "curve"], how="inner")
        return joined.select("study", "curve", "load_axis", *axes, "scope", "name", *columns)

    # --- facts of the dataset ---------------------------------------------------------------------------

    @cached_property
    def unused(self) -> frozenset[str]:
        """Counts that are zero in every run."""
        runs = self._dataset.runs
        return frozenset(name for name in COUNTED if not pc.max(runs[name]).as_py())

    @cached_property
    def seeds_max(self) -> int:
        """Seeds of the configuration that has most."""
        counts = self._dataset.runs.group_by(list(POINT)).aggregate([("run_id", "count")])
        return int(pc.max(counts["run_id_count"]).as_py())


def load_frames(spark: SparkSession, dataset: Dataset, loads: Mapping[str, LoadAxis]) -> tuple[DataFrame, DataFrame]:
    """Where every point lies, and what every curve stands for, as two small frames."""
    values = {(row["study"], row["point"]): row for row in dataset.runs.select([*POINT, *dataset.axes]).to_pylist()}
    places: list[dict[str, Any]] = []
    curves: dict[tuple[str, int], dict[str, Any]] = {}
    for study, axis in loads.items():
        for place in axis.placed:
            places.append(
                {
                    "study": study,
                    "point": place.point,
                    "curve": place.curve,
                    "load": place.load,
                    "is_ordered_by_load": axis.is_closed_loop,
                }
            )
            row = values[study, place.point]
            told = {name: row[name] for name in axis.series}
            curves.setdefault(
                (study, place.curve), {"study": study, "curve": place.curve, "load_axis": axis.key, **told}
            )
    types = {"study": pa.string(), "point": pa.int32(), "curve": pa.int32(), "load": pa.float64()}
    place_schema = pa.schema([*types.items(), ("is_ordered_by_load", pa.bool_())])
    curve_schema = pa.schema(
        [
            ("study", pa.string()),
            ("curve", pa.int32()),
            ("load_axis", pa.string()),
            *(dataset.runs.schema.field(name) for name in dataset.axes),
        ]
    )
    return (
        spark.createDataFrame(pa.Table.from_pylist(places, place_schema)),
        spark.createDataFrame(pa.Table.from_pylist(list(curves.values()), curve_schema)),
    )


def _quoted(name: str) -> str:
    """A column whose name may have dots and backticks in it."""
    return f"`{name.replace('`', '``')}`"
