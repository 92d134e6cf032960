"""What a commit leaves behind: the snapshot it installs, the manifests that names, and what became superfluous."""

from endive.catalog.rules import (
    CLASS_APPEND,
    CLASS_NONE,
    CLASS_OVERWRITE,
    CLASS_REPLACE,
    ObjectSizes,
    TableState,
    snapshots_kept,
)
from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import AttemptCost
from endive.formats.iceberg.protocol import CommitProtocol, reloads_after_success
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.vocabulary import (
    EXPIRE_SNAPSHOTS,
    MERGE_APPEND,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    ROW_DELTA,
    VALIDATED_OVERWRITE,
)

MANIFEST_TARGET_BYTES = 8 << 20  # of a manifest that is written anew (Iceberg: commit.manifest.target-size-bytes)


@rule
def own_manifests(operation: Operation) -> int:
    """Manifests an operation writes for its own files. Those of a rewrite of manifests are written while it runs."""
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS:
        return 0
    if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA:
        return 2
    return 1


@rule
def filtered_manifests(operation: Operation) -> int:
    """Existing manifests an operation takes files out of, and writes anew."""
    if operation.kind == REWRITE_FILES or (operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA):
        return operation.rewritten
    return 0


@rule
def merges_bins(operation: Operation) -> bool:
    """Whether it merges small manifests on the way, once there are enough of them (``MergingSnapshotProducer``)."""
    return operation.kind == MERGE_APPEND or operation.kind == VALIDATED_OVERWRITE or operation.kind == REWRITE_FILES


@rule
def merged_away(protocol: CommitProtocol, operation: Operation, cost: AttemptCost) -> int:
    """Manifests the txn wrote that the merge of its committed attempt made superfluous: of data, not of deletes.

    Java Iceberg deletes them (``MergingSnapshotProducer.cleanUncommittedAppends``), PyIceberg leaves them.
    """
    if not reloads_after_success(protocol) or protocol.merging != choices.MERGING_BINS or cost.merge_writes == 0:
        return 0
    return own_manifests(operation) - effect_delete_manifests(operation) + filtered_manifests(operation)


@rule
def effect_class(operation: Operation) -> int:
    """What kind of snapshot a commit of this operation installs."""
    if operation.kind == VALIDATED_OVERWRITE:
        return CLASS_OVERWRITE
    if operation.kind == REWRITE_FILES or operation.kind == REWRITE_MANIFESTS:
        return CLASS_REPLACE
    if operation.kind == EXPIRE_SNAPSHOTS:
        return CLASS_NONE
    return CLASS_APPEND


@rule
def effect_data_manifests(operation: Operation) -> int:
    """Data manifests a commit adds to the history others have to check.

    Those of a rewrite of manifests hold nothing new, and nobody opens them (``ManifestGroup.ignoreExisting``).
    """
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS:
        return 0
    return 1 + filtered_manifests(operation)


@rule
def effect_delete_manifests(operation: Operation) -> int:
    """Delete manifests a commit adds."""
    return 1 if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA else 0


@rule
def effect_manifests(
    protocol: CommitProtocol, sizes: ObjectSizes, operation: Operation, start_manifests: int, live_manifests: int
) -> int:
    """By how much a commit changes the number of manifests its list names."""
    if operation.kind == REWRITE_MANIFESTS:
        rewritten_bytes = start_manifests * sizes.manifest_bytes
        return (rewritten_bytes + MANIFEST_TARGET_BYTES - 1) // MANIFEST_TARGET_BYTES - start_manifests
    if (
        merges_bins(operation)
        and protocol.merging == choices.MERGING_BINS
        and live_manifests + 1 >= protocol.merge_count_min
    ):
        return own_manifests(operation) - live_manifests
    return own_manifests(operation)


@rule
def effect_thinning(operation: Operation, cost: AttemptCost) -> int:
    """1 if a commit takes manifests out of the list: rewritten, filtered or merged ones."""
    is_rewriting = operation.kind == REWRITE_MANIFESTS or filtered_manifests(operation) > 0
    return 1 if is_rewriting or cost.merge_writes > 0 else 0


@rule
def snapshots_after(operation: Operation, table: TableState, cost: AttemptCost) -> int:
    """Snapshots the metadata of ``table`` names once the attempt has committed."""
    if operation.kind == EXPIRE_SNAPSHOTS:
        return snapshots_kept(table) - cost.expired
    return snapshots_kept(table) + 1
