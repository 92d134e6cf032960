"""Threads that share a lock, and a coordinator that commits for all, on real tables of PyIceberg beside the model."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import endive

THREADS, ROUNDS = 4, 3
ROWS = pa.table({"id": pa.array([1], pa.int64())})


def new_table(folder: Path) -> Any:
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = sql.SqlCatalog("rig", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    return catalog.create_table("db.t", schema=ROWS.schema)


def commit_side_by_side(table: Any, lock: threading.Lock | None) -> int:
    """All threads begin with the table as it is now and append, one after another if they share a lock; failures."""
    from pyiceberg.exceptions import CommitFailedException

    failed = []
    together = threading.Barrier(THREADS)

    def write() -> None:
        mine = table.catalog.load_table("db.t")
        together.wait()
        for _ in range(ROUNDS):
            try:
                if lock is None:
                    mine.append(ROWS)
                else:
                    with lock:
                        mine.refresh()
                        mine.append(ROWS)
            except CommitFailedException:
                failed.append(1)
                mine.refresh()

    threads = [threading.Thread(target=write) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(failed)


def model(**keys: Any) -> list[dict[str, Any]]:
    arrivals = {"kind": "jobs", "jobs": THREADS, "period_ms": 10_000.0, "phase": "together"}
    config = {
        "simulation": {"duration_ms": 10_000.0 * ROUNDS, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 20.0},
        "catalog": {"type": "service", "latency_ms": 4.0},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 0.0}, "retry": 0},
        "source": [{"name": "w", "arrivals": arrivals, **keys}],
    }
    return endive.simulate(config, engine="reference").transactions.to_pylist()


@pytest.mark.lengthy
def test_threads_with_a_lock_commit_everything_at_their_first_attempt(tmp_path):
    table = new_table(tmp_path)

    assert 0 == commit_side_by_side(table, threading.Lock())
    assert THREADS * ROUNDS == len(table.refresh().metadata.snapshots)
    rows = model(commit_queue="process")
    assert ["committed"] * (THREADS * ROUNDS) == [row["status"] for row in rows]
    assert {1} == {row["attempts"] for row in rows}


def test_a_coordinator_makes_one_snapshot_of_the_files_of_all(tmp_path):
    table = new_table(tmp_path)
    for _ in range(ROUNDS):
        handed_over = [ROWS for _ in range(THREADS)]  # what each writer has finished since the last commit
        with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
            from pyiceberg.io.pyarrow import _dataframe_to_data_files

            for rows in handed_over:
                for file in _dataframe_to_data_files(transaction.table_metadata, rows, table.io):
                    append.append_data_file(file)

    snapshots = table.refresh().metadata.snapshots
    rows = model(commit_queue="job", gather_every_ms=1_000.0)
    assert ROUNDS == len(snapshots) == sum(row["attempts"] for row in rows)
    assert THREADS * ROUNDS == int(snapshots[-1].summary["total-data-files"]) == len(rows)
    manifests = snapshots[-1].manifests(table.io)
    assert ROUNDS == len(manifests)  # one for each commit, whatever it lists
    written = sum(row["requests_manifest_write"] for row in rows)
    assert len(manifests) == written
