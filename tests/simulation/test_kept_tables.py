"""Writers that stay: what a client that keeps its table pays, and what it may know."""

from __future__ import annotations

from typing import Any

from tests.simulation.service_runs import rows_of


def run(engine: str, *, clients: int, keeps: bool, protocol: str = "iceberg", **keys: Any) -> list[dict[str, Any]]:
    source = {"name": "w", "arrivals": {"kind": "closed", "clients": clients}, "keeps_table": keeps, **keys}
    return rows_of(engine, source, duration_ms=20_000.0, commit={"protocol": protocol})


def test_a_lone_writer_loads_its_table_once(engine):
    rows = [row for row in run(engine, clients=1, keeps=True) if row["status"] == "committed"]

    # The first txn loads: one read of the catalog and one of the metadata. After that a txn refreshes its pointer,
    # finds nothing new, checks it before the swap, and reads back what it wrote.
    assert (4, 2) == (rows[0]["requests_catalog_read"], rows[0]["requests_metadata_read"])
    assert {(3, 1)} == {(row["requests_catalog_read"], row["requests_metadata_read"]) for row in rows[1:]}
    assert {100.0} == {row["phase_runtime_ms"] for row in rows[1:]}


def test_a_writer_that_loads_anew_pays_for_it_every_time(engine):
    rows = [row for row in run(engine, clients=1, keeps=False) if row["status"] == "committed"]

    assert {(4, 2)} == {(row["requests_catalog_read"], row["requests_metadata_read"]) for row in rows}
    assert {124.0} == {row["phase_runtime_ms"] for row in rows}


def test_a_kept_table_is_refreshed_when_others_have_committed(engine):
    rows = [row for row in run(engine, clients=5, keeps=True) if row["status"] == "committed" and row["attempts"] == 1]
    kept = [row for row in rows if row["txn_id"] >= 5]  # every client's first txn loads

    reads = {(row["n_behind_first"] > 0, row["requests_metadata_read"]) for row in kept}
    assert reads == {(False, 1), (True, 2)}


def test_without_a_refresh_a_kept_table_costs_the_first_attempt_if_it_is_old(engine):
    rows = run(engine, clients=2, keeps=True, protocol="pyiceberg")
    lone = run(engine, clients=1, keeps=True, protocol="pyiceberg")

    assert {1} == {row["attempts"] for row in lone if row["status"] == "committed"}
    assert 1 < max(row["attempts"] for row in rows)


def test_an_application_that_starts_over_loads_anew():
    failing = {"operation_types": {"validated_overwrite": 1.0}, "real_conflict_probability": 1.0}
    rows = run("compiled", clients=2, keeps=True, application_retries=1, **failing)
    restarted = [row for row in rows if row["restarts"] == 1]

    assert restarted
    assert all(row["phase_runtime_ms"] >= 2 * 100.0 + 24.0 for row in restarted)
