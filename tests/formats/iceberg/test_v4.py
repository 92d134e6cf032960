"""Iceberg v4 as proposed: a commit without rivals as docs/model/v4.md has it, and a leaf when the root is full."""

from typing import Any

import pytest

import endive

FULL = 4


def run(engine: str) -> list[dict[str, Any]]:
    """One job that commits twelve times to a table whose root has one entry."""
    arrivals = {"kind": "jobs", "jobs": 1, "period_ms": 5_000.0}
    config = {
        "simulation": {"duration_ms": 60_000.0, "warmup_ms": 0.0, "cooldown_ms": 0.0},
        "storage": {"provider": "constant", "latency_ms": 20.0},
        "catalog": {
            "type": "service",
            "latency_ms": 4.0,
            "table_metadata_inlined": True,
            "service": {"flavour": "rest"},
        },
        "commit": {"protocol": "v4", "min_count_to_merge": FULL},
        "table": {"initial_manifests": 1},
        "transaction": {"runtime": {"distribution": "fixed", "ms": 100.0}},
        "source": [{"name": "w", "arrivals": arrivals, "operation_types": {"merge_append": 1.0}}],
    }
    return endive.simulate(config, engine=engine).transactions.to_pylist()


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_entries_go_into_the_root_until_it_is_full_and_then_into_one_leaf(engine):
    rows = run(engine)

    assert {"committed"} == {row["status"] for row in rows}
    # The root has 1 entry, then 2, then 3; with the fourth it is full, and one entry again.
    assert [0, 0, 1] * 4 == [row["requests_manifest_write"] for row in rows]
    assert {0} == {row["requests_manifest_read"] for row in rows}  # the root that was read holds them
    assert {0} == {row["requests_metadata_read"] + row["requests_metadata_write"] for row in rows}
    assert {(3, 1)} == {(row["requests_catalog_read"], row["requests_catalog_cas"]) for row in rows}
    # The root is read to be built on and once more when the table is read back, as Java Iceberg does.
    assert {(2, 1)} == {(row["requests_manifest_list_read"], row["requests_manifest_list_write"]) for row in rows}
