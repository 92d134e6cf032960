"""What a commit leaves behind on its table, counter by counter, and on a catalog object with metadata in it."""

import pytest

from endive.catalog import CatalogState, IntentionRecord
from endive.formats.content import Tables
from endive.formats.iceberg.attempt import AttemptCost
from endive.formats.iceberg.effects import install
from endive.formats.iceberg.protocol import CommitProtocol, IcebergSettings
from endive.formats.iceberg.table import IcebergTable, ObjectSizes
from endive.formats.nesting import FormatSettings, Plan, TableState
from endive.formats.operation import CLASS_APPEND, CLASS_OVERWRITE, CLASS_REPLACE, Operation
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    FAST_APPEND,
    OVERWRITE_FILES,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    ROW_DELTA,
    VALIDATED_OVERWRITE,
)


def after(operation: Operation, **plan: int) -> TableState:
    table = TableState(version=5, appends=5, iceberg=IcebergTable(manifests=5, data_manifests=5))
    install(table, operation, AttemptCost(**plan))
    return table


@pytest.mark.parametrize(
    ("operation", "added", "commits", "own"),
    [
        ({"kind": FAST_APPEND}, 1, (6, 0), (6, 0, 0, 6, 0, CLASS_APPEND)),
        ({"kind": VALIDATED_OVERWRITE, "form": ROW_DELTA}, 2, (5, 1), (6, 1, 0, 7, 0, CLASS_OVERWRITE)),
        (
            {"kind": VALIDATED_OVERWRITE, "form": OVERWRITE_FILES, "rewritten": 2},
            1,
            (5, 1),
            (8, 0, 0, 6, 1, CLASS_OVERWRITE),
        ),
        ({"kind": REWRITE_FILES, "rewritten": 1}, 1, (5, 0), (5, 0, 2, 6, 1, CLASS_REPLACE)),
        ({"kind": REWRITE_MANIFESTS}, -9, (5, 0), (5, 0, 0, 1, 1, CLASS_REPLACE)),
    ],
)
def test_a_commit_counts_its_manifests_and_changes_the_list(operation, added, commits, own):
    table = after(Operation(**operation), manifests_added=added)
    kept = table.iceberg

    assert (6, *commits) == (table.version, table.appends, table.overwrites)
    names = ("data_manifests", "delete_manifests", "replaced_manifests", "manifests", "thinnings", "head_class")
    assert own == tuple(getattr(kept, name) for name in names)


def test_an_expiry_takes_snapshots_away_and_leaves_the_list():
    table = after(Operation(kind=EXPIRE_SNAPSHOTS), expired=3, manifests_added=7)

    kept = table.iceberg
    assert (6, 5) == (table.version, table.appends)
    assert (1, 3, 5) == (kept.without_snapshot, kept.expired, kept.manifests)


def commit_thrice(settings: IcebergSettings) -> tuple[int, int]:
    """Size of the catalog object before and after three appends."""
    tables = Tables(1, FormatSettings(iceberg=settings))
    state = CatalogState(catalog_bytes=1_200 + tables.inlined_bytes, content=tables)
    before_bytes = state.size_bytes
    for _ in range(3):
        state.apply(IntentionRecord(1, state.snapshot(0), (0,), 1, Operation(kind=FAST_APPEND), (Plan(),)))
    return before_bytes, state.size_bytes


@pytest.mark.parametrize(("kept_max", "growth"), [(0, 3), (2, 2)])
def test_inlined_metadata_grows_the_catalog_by_every_snapshot_kept(kept_max, growth):
    sizes = ObjectSizes(snapshots_kept_max=kept_max)
    settings = IcebergSettings(protocol=CommitProtocol(is_inlined=1), sizes=sizes)

    assert (1_200 + 5_000, 1_200 + 5_000 + growth * 730) == commit_thrice(settings)


def test_metadata_of_its_own_leaves_the_catalog_object_as_it_is():
    assert (1_200, 1_200) == commit_thrice(IcebergSettings())
