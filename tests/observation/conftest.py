"""What the tests of observation share: made-up snapshots and metadata, and a real table written by PyIceberg."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from endive.observation.replay.latency_fit import SIGMAS

START_MS = 1_772_366_400_000  # 2026-03-01T12:00:00Z


def snapshot(number: int, time_ms: int, operation: str = "append", **more: Any) -> dict[str, Any]:
    summary = {"operation": operation, **more.pop("summary", {})}
    return {
        "snapshot-id": 1000 + number,
        "parent-snapshot-id": 999 + number,
        "sequence-number": number,
        "timestamp-ms": START_MS + time_ms,
        "manifest-list": f"s3://bucket/t/metadata/snap-{1000 + number}-1-abc.avro",
        "summary": summary,
        **more,
    }


def metadata(snapshots: list[dict[str, Any]], **more: Any) -> bytes:
    document = {
        "format-version": 2,
        "location": "s3://bucket/t",
        "partition-specs": [{"spec-id": 0, "fields": [{"name": "day"}]}],
        "default-spec-id": 0,
        "properties": {"commit.retry.num-retries": "7", "owner.token": "hunter2"},
        "current-snapshot-id": snapshots[-1]["snapshot-id"] if snapshots else -1,
        "snapshots": snapshots,
        **more,
    }
    return json.dumps(document).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class RealTable:
    """A table of PyIceberg's SQL catalog."""

    folder: Path
    metadata_location: str

    @property
    def properties(self) -> dict[str, str]:
        return {"type": "sql", "uri": f"sqlite:///{self.folder / 'catalog.db'}"}

    @property
    def options(self) -> list[str]:
        return [part for key, value in self.properties.items() for part in ("--property", f"{key}={value}")]


@pytest.fixture
def few_changes(monkeypatch):
    """A replay that fits a few latencies."""
    few = {"latency_fit.SIGMAS": (SIGMAS[0], 0.8), "latency_fit.FACTORS": (0.85, 1.0)}
    for name, values in few.items():
        monkeypatch.setattr(f"endive.observation.replay.{name}", values)


@pytest.fixture(scope="session")
def real_table(tmp_path_factory) -> RealTable:
    """Two jobs append in turn; then a delete, an overwrite; and an empty neighbour."""
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("warehouse")
    catalog = sql.SqlCatalog("real", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=str(folder / "files"))
    catalog.create_namespace("db")
    rows = pa.table({"id": [1, 2, 3]})
    table = catalog.create_table("db.events", rows.schema)
    for turn in range(6):
        table.append(rows, snapshot_properties={"app-id": f"job{turn % 2}"})
    table.delete("id = 2")
    table.overwrite(rows)
    catalog.create_table("db.empty", rows.schema)
    location = table.metadata_location
    catalog.engine.dispose()
    return RealTable(folder=folder, metadata_location=location)
