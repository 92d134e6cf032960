"""The short sections: ``[simulation]``, ``[experiment]``, ``[table]`` and ``[conflict]``.

The sections with more to them have a file each.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from endive.config.values import (
    DURATION_MS_MAX,
    SEED,
    Bytes,
    Count,
    ItemBytes,
    Milliseconds,
    Number,
    PathBelow,
    Table,
    Text,
    Whole,
    key,
)

MARGIN_MS_MAX = 900_000.0  # experiment plan: min(900 s, T/4) at either end
TICK_MS = 0.001
DATA_FILES_MAX = 100_000_000


def margin_ms(duration_ms: float) -> float:
    """What is not measured at either end of a run."""
    return min(MARGIN_MS_MAX, duration_ms / 4.0)


def _margin(data: dict[str, Any]) -> float:
    return margin_ms(float(data.get("duration_ms", 0.0)))


class SimulationSection(Table):
    """How long, with which seed, and which part of it is measured."""

    duration_ms: Annotated[float, Number(TICK_MS, ceiling=DURATION_MS_MAX, unit="milliseconds")] = key(
        3_600_000.0, "Simulated time."
    )
    seed: Annotated[int, SEED] = key(42, "Names the random draws of the run.")
    output_path: Annotated[str, PathBelow()] | None = key(
        None, "A file for the run's rows, below `--out`, or below the current folder without it."
    )
    warmup_ms: Milliseconds = key(
        _margin, "Txns submitted before this time are not measured.", "min(900000, duration_ms / 4)"
    )
    cooldown_ms: Milliseconds = key(
        _margin, "Txns submitted in this much time before the end are not measured.", "min(900000, duration_ms / 4)"
    )


class ExperimentSection(Table):
    """What to call the run."""

    label: Text | None = key(None, "A name for people; changes no result.")


class TableConfig(Table):
    """The format of the tables, sizes of their objects, and how they grow."""

    format: Literal["iceberg", "delta"] = key(
        "iceberg", "Table format: Apache Iceberg or Delta Lake. Each has keys of its own."
    )
    metadata_base_bytes: Bytes = key(5000, "Table metadata without snapshots.")
    metadata_bytes_per_snapshot: ItemBytes = key(730, "Added per snapshot kept (measured on Iceberg 1.9).")
    snapshots_kept_max: Count = key(0, "Snapshots the metadata keeps; 0 = all.")
    manifest_list_base_bytes: Bytes = key(2000, "A manifest list without entries.")
    manifest_list_bytes_per_manifest: ItemBytes = key(41, "Added per manifest (measured on Iceberg 1.9).")
    manifest_bytes: ItemBytes = key(8000, "One manifest.")
    initial_snapshots: Count = key(0, "Snapshots every table has at the start.")
    initial_manifests: Count = key(0, "Manifests every table has at the start.")
    format_version: Annotated[int, Whole(2, 3)] = key(
        2, "Iceberg's format version; with 3, row deltas write deletion vectors, one per data file."
    )
    data_files: Annotated[int, Whole(0, DATA_FILES_MAX)] = key(
        0,
        "Data files of every table, spread evenly over its partitions; 0 = not said. With "
        "transaction.touched_files it decides which operations meet.",
    )


class ConflictConfig(Table):
    """How a real conflict (overlapping data) is told from a false one."""

    detector: Literal["probabilistic", "partition_overlap", "files"] = key(
        "probabilistic",
        "By transaction.real_conflict_probability, by the partitions rivals wrote since, or by the data "
        "files both touch (table.data_files).",
        "files if table.data_files is given, else probabilistic",
    )
