"""Records of parts become the datasets ``runs`` and ``groups``: one file each, by rename.

Called by the driver under the folder's lock, whenever a sweep ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from endive.pipeline.dataset.places import parquet_bytes, write_whole
from endive.pipeline.dataset.sweep_folder import GROUPS, RUNS, SweepFolder
from endive.pipeline.sweep.plan import Run, axis_values
from endive.results import MODEL_VERSION
from endive.tables.figure_columns import GROUP_SCHEMA, figures_of, run_schema, window_of

Record = Mapping[str, Any]


def gather(
    folder: SweepFolder, study: str, runs: Sequence[Run], axes: Sequence[pa.Field], records: Iterable[Record]
) -> None:
    """Write ``runs`` and ``groups`` of a study from the records there are, in the order of ``runs``."""
    by_id = {record["run_id"]: record for record in records}
    present = [run for run in runs if run.run_id in by_id]
    rows = [run_row(run, axes, by_id[run.run_id]) for run in present]
    groups = [row for run in present for row in group_rows(by_id[run.run_id])]
    for dataset, table in (
        (RUNS, pa.Table.from_pylist(rows, run_schema(axes))),
        (GROUPS, pa.Table.from_pylist(groups, GROUP_SCHEMA)),
    ):
        write_whole(folder.partition(dataset, study) / f"{dataset}.parquet", parquet_bytes(table))


def run_row(run: Run, axes: Sequence[pa.Field], record: Record) -> dict[str, Any]:
    """One row of ``runs``; what was not measured is null."""
    row = {
        "run_id": run.run_id,
        "config_hash": run.config_hash,
        "point": run.point,
        "seed": run.seed,
        "status": record["status"],
        "error": record["error"],
        "engine": record.get("engine"),
        "fingerprint": record.get("fingerprint"),
        "model_version": MODEL_VERSION,
        "transactions_kept": record["transactions_kept"],
        **axis_values(axes, run.values),
        "config": run.config,
    }
    if record["status"] != "ok":
        return row
    return {
        **row,
        **window_of(record["window"]),
        "txns": record["txns"],
        **figures_of({**record["summary"], "requests": record["requests"]}),
        "warnings": record["warnings"],
    }


def group_rows(record: Record) -> list[dict[str, Any]]:
    """The rows of ``groups`` of one run."""
    if record["status"] != "ok":
        return []
    return [
        {"run_id": record["run_id"], "scope": scope, "name": name, **figures_of(block)}
        for scope, key in (("operation", "by_operation"), ("source", "by_source"))
        for name, block in record[key].items()
    ]
