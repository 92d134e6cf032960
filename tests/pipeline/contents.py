"""What a dataset holds, for comparing two: bytes of transactions and studies, and every row of every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from endive.pipeline.dataset.files import place_of
from endive.pipeline.dataset.runs_table import RESULT_SCHEMA, read_rows
from endive.pipeline.dataset.sweep_dataset import read_dataset

NESTED = [name for name in RESULT_SCHEMA.names if name in ("groups", "latencies", "timeline", "outcomes")]


def contents(folder: Path | str) -> dict[str, Any]:
    """Every object by its name, and the table of runs by its rows, whatever objects hold them."""
    place = place_of(folder)
    found: dict[str, Any] = {}
    for path in place.sizes():
        name = str(path).removeprefix(f"{place}/")
        if name.startswith(("transactions/", "studies/", "_files/")):
            found[name] = path.read_bytes()
    for study in read_dataset(place).studies:
        found[f"runs of {study}"] = rows(folder, study)
    return found


def rows(folder: Path | str, study: str = "small") -> list[dict[str, Any]]:
    """One row per run with all of its columns, in the order of the grid."""
    place = place_of(folder)
    columns = read_rows(place, study).column_names
    table = read_rows(place, study, [*columns, *NESTED, "file", "bytes", "digest"]) if columns[2:] else None
    return [] if table is None else sorted(table.to_pylist(), key=lambda row: (row["point"], row["seed"]))


def parts(folder: Path, study: str = "small") -> list[Path]:
    """The objects of transactions."""
    return sorted((folder / "transactions" / f"study={study}").glob("part-*.parquet"))


def txns(folder: Path, study: str = "small", columns: list[str] | None = None) -> list[dict[str, Any]]:
    """Every transaction that is there, by run and number."""
    found = [row for path in parts(folder, study) for row in pq.ParquetFile(path).read(columns).to_pylist()]
    return sorted(found, key=lambda row: (row.get("run_id", ""), row.get("txn_id", 0)))
