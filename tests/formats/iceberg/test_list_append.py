"""ML+: tentative entries at the end of a manifest list, by txns that meet there."""

from typing import Any

import pytest

from endive import simulate
from endive.catalog.rules import LANDED, MOVED, SEALED
from endive.formats.content import Tables
from endive.formats.iceberg.table import IcebergTable, append_to_list, rewrite_list
from endive.formats.nesting import FormatSettings

ENTRY_BYTES = 50
STEP_MS = 10.0


def append(table: IcebergTable, offset: int, seal_bytes: int = 0) -> int:
    return append_to_list(table, offset, ENTRY_BYTES, seal_bytes)


def test_an_entry_lands_only_at_the_end_of_the_list():
    table = IcebergTable()

    assert LANDED == append(table, 0)
    assert MOVED == append(table, 0)
    assert LANDED == append(table, ENTRY_BYTES)
    assert (2 * ENTRY_BYTES, 0) == (table.list_offset, table.is_list_sealed)


def test_every_table_has_a_list_of_its_own():
    tables = Tables(2, FormatSettings())
    append(tables.states[0].iceberg, 0)

    assert LANDED == append(tables.states[1].iceberg, 0)


@pytest.mark.parametrize(("threshold", "entries"), [(1, 1), (50, 1), (51, 2), (100, 2), (120, 3)])
def test_a_list_is_sealed_once_it_holds_its_threshold_and_is_empty_when_it_is_rewritten(threshold, entries):
    table = IcebergTable()
    for entry in range(entries):
        assert not table.is_list_sealed
        assert LANDED == append(table, entry * ENTRY_BYTES, threshold)

    assert (entries * ENTRY_BYTES, 1) == (table.list_offset, table.is_list_sealed)
    assert SEALED == append(table, entries * ENTRY_BYTES, threshold)
    rewrite_list(table)
    assert LANDED == append(table, 0)


# ---- txns that meet at a list --------------------------------------------------------------------------


def play_together(txns: int, **transaction: Any) -> list[dict[str, Any]]:
    """Appends to one table, submitted at the same instant."""
    once = {"kind": "periodic", "period_ms": 1e6}
    config = {
        "simulation": {"duration_ms": 10_000.0},
        "storage": {"provider": "constant", "latency_ms": STEP_MS},
        "catalog": {"type": "instant", "latency_ms": 2.0, "scope": "catalog"},
        "commit": {"protocol": "merge", "history": "none"},
        "transaction": {
            "runtime": {"distribution": "fixed", "ms": 100.0},
            "manifest_list_mode": "append",
            "manifest_list_entry_bytes": ENTRY_BYTES,
            **transaction,
        },
        "source": [{"name": f"txn{i}", "arrivals": once} for i in range(txns)],
    }
    rows = simulate(config, engine="reference").transactions.to_pylist()
    assert ["committed"] * txns == [row["status"] for row in rows]
    return rows


def test_whoever_comes_later_to_a_list_appends_once_more_for_each_entry_before_its_own():
    """All three start from offset 0; a refused append tells the end, and only one can land there."""
    rows = play_together(3)

    assert [1, 1, 1] == [row["manifest_append_physical_success"] for row in rows]
    assert [0, 1, 2] == [row["manifest_append_physical_failure"] for row in rows]
    assert [1, 2, 3] == [row["requests_manifest_list_append"] for row in rows]
    assert [STEP_MS, 2 * STEP_MS, 3 * STEP_MS] == [row["phase_manifest_list_ms"] for row in rows]


def test_a_list_found_sealed_is_read_and_written_anew_instead():
    """The first entry seals it; the second txn learns that from its refused append and rewrites the list."""
    first, second = play_together(2, manifest_list_seal_threshold_bytes=ENTRY_BYTES)

    assert (1, 0) == (first["manifest_append_physical_success"], first["manifest_append_sealed_rewrite"])
    assert (0, 1, 1) == (
        second["manifest_append_physical_success"],
        second["manifest_append_physical_failure"],
        second["manifest_append_sealed_rewrite"],
    )
    assert (1, 1) == (second["requests_manifest_list_read"], second["requests_manifest_list_write"])
    assert 3 * STEP_MS == second["phase_manifest_list_ms"]
