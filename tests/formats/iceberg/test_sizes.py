"""How many bytes travel: every object has a size, and sizes grow with the table."""

import pytest
from tests.transaction.stage import REFRESHING, SWAPPING, append, play

CATALOG_BYTES = 1_000 + 200
MANIFEST_BYTES = 8_000
TABLE = {"initial_snapshots": 10, "initial_manifests": 7}


def metadata_bytes(snapshots: int) -> int:
    return 5_000 + 730 * snapshots


def list_bytes(manifests: int) -> int:
    return 2_000 + 41 * manifests


@pytest.mark.parametrize("n", [0, 5])
def test_a_fast_append_reads_and_writes_these_bytes(n):
    catalog = {"type": "cas", "scope": "table", "table_metadata_inlined": False}
    played = play("fast_append", {(1, REFRESHING): append(n)}, catalog=catalog, table=TABLE)

    loading = CATALOG_BYTES + metadata_bytes(10)
    refreshing = CATALOG_BYTES + (metadata_bytes(10 + n) if n else 0)
    reloading = CATALOG_BYTES + metadata_bytes(10 + n + 1)
    assert loading + refreshing + list_bytes(7 + n) + reloading == played.row["bytes_read"]
    building = MANIFEST_BYTES + list_bytes(7 + n + 1) + metadata_bytes(10 + n + 1)
    assert building + CATALOG_BYTES == played.row["bytes_written"]


def test_history_is_read_at_the_size_of_the_newest_list():
    """An older list is smaller by what came after it: 41 bytes a manifest, which this leaves out."""
    played = play("validated_overwrite", {(1, REFRESHING): append(5)}, table=TABLE)

    lists = 5 * list_bytes(12)
    manifests = 5 * MANIFEST_BYTES
    metadata = metadata_bytes(10) + metadata_bytes(15) + metadata_bytes(16)
    reloaded = list_bytes(13)
    assert lists + manifests + metadata + reloaded == played.row["bytes_read"]


def test_metadata_keeps_so_many_snapshots_and_no_more():
    table = {"initial_snapshots": 10, "snapshots_kept_max": 4}
    played = play("fast_append", table=table)

    assert MANIFEST_BYTES + list_bytes(1) + metadata_bytes(4) == played.row["bytes_written"]


def test_inlined_metadata_travels_with_the_catalog():
    catalog = {"type": "cas", "scope": "table", "table_metadata_inlined": True}
    played = play("fast_append", {(1, SWAPPING): append()}, catalog=catalog, table=TABLE)

    before, after = CATALOG_BYTES + metadata_bytes(10), CATALOG_BYTES + metadata_bytes(11)
    start, refresh = before, before  # it asks for as many bytes as it last saw
    refresh_again = before
    read_back = after
    assert start + refresh + refresh_again + read_back + list_bytes(7) + list_bytes(8) == played.row["bytes_read"]
    swaps = before + after
    assert swaps + MANIFEST_BYTES + list_bytes(8) + list_bytes(9) == played.row["bytes_written"]


def test_an_append_to_the_log_is_as_small_as_its_record():
    catalog = {"type": "append", "log_entry_bytes": 100}
    played = play("fast_append", catalog=catalog, commit={"protocol": "spec"})

    assert 100 == played.row["bytes_written"]
    inlined = CATALOG_BYTES + metadata_bytes(0)
    discovery = CATALOG_BYTES + metadata_bytes(1) + 100  # checkpoint, and the log behind it
    assert inlined + discovery == played.row["bytes_read"]
