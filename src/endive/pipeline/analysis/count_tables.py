"""The counts an analysis is made of, from the slots of ``txn_counts``: one job of Spark's, small answers.

Four tables are made of it: txns by bins of simulated time; txns by outcome, attempts and n_behind; the sums of every
run, which must be what the sweep wrote (``run_figures``); and latencies on the grid, which the sweep has counted per
run. All seeds of a configuration are together in the others. What is made of them is in ``rates_over_time`` and
``histograms``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from endive.errors import OutputError
from endive.pipeline.analysis.open_dataset import Dataset
from endive.pipeline.analysis.run_figures import RUN_SUMS, refuse_other_figures
from endive.pipeline.analysis.txn_counts import (
    ABORTED,
    BEHIND_PLACES,
    COMMITTED,
    SEED,
    SLOT_SUMS,
    STATUSES,
    WHOLE,
    Labels,
    Slots,
    code_of,
    count_slots,
    count_txns,
    numbered_runs,
    slots_of,
    with_bounds,
)
from endive.pipeline.dataset.latency_counts import COMMIT, TOTAL
from endive.pipeline.spark.session import AGGREGATIONS, job_named
from endive.tables.run_counts import OUTCOME_KEYS, OUTCOME_SUMS, TIME_SUMS, run_windows, smallest_count
from endive.tables.scopes import ALL, OPERATION, POINT, POINT_GROUP, SOURCE, by_scope, sum_by, with_columns
from endive.tables.verdicts import study_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RUN_KEYS: Final = (*SEED, "kind", "source")

TIMELINE: Final = "timeline"
OUTCOMES: Final = "outcomes"
OF_RUNS: Final = "runs"
LATENCIES: Final = "latencies"
_LATENCY_COLUMNS: Final = (*POINT, "kind", "source", "latency", "bin", "txns")
PARTITION_TXNS: Final = 5_000_000  # of one partition of a shuffle


def collect_counts(spark: SparkSession, dataset: Dataset, bins: int) -> dict[str, pa.Table]:
    """The tables, or latencies alone if no txns were kept; OutputError if they are not what the sweep wrote."""
    rows = collect_rows(spark, dataset, bins)
    is_slot = pc.is_null(rows["latency"])
    counts = {LATENCIES: rows.filter(pc.invert(is_slot)).select(_LATENCY_COLUMNS).combine_chunks()}
    if dataset.detailed:
        counts |= slot_tables(rows.filter(is_slot), _kept_runs(dataset)[1], labels_of(dataset), bins)
    _refuse_other_counts(dataset, counts)
    if OF_RUNS in counts:
        refuse_other_figures(dataset, counts[OF_RUNS])
    return counts


def collect_rows(spark: SparkSession, dataset: Dataset, bins: int) -> pa.Table:
    """What Spark tells the driver: ``count_frame``."""
    name = f"aggregate {dataset.n_txns:,} txns" if dataset.detailed else "aggregate latencies"
    with _settings_for(spark, dataset.n_txns), job_named(spark, name):
        return count_frame(spark, dataset, bins).toArrow()


def explain_counts(spark: SparkSession, dataset: Dataset, bins: int) -> str:
    """Spark's physical plan of the job that ``collect_counts`` runs, as text."""
    text = io.StringIO()
    with _settings_for(spark, dataset.n_txns), redirect_stdout(text):
        count_frame(spark, dataset, bins).explain()
    return text.getvalue().strip()


def count_frame(spark: SparkSession, dataset: Dataset, bins: int) -> DataFrame:
    """The latencies of all points, and below them the slots of all txns, whose ``latency`` is null."""
    labels, windows = labels_of(dataset), spark.createDataFrame(run_windows(dataset.runs))
    latencies = pool_latencies(dataset.latency_frame(spark), windows, labels)
    if not dataset.detailed:
        return latencies
    points, runs = (spark.createDataFrame(table) for table in _kept_runs(dataset))
    txns = with_bounds(dataset.transaction_frame(spark), points)
    slots = count_slots(count_txns(txns, labels, bins), runs.select("place", "seed"), labels, bins)
    return latencies.unionByName(slots, allowMissingColumns=True)


def _kept_runs(dataset: Dataset) -> tuple[pa.Table, pa.Table]:
    """Points and runs whose txns were kept, under numbers."""
    return numbered_runs(run_windows(dataset.runs.filter(dataset.runs["transactions_kept"])))


def labels_of(dataset: Dataset) -> Labels:
    """What a txn may be called: as its study says, or as the sweep has called it."""
    names = [study_names(dataset.configs, study) for study in dataset.studies]
    kinds, sources = (
        dataset.groups.filter(pc.equal(dataset.groups["scope"], scope))["name"].unique().to_pylist()
        for scope in (OPERATION, SOURCE)
    )
    return Labels(
        tuple(dict.fromkeys([*kinds, *(kind for each in names for kind in each.kinds)])),
        tuple(dict.fromkeys([*sources, *(source for each in names for source in each.sources)])),
    )


def slot_tables(rows: pa.Table, runs: pa.Table, labels: Labels, bins: int) -> dict[str, pa.Table]:
    """Slots of ``count_slots``, taken apart and in words; ``runs`` are those of ``numbered_runs``."""
    places = runs.group_by([*POINT, "place"], use_threads=False).aggregate([]).select([*POINT, "place"])
    placed = rows.select(["place", "seed", "slot", "label", *SLOT_SUMS]).join(
        places, keys="place", join_type="inner", use_threads=False
    )
    slots = slots_of(bins)
    submitted, ended = _entries(placed, labels, 0, slots.ends), _entries(placed, labels, slots.ends, slots.window)
    return {
        TIMELINE: _with_squares(count_times(submitted, ended), placed, labels, slots),
        OF_RUNS: count_runs(_entries(placed, labels, slots.window, slots.tries)),
        OUTCOMES: count_outcomes(_entries(placed, labels, slots.tries + 1, None)),
    }


def _entries(placed: pa.Table, labels: Labels, first: int, end: int | None) -> pa.Table:
    """The rows of some slots with their place among them as ``entry``, and with ``kind``, ``source`` and ``status``."""
    slot, label = (placed[name].to_numpy() for name in ("slot", "label"))
    is_chosen = (label >= 0) & (slot >= first) & (slot < (end or np.inf))
    chosen = placed.filter(pa.array(is_chosen))
    name, status = np.divmod(label[is_chosen], len(STATUSES))
    kind, source = np.divmod(name, len(labels.sources))
    words = {"kind": (labels.kinds, kind), "source": (labels.sources, source), "status": (STATUSES, status)}
    columns = {column: pa.array(known, pa.string()).take(pa.array(places)) for column, (known, places) in words.items()}
    return with_columns(chosen, {**columns, "entry": pa.array(slot[is_chosen] - first, pa.int32())})


def count_times(submitted: pa.Table, ended: pa.Table) -> pa.Table:
    """``TIME_SUMS`` by ``POINT_GROUP`` and ``bin``; latencies belong to the bin that a txn was submitted in."""
    of_submitted = {
        "submitted": submitted["txns"],
        "latency_us": _of(submitted, COMMITTED, "commit_us"),
        "latency_txns": _of(submitted, COMMITTED, "txns"),
    }
    of_ended = {"committed": _of(ended, COMMITTED, "txns"), "aborted": _of(ended, ABORTED, "txns")}
    sides = []
    for entries, sums in ((submitted, of_submitted), (ended, of_ended)):
        nothing = dict.fromkeys(TIME_SUMS, pa.repeat(pa.scalar(0, pa.int64()), entries.num_rows))
        keys = {name: entries[name] for name in (*POINT, "kind", "source")}
        sides.append(pa.table({**keys, "bin": entries["entry"], **nothing, **sums}))
    return by_scope(pa.concat_tables(sides), [*POINT, "bin"], TIME_SUMS)


def _with_squares(times: pa.Table, placed: pa.Table, labels: Labels, slots: Slots) -> pa.Table:
    """The same with ``committed_squared``, the commits of each seed squared."""
    names = [(ALL, ALL), *((OPERATION, kind) for kind in labels.kinds), *((SOURCE, name) for name in labels.sources)]
    chosen = placed.filter(pc.less(placed["label"], 0))
    place = pa.array(WHOLE - chosen["label"].to_numpy())
    words = (pa.array(column, pa.string()).take(place) for column in zip(*names, strict=True))
    columns = dict(zip(POINT_GROUP, [*(chosen[name] for name in POINT), *words], strict=True))
    columns["bin"] = pa.array(chosen["slot"].to_numpy() - slots.ends, pa.int32())
    squares = pa.table({**columns, "squared": chosen["squared"]})
    both = times.join(squares, keys=list(columns), join_type="left outer", use_threads=False)
    return both.append_column("committed_squared", pc.fill_null(both["squared"], 0)).drop_columns("squared")


def count_runs(entries: pa.Table) -> pa.Table:
    """``RUN_SUMS`` by ``RUN_KEYS``, of slots of the window."""
    flags = entries["entry"].to_numpy()
    inside = pa.array((flags & 2) // 2)
    sums = {
        "window_submitted": entries["txns"],
        "window_committed": _of(entries, COMMITTED, "txns"),
        "window_aborted": _of(entries, ABORTED, "txns"),
        "window_commit_us": _of(entries, COMMITTED, "commit_us"),
    }
    columns = {name: pc.multiply(column, inside) for name, column in sums.items()}
    columns["commits_in_window"] = pc.multiply(entries["txns"], pa.array(flags & 1))
    return sum_by(pa.table({name: entries[name] for name in RUN_KEYS} | columns), RUN_KEYS, RUN_SUMS)


def count_outcomes(entries: pa.Table) -> pa.Table:
    """``OUTCOME_SUMS`` of the window's txns that ended, by ``POINT`` and ``OUTCOME_KEYS``, of slots of tries."""
    attempts, behind = np.divmod(entries["entry"].to_numpy().astype(np.int64), BEHIND_PLACES)
    columns = {
        "attempts_low": pa.array(smallest_count(attempts), pa.int64()),
        "n_behind_low": pa.array(smallest_count(behind - 1), pa.int64()),
        "is_committed": pc.equal(entries["status"], COMMITTED).cast(pa.int64()),
    }
    return with_columns(entries, columns).select([*POINT, *OUTCOME_KEYS, *OUTCOME_SUMS])


def _of(entries: pa.Table, status: str, column: str) -> pa.ChunkedArray:
    """A column where txns ended so, 0 elsewhere."""
    return pc.if_else(pc.equal(entries["status"], status), entries[column], 0)


def pool_latencies(latencies: DataFrame, windows: DataFrame, labels: Labels) -> DataFrame:
    """The sweep's counts on the grid, of all seeds of a configuration that ended."""
    from pyspark.sql import functions as sf

    words = {"kind": labels.kinds, "source": labels.sources, "latency": (COMMIT, TOTAL)}
    known = latencies.join(sf.broadcast(windows.select("study", "run_id", "point")), on=["study", "run_id"])
    coded = known.select(
        *POINT, *(code_of(name, known_words).alias(name) for name, known_words in words.items()), "bin", "txns"
    )
    pooled = coded.groupBy(*POINT, *words, "bin").agg(sf.sum("txns").alias("txns"))  # by numbers, which are quicker
    in_words = (
        sf.element_at(sf.array(*map(sf.lit, known_words)), sf.col(name) + 1).alias(name)
        for name, known_words in words.items()
    )
    return pooled.select(*POINT, *in_words, "bin", "txns")


@contextmanager
def _settings_for(spark: SparkSession, n_txns: int) -> Iterator[None]:
    """A plan this small is known beforehand; its shuffles have as many partitions as keep memory level."""
    settings = {**AGGREGATIONS, "spark.sql.shuffle.partitions": str(max(2, n_txns // PARTITION_TXNS))}
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


# ---- what must add up ----------------------------------------------------------------------------------


def _refuse_other_counts(dataset: Dataset, counts: Mapping[str, pa.Table]) -> None:
    """What was scanned must be what the runs made: a file that is missing, or one too many, shows here."""
    ended = dataset.runs.filter(pc.equal(dataset.runs["status"], "ok"))
    commits = counts[LATENCIES].filter(pc.equal(counts[LATENCIES]["latency"], "commit"))
    compared = [("latencies", "commits", _by_point(commits, "txns"), _by_point(ended, "txns_committed"))]
    if TIMELINE in counts:
        whole = counts[TIMELINE].filter(pc.equal(counts[TIMELINE]["scope"], ALL))
        kept = ended.filter(ended["transactions_kept"])
        compared.append(("transactions", "txns", _by_point(whole, "submitted"), _by_point(kept, "txns")))
    for folder, what, counted, made in compared:
        for study, point in sorted({*counted, *made}):
            here, expected = (each.get((study, point), 0) for each in (counted, made))
            if here != expected:
                raise OutputError(
                    f"{dataset.folder.path / folder} has {here:,} {what} of study {study}, point {point}, but its runs "
                    f"made {expected:,}. A file is missing, or does not belong there: "
                    f"'endive check {dataset.folder.path}' says which."
                )


def _by_point(table: pa.Table, column: str) -> dict[tuple[str, int], int]:
    columns = (each.to_pylist() for each in sum_by(table, POINT, [column]).columns)
    return {(study, point): count for study, point, count in zip(*columns, strict=True) if count}
