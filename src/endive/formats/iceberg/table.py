"""What Iceberg keeps of a table: snapshots and manifests, counted; sizes of its objects; a list that is appended to.

Counters only ever grow, so that the history between two snapshots is a subtraction and never a walk.
"""

from endive.catalog.rules import LANDED, MOVED, SEALED
from endive.kernel import rule
from endive.record import Int8, Int64, Record, record


@record
class IcebergTable(Record):
    """Iceberg's own part of a table's state."""

    deletes: Int64  # of the overwrites, those that only delete and add no rows
    replacements: Int64  # replacing snapshots
    data_manifests: Int64  # data manifests added by appends and overwrites, ever
    dropped_manifests: Int64  # of them, those added by deletes
    delete_manifests: Int64  # delete manifests added, ever
    live_deletes: Int64  # delete manifests in the current manifest list
    position_manifests: Int64  # of them, those with deletes by position or vectors
    replaced_manifests: Int64  # data manifests added by replacing snapshots, ever
    without_snapshot: Int64  # commits that changed the metadata and nothing else
    expired: Int64  # snapshots expired: the oldest ones
    undone: Int64  # replacing snapshots that the catalog took back
    undone_to: Int64  # the version after the oldest it went back to since another commit; 0 if it did not
    thinnings: Int64  # commits that took manifests out of the list
    manifests: Int64  # manifests in the current manifest list
    list_offset: Int64  # bytes appended to the current manifest list object (ML+)
    head_class: Int8  # what the current snapshot did (CLASS_*)
    is_list_sealed: Int8  # that object takes no more appends (ML+)


@record
class ObjectSizes(Record):
    """Sizes of a table's objects, and how they grow."""

    metadata_base_bytes: Int64 = 5_000
    metadata_bytes_per_snapshot: Int64 = 730
    snapshots_kept_max: Int64
    manifest_list_base_bytes: Int64 = 2_000
    manifest_list_bytes_per_manifest: Int64 = 41
    manifest_bytes: Int64 = 8_000


@rule
def metadata_bytes(sizes: ObjectSizes, snapshots: int) -> int:
    """Size of a table's metadata object that names ``snapshots`` snapshots, or as many as it keeps at most."""
    kept = snapshots
    if sizes.snapshots_kept_max > 0 and kept > sizes.snapshots_kept_max:
        kept = sizes.snapshots_kept_max
    return sizes.metadata_base_bytes + kept * sizes.metadata_bytes_per_snapshot


@rule
def list_bytes(sizes: ObjectSizes, manifests: int) -> int:
    """Size of a manifest list that names ``manifests`` manifests."""
    return sizes.manifest_list_base_bytes + manifests * sizes.manifest_list_bytes_per_manifest


@rule
def append_to_list(table: IcebergTable, expected_offset: int, entry_bytes: int, seal_threshold_bytes: int) -> int:
    """Append a tentative entry to the table's manifest list (ML+): LANDED, MOVED or SEALED."""
    if table.is_list_sealed != 0:
        return SEALED
    if table.list_offset != expected_offset:
        return MOVED
    table.list_offset += entry_bytes
    if seal_threshold_bytes > 0 and table.list_offset >= seal_threshold_bytes:
        table.is_list_sealed = 1
    return LANDED


@rule
def rewrite_list(table: IcebergTable) -> None:
    """A fresh manifest list object replaces a sealed one."""
    table.list_offset = 0
    table.is_list_sealed = 0
