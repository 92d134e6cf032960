"""A dataset opened for analysis: checked first, then handed to Spark.

A wrong folder, a damaged table of runs or another model's numbers are a clear message before Spark starts. The driver
reads the plain columns of the table of runs; the counts in it, and the transactions, are Spark's. Writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from endive.config.printable import printable_values
from endive.config.reading.document import document_in, document_of
from endive.errors import OutputError
from endive.intake import parse_json, refused_as
from endive.pipeline.dataset import previous_format
from endive.pipeline.dataset.dataset_names import is_axis_name
from endive.pipeline.dataset.files import Place, place_of
from endive.pipeline.dataset.referred_files import CONFIG_BYTES_MAX, with_kept_paths
from endive.pipeline.dataset.runs_table import (
    NESTED,
    RUNS,
    axes_of,
    count_kept_txns,
    damage,
    join_tables,
    read_rows,
    run_objects,
    unnest,
)
from endive.pipeline.dataset.scan import scan
from endive.pipeline.dataset.sweep_dataset import (
    FORMAT,
    STUDIES,
    TRANSACTIONS,
    StudyEntry,
    read_dataset,
    read_marker,
    refuse_link,
)
from endive.results import TRANSACTION_SCHEMA
from endive.results import schema as s
from endive.tables.figure_columns import FIGURES, WINDOW, with_known_requests

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

REQUESTED: Final = tuple(f"requests_{request}" for request in s.REQUESTS)  # older files may lack some of them
COUNTED: Final = (  # columns of transactions that are only ever summed
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
OF_RUN: Final = ("study", "point", "seed", "run_id")
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
        """The axis the study wants its metrics drawn against, if it says so."""
        x = self.document.get("study", {}).get("report", {}).get("x")
        return x if isinstance(x, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A checked dataset. ``runs`` and ``groups`` are here; counts and transactions are read by Spark."""

    place: Place
    model_version: int
    has_counts: bool  # in its table of runs; the previous format has none
    studies: Mapping[str, StudyFacts]
    runs: pa.Table
    groups: pa.Table
    axes: tuple[str, ...]  # of all studies
    configs: Mapping[tuple[str, int], str] = field(default_factory=dict)  # by study and point, resolved, as JSON

    @property
    def detailed(self) -> tuple[str, ...]:
        """The studies that kept the transactions of all or of some runs."""
        kept = set(self.runs.filter(self.runs["transactions_kept"])["study"].to_pylist())
        return tuple(name for name in self.studies if name in kept)

    @property
    def n_txns(self) -> int:
        """Transactions of all runs whose transactions were kept."""
        return count_kept_txns(self.runs)

    def count_frame(self, spark: SparkSession, name: str) -> DataFrame:
        """Return the counts ``latencies``, ``timeline`` or ``outcomes`` of every run that ended, with ``OF_RUN``."""
        if not self.has_counts:
            return previous_counts(spark, self, name)
        from pyspark.sql import functions as sf

        objects = {study: run_objects(self.place, study) for study in self.studies}
        plain = [("run_id", pa.string()), ("point", pa.int32()), ("seed", pa.int64()), ("status", pa.string())]
        schema = pa.schema([*plain, (name, pa.list_(NESTED[name]))])
        ended = scan(spark, self.place / RUNS, objects, schema).where("status = 'ok'")
        if self.has_repeated_rows:
            ended = ended.dropDuplicates(["study", "run_id"])
        return ended.select(*OF_RUN, sf.inline(name))

    @property
    def has_repeated_rows(self) -> bool:
        """Whether two objects of the table of runs hold a row of the same run."""
        rows = 0
        for study in self.studies:
            for place in run_objects(self.place, study):
                with place.parquet() as file:
                    rows += file.metadata.num_rows
        return bool(rows != self.runs.num_rows)

    def transaction_frame(self, spark: SparkSession) -> DataFrame:
        """Return every transaction that a run names: ``OF_RUN`` and ``TRANSACTION_COLUMNS``."""
        types = {name: TRANSACTION_SCHEMA.field(name).type for name in TRANSACTION_COLUMNS}
        plain = {name: kind.value_type if pa.types.is_dictionary(kind) else kind for name, kind in types.items()}
        schema = pa.schema([("run_id", pa.string()), ("point", pa.int32()), ("seed", pa.int64()), *plain.items()])
        frame = scan(spark, self.place / TRANSACTIONS, self.transaction_objects(), schema)
        return frame.select(*OF_RUN, *TRANSACTION_COLUMNS)

    def transaction_objects(self) -> dict[str, list[Place]]:
        """Return the objects of transactions that rows of runs name, by study."""
        if not self.has_counts:
            return previous_format.transaction_objects(self.place, list(self.studies))
        objects = {}
        for study in self.studies:
            named = read_rows(self.place, study, ["file"])["file"]
            folder = self.place / TRANSACTIONS / f"study={study}"
            objects[study] = [folder / Path(name).name for name in sorted(set(named.drop_null().to_pylist()))]
        return objects


def previous_counts(spark: SparkSession, dataset: Dataset, name: str) -> DataFrame:
    """Return the counts of a dataset of the previous format, made of its transactions."""
    from endive.pipeline.analysis.txn_counts import count_outcomes, count_timeline, with_window
    from endive.tables.run_counts import run_windows

    windows = spark.createDataFrame(run_windows(dataset.runs))
    if name == "latencies":
        from pyspark.sql import functions as sf

        latencies = previous_format.latency_frame(spark, dataset.place, list(dataset.studies))
        known = windows.select(*OF_RUN)
        return latencies.join(sf.broadcast(known), on=["study", "run_id"], how="inner")
    txns = with_window(dataset.transaction_frame(spark), windows)
    count: Callable[[DataFrame], DataFrame] = count_timeline if name == "timeline" else count_outcomes
    return txns.transform(count)


def open_dataset(path: str | Path | Place) -> Dataset:
    """Open the dataset in a folder; OutputError if it is none, is damaged, or mixes models."""
    root = place_of(path).resolve()
    if not root.is_dir():
        raise OutputError(f"{path} is not a folder. Name the folder that 'endive sweep --out' has filled.")
    marker = read_marker(root)
    is_present = marker["format"] == FORMAT
    for folder in (RUNS, STUDIES, TRANSACTIONS):
        refuse_link(root / folder)
    entries = read_dataset(root).studies if is_present else previous_format.read_entries(root)
    runs, groups, studies = {}, {}, {}
    configs: dict[tuple[str, int], str] = {}
    for study, entry in entries.items():
        table, of_groups = _read(root, study, is_present=is_present)
        if not table.num_rows:
            continue
        _refuse_other_models(root, study, table, marker["model_version"])
        configs |= _configs(root, study, table)
        groups[study] = of_groups
        for axis in axes_of(table):
            if not is_axis_name(axis):
                raise OutputError(f"{root / RUNS} has a column {axis!r}, which is no axis of a study. Sweep again.")
        own = {name: f"axis.{name}" for name in axes_of(table) if name in TAKEN}
        runs[study] = table.rename_columns([own.get(name, name) for name in table.column_names])
        studies[study] = _facts(root, study, entry, tuple(axes_of(runs[study])))
    _refuse_nothing(root, runs)
    axes = tuple(dict.fromkeys(axis for facts in studies.values() for axis in facts.axes))
    return Dataset(
        place=root,
        model_version=marker["model_version"],
        has_counts=is_present,
        studies=studies,
        runs=_of_studies(runs).select([*RUN_COLUMNS, *axes, *WINDOW, "txns", "transactions_kept", *FIGURES]),
        groups=_of_studies(groups),
        axes=axes,
        configs=configs,
    )


# ---- runs and groups -----------------------------------------------------------------------------------------


def _read(root: Place, study: str, *, is_present: bool) -> tuple[pa.Table, pa.Table]:
    """Return the plain columns of a study's runs in order, and the metrics of their groups."""
    if not is_present:
        table, groups = previous_format.read_runs(root, study)
        return with_known_requests(table) if table.num_rows else table, with_known_requests(groups)
    table = read_rows(root, study)
    if not table.num_rows:
        return table, table
    missing = [name for name in ("config", "point", "seed", *FIGURES) if name not in table.column_names]
    if missing:
        raise OutputError(f"{root / RUNS} has no column {missing[0]}, so it is no table of runs. Sweep again.")
    ended = read_rows(root, study, ["run_id", "status", "groups"], hashes=False)
    groups = unnest(ended.filter(pc.is_valid(ended["groups"])), "groups", ["run_id"])
    return table.sort_by([("point", "ascending"), ("seed", "ascending")]), groups


def _of_studies(tables: Mapping[str, pa.Table]) -> pa.Table:
    named = [
        table.add_column(0, "study", pa.array([study] * table.num_rows, pa.string())) for study, table in tables.items()
    ]
    return join_tables(named)


def _facts(root: Place, study: str, entry: StudyEntry, axes: tuple[str, ...]) -> StudyFacts:
    path = root / STUDIES / f"{study}.toml"
    refuse_link(path)
    try:
        document = document_in(Path(path.key)) if path.is_local else document_of(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError) as error:
        raise damage(path, f" ({error})") from None
    if isinstance(document, str):
        raise damage(path, f" ({document.rstrip('.')})")
    plain = printable_values(document)
    return StudyFacts(detail=entry.detail, runs_planned=entry.runs_planned, axes=axes, document=plain)


def _refuse_other_models(root: Place, study: str, runs: pa.Table, model_version: int) -> None:
    """Runs of an older model may be analysed, by themselves."""
    versions = set(pc.unique(runs["model_version"]).to_pylist())
    if versions != {model_version}:
        others = ", ".join(str(version) for version in sorted(versions - {model_version}, key=str))
        raise OutputError(
            f"{root / RUNS / f'study={study}'} has runs of model version {others}; its folder is of {model_version}, "
            "whose results must not be mixed with those. Sweep again into another folder."
        )


def _configs(root: Place, study: str, runs: pa.Table) -> dict[tuple[str, int], str]:
    """Return the resolved configuration of each point, as JSON, with files where the dataset keeps them."""
    first = (
        runs.select(["point", "seed", "config"]).group_by("point", use_threads=False).aggregate([("config", "first")])
    )
    configs: dict[tuple[str, int], str] = {}
    for point, config in zip(first["point"].to_pylist(), first["config_first"].to_pylist(), strict=True):
        with refused_as(OutputError):
            document = parse_json(
                config, name=f"The configuration of point {point} in {root}", bytes_max=CONFIG_BYTES_MAX
            )
        configs[study, point] = json.dumps(with_kept_paths(document, root))
    return configs


def _refuse_nothing(root: Place, runs: Mapping[str, pa.Table]) -> None:
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
