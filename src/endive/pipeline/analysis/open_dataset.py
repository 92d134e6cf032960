"""The dataset of a sweep, opened for analysis: checked first, then handed to Spark.

A wrong folder, a damaged summary or another model's numbers are a clear message before Spark starts. The driver reads
the manifest and a few small files per study, however many parts there are: parts are checked by the tasks that read
them, page by page, and by what they add up to (``count_tables``). Writes nothing. Who may write where is
``endive.pipeline.dataset.sweep_folder``'s.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.printable import printable_values
from endive.config.reading.document import document_in, document_of
from endive.errors import OutputError
from endive.intake import parse_json, refused_as
from endive.pipeline.dataset.dataset_names import is_axis_name
from endive.pipeline.dataset.dataset_table import TXNS, axes_of, count_kept_txns, join_studies, read_small
from endive.pipeline.dataset.latency_counts import LATENCY_SCHEMA
from endive.pipeline.dataset.part_files import LATENCIES, TRANSACTIONS
from endive.pipeline.dataset.places import DatasetPath, place_of, spark_options, spark_path
from endive.pipeline.dataset.referred_files import CONFIG_BYTES_MAX, with_kept_paths
from endive.pipeline.dataset.sweep_folder import FORMAT, GROUPS, RUNS, STUDIES, SweepFolder
from endive.results import TRANSACTION_SCHEMA
from endive.results import schema as s
from endive.tables.figure_columns import FIGURES, WINDOW, with_known_requests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REQUESTED: Final = tuple(f"requests_{request}" for request in s.REQUESTS)  # older files may lack some of them
NO_FILE_SYSTEM: Final = ("FileSystem not found", "No FileSystem for scheme")  # what Hadoop says of it
COUNTED: Final = (  # columns of txns that are only ever summed
    "restarts",
    *REQUESTED,
    "bytes_read",
    "bytes_written",
    "history_lists",
    *s.COUNTERS,
)
TRANSACTION_COLUMNS: Final = (
    "source",
    "kind",
    "status",
    "in_flight_stage",
    "reason",
    "submit_ms",
    "end_ms",
    "commit_latency_ms",
    "total_latency_ms",
    "attempts",
    "n_behind_first",
    *(f"phase_{phase}_ms" for phase in s.PHASES),
    *COUNTED,
)
RUN_COLUMNS: Final = ("study", "point", "seed", "run_id", "config_hash", "status", "error")
TAKEN: Final = frozenset(  # columns of the analysis's own; an axis of such a name is called axis.NAME there
    {
        "attempts_high", "attempts_low", "bin", "ci95_high", "ci95_low", "counter", "curve", "end_ms",
        "figure", "high_ms", "latency", "load", "load_axis", "low_ms", "mean", "n_behind_high",
        "meets_objective", "misses", "n_behind_low", "object", "operation", "phase", "points",
        "seeds", "share", "source", "start_ms", "stddev", "text", "unit", "value", "verdict", "warning",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFacts:
    """What the analysis has to know of one study beside its runs."""

    detail: str
    runs_planned: int
    axes: tuple[str, ...]
    document: Mapping[str, Any]  # the study file, as it was run

    @property
    def drawn(self) -> str | None:
        """The axis the study wants its figures drawn against, if it says so."""
        x = self.document.get("study", {}).get("report", {}).get("x")
        return x if isinstance(x, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A checked folder. ``runs`` and ``groups`` are small and here; txns are read by Spark."""

    folder: SweepFolder
    studies: Mapping[str, StudyFacts]
    runs: pa.Table
    groups: pa.Table
    axes: tuple[str, ...]  # of all studies
    configs: Mapping[tuple[str, int], str] = field(default_factory=dict)  # by study and point, resolved, as JSON

    @property
    def detailed(self) -> tuple[str, ...]:
        """The studies that kept the txns of all or of some runs."""
        kept = set(self.runs.filter(self.runs["transactions_kept"])["study"].to_pylist())
        return tuple(name for name in self.studies if name in kept)

    @property
    def n_txns(self) -> int:
        """Txns of all runs whose txns were kept."""
        return count_kept_txns(self.runs)

    def transaction_frame(self, spark: SparkSession) -> DataFrame:
        """Every txn that was kept: ``study``, ``point``, ``seed``, ``run_id`` and ``TRANSACTION_COLUMNS``."""
        from pyspark.sql import functions as sf

        kinds = {pa.float64(): "double", pa.int32(): "int", pa.int64(): "bigint"}
        read = {name: kinds.get(TRANSACTION_SCHEMA.field(name).type, "string") for name in TRANSACTION_COLUMNS}
        columns = {"study": "string", "point": "int", "run_id": "string", "seed": "bigint", **read}
        frame = self._scan(spark, TRANSACTIONS, ", ".join(f"{name} {kind}" for name, kind in columns.items()))
        if self.folder.layout < FORMAT:  # whose folders do not tell the point
            about = spark.createDataFrame(self.runs.select(["study", "run_id", "point", "seed"]))
            frame = frame.drop("point", "seed").join(sf.broadcast(about), on=["study", "run_id"], how="inner")
        return frame.select("study", "point", "seed", "run_id", *TRANSACTION_COLUMNS)

    def latency_frame(self, spark: SparkSession) -> DataFrame:
        """Latencies of every run, counted on the grid: ``study`` and the columns of ``LATENCY_SCHEMA``."""
        ddl = "run_id string, source string, kind string, latency string, bin int, txns bigint, study string"
        return self._scan(spark, LATENCIES, ddl).select("study", *(field.name for field in LATENCY_SCHEMA))

    def _scan(self, spark: SparkSession, table: str, schema: str) -> DataFrame:
        """Spark's own scan of Parquet; where the session lacks a way to the store, workers read it instead."""
        try:
            place = self.folder.path / table
            options = {"parquet.page.verify-checksum.enabled": "true", **spark_options(place)}
            return spark.read.schema(schema).options(**options).parquet(spark_path(place))
        except Exception as error:
            if not any(text in str(error) for text in NO_FILE_SYSTEM):
                raise
        options = {"table": {TRANSACTIONS: TXNS}.get(table, table)}
        return spark.read.format("endive").options(**options).load(str(self.folder.path))


def open_dataset(path: str | DatasetPath) -> Dataset:
    """The dataset in a folder; OutputError if it is none, is damaged, or mixes models."""
    root = place_of(path).resolve()
    if not root.is_dir():
        raise OutputError(f"{path} is not a folder. Name the folder that 'endive sweep --out' has filled.")
    folder = SweepFolder.read(root)
    folder.refuse_unplanned_files()
    runs, groups, studies = {}, {}, {}
    configs: dict[tuple[str, int], str] = {}
    for study, plan in folder.studies.items():
        summaries = folder.summaries(study)
        if not summaries.checksums.exists() and not any(each.exists() for each in summaries.files.values()):
            continue  # planned, and nothing of it was finished
        summaries.parts_told()  # the summaries are what the sweep wrote, or it is said here
        file = folder.partition(RUNS, study) / "runs.parquet"
        table = read_small(file)
        if not table.num_rows:
            continue
        table = with_known_requests(table)
        _refuse_other_models(folder, study, table)
        configs |= _configs(root, study, table)
        groups[study] = with_known_requests(read_small(folder.partition(GROUPS, study) / "groups.parquet"))
        for axis in axes_of(table):
            if not is_axis_name(axis):
                raise OutputError(f"{file} has a column {axis!r}, which is no axis of a study. Sweep again.")
        own = {name: f"axis.{name}" for name in axes_of(table) if name in TAKEN}
        runs[study] = table.rename_columns([own.get(name, name) for name in table.column_names])
        axes = tuple(axes_of(runs[study]))
        document = _read_study(folder.path / STUDIES / f"{study}.toml")
        studies[study] = StudyFacts(detail=plan.detail, runs_planned=len(plan.run_ids), axes=axes, document=document)
    _refuse_nothing(root, runs)
    axes = tuple(dict.fromkeys(axis for facts in studies.values() for axis in facts.axes))
    return Dataset(
        folder=folder,
        studies=studies,
        runs=join_studies(runs).select([*RUN_COLUMNS, *axes, *WINDOW, "txns", "transactions_kept", *FIGURES]),
        groups=join_studies(groups),
        axes=axes,
        configs=configs,
    )


# ---- runs and groups ---------------------------------------------------------------------------------


def _read_study(path: DatasetPath) -> dict[str, Any]:
    document = document_in(path) if isinstance(path, Path) else document_of(path.read_bytes().decode())
    return {} if isinstance(document, str) else printable_values(document)  # the numbers do not need it


def _refuse_other_models(folder: SweepFolder, study: str, runs: pa.Table) -> None:
    """Runs of an older model may be analysed, by themselves."""
    versions = set(pc.unique(runs["model_version"]).to_pylist())
    if versions != {folder.model_version}:
        told = ", ".join(str(version) for version in sorted(versions - {folder.model_version}))
        raise OutputError(
            f"{folder.partition(RUNS, study) / 'runs.parquet'} has runs of model version {told}; its folder is of "
            f"{folder.model_version}, whose results must not be mixed with those. Sweep again into another folder."
        )


def _configs(root: DatasetPath, study: str, runs: pa.Table) -> dict[tuple[str, int], str]:
    """The resolved configuration of each point, as JSON, with files where the dataset keeps them."""
    configs: dict[tuple[str, int], str] = {}
    for point, config in zip(runs["point"].to_pylist(), runs["config"].to_pylist(), strict=True):
        if (study, point) not in configs:
            with refused_as(OutputError):
                name = f"The configuration of point {point} in {root}"
                told = parse_json(config, name=name, bytes_max=CONFIG_BYTES_MAX)
            configs[study, point] = json.dumps(with_kept_paths(told, root))
    return configs


def _refuse_nothing(root: DatasetPath, runs: Mapping[str, pa.Table]) -> None:
    if not runs:
        raise OutputError(
            f"{root} holds no finished run. If its sweep was killed, start the same 'endive sweep' again: it goes on "
            "where it was."
        )
    rows = [row for table in runs.values() for row in table.select(["run_id", "status", "error"]).to_pylist()]
    if all(row["status"] != "ok" for row in rows):
        raise OutputError(
            f"All {len(rows):,} runs in {root} failed, so there is nothing to analyse. The first, {rows[0]['run_id']}, "
            f"said: {rows[0]['error']}"
        )
