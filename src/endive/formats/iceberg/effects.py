"""What a commit leaves behind: the snapshot it installs, the manifests that names, and what became superfluous."""

from endive.formats.iceberg import protocol as choices
from endive.formats.iceberg.attempt import AttemptCost, IcebergLeftovers, IcebergSituation
from endive.formats.iceberg.conflicts import rewrites_deletes
from endive.formats.iceberg.protocol import (
    CommitProtocol,
    IcebergSettings,
    protocol_of,
    reloads_after_success,
    rewrites_own_manifests,
)
from endive.formats.iceberg.table import metadata_bytes
from endive.formats.nesting import TableState
from endive.formats.operation import CLASS_APPEND, CLASS_DELETE, CLASS_NONE, CLASS_OVERWRITE, CLASS_REPLACE, Operation
from endive.kernel import rule
from endive.vocabulary import (
    DELETES_EQUALITY,
    EXPIRE_SNAPSHOTS,
    MERGE_APPEND,
    REWRITE_FILES,
    REWRITE_MANIFESTS,
    ROW_DELTA,
    VALIDATED_OVERWRITE,
)

MANIFEST_TARGET_BYTES = 8 << 20  # of a manifest that is written anew (Iceberg: commit.manifest.target-size-bytes)


@rule
def snapshot_number(table: TableState) -> int:
    """How many snapshots were ever installed; the number of the current one, the first being 1."""
    return table.version - table.iceberg.without_snapshot


@rule
def snapshots_kept(table: TableState) -> int:
    """Snapshots that the table's metadata still names."""
    return snapshot_number(table) - table.iceberg.expired - table.iceberg.undone


@rule
def own_manifests(operation: Operation) -> int:
    """Manifests an operation writes for its own files. Those of a rewrite of manifests are written while it runs."""
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS:
        return 0
    return row_manifests(operation) + own_delete_manifests(operation)


@rule
def row_manifests(operation: Operation) -> int:
    """Of those, the manifest of the rows it adds."""
    if operation.kind != VALIDATED_OVERWRITE:
        return 0 if rewrites_deletes(operation) else 1
    return operation.adds_rows


@rule
def own_delete_manifests(operation: Operation) -> int:
    """Of those, the manifest of the delete files it adds."""
    return 1 if rewrites_deletes(operation) else delete_manifests_added(operation)


@rule
def filtered_manifests(operation: Operation) -> int:
    """Existing manifests an operation takes files out of, and writes anew."""
    return operation.rewritten if takes_files(operation) or rewrites_deletes(operation) else 0


@rule
def is_in_transaction(operation: Operation) -> bool:
    """Whether it is built on the table as loaded first, and again only if that has moved (``BaseTransaction``)."""
    return operation.is_in_transaction == 1 and operation.kind <= REWRITE_FILES


@rule
def takes_files(operation: Operation) -> bool:
    """Whether it takes data files out of the table."""
    if operation.kind == REWRITE_FILES:
        return not rewrites_deletes(operation)
    return operation.kind == VALIDATED_OVERWRITE and operation.form != ROW_DELTA


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
    return data_manifests_added(operation)


@rule
def class_of(operation: Operation) -> int:
    """What kind of snapshot a commit of this operation installs."""
    if operation.kind == VALIDATED_OVERWRITE:
        return CLASS_OVERWRITE if operation.adds_rows == 1 else CLASS_DELETE
    if operation.kind == REWRITE_FILES or operation.kind == REWRITE_MANIFESTS:
        return CLASS_REPLACE
    if operation.kind == EXPIRE_SNAPSHOTS:
        return CLASS_NONE
    return CLASS_APPEND


@rule
def data_manifests_added(operation: Operation) -> int:
    """Data manifests a commit adds to the history others have to check.

    Those of a rewrite of manifests hold nothing new, and nobody opens them (``ManifestGroup.ignoreExisting``).
    """
    if operation.kind == REWRITE_MANIFESTS or operation.kind == EXPIRE_SNAPSHOTS or rewrites_deletes(operation):
        return 0
    return row_manifests(operation) + filtered_manifests(operation)


@rule
def delete_manifests_added(operation: Operation) -> int:
    """Delete manifests a commit adds to that history. Nobody looks for new deletes in a replacement."""
    return 1 if operation.kind == VALIDATED_OVERWRITE and operation.form == ROW_DELTA else 0


@rule
def position_manifests_added(operation: Operation) -> int:
    """Of those, manifests that hold deletes by position or vectors, which have no bounds of rows."""
    return 0 if operation.deletes == DELETES_EQUALITY else delete_manifests_added(operation)


@rule
def added_manifests(settings: IcebergSettings, operation: Operation, situation: IcebergSituation) -> int:
    """By how much a commit changes the number of manifests its list names."""
    if operation.kind == REWRITE_MANIFESTS:
        rewritten_bytes = situation.start_manifests * settings.sizes.manifest_bytes
        return (rewritten_bytes + MANIFEST_TARGET_BYTES - 1) // MANIFEST_TARGET_BYTES - situation.start_manifests
    protocol = protocol_of(settings, operation)
    is_flushing = protocol.merging == choices.MERGING_FLUSH
    if (
        is_flushing or (merges_bins(operation) and protocol.merging == choices.MERGING_BINS)
    ) and situation.live_manifests + 1 >= protocol.merge_count_min:
        return own_manifests(operation) - situation.live_manifests
    return own_manifests(operation)


@rule
def thins_list(operation: Operation, cost: AttemptCost) -> bool:
    """Whether a commit takes manifests of data out of the list: rewritten, filtered or merged ones."""
    is_rewriting = operation.kind == REWRITE_MANIFESTS or (takes_files(operation) and operation.rewritten > 0)
    return is_rewriting or cost.merge_writes > 0


@rule
def snapshots_after(operation: Operation, table: TableState, cost: AttemptCost) -> int:
    """Snapshots the metadata of ``table`` names once the attempt has committed."""
    if operation.kind == EXPIRE_SNAPSHOTS:
        return snapshots_kept(table) - cost.expired
    return snapshots_kept(table) + 1


@rule
def install(table: TableState, operation: Operation, cost: AttemptCost) -> None:
    """A commit is the table's newest: one version more, its manifests counted, the list's length changed.

    A commit without a snapshot leaves the list as it is and expires the oldest snapshots.
    """
    kept = table.iceberg
    table.version += 1
    if thins_list(operation, cost):
        kept.thinnings += 1
    done = class_of(operation)
    if done != CLASS_REPLACE:
        kept.undone_to = 0
    if done == CLASS_NONE:
        kept.without_snapshot += 1
        kept.expired += cost.expired
        return
    if done == CLASS_APPEND:
        table.appends += 1
    elif done != CLASS_REPLACE:
        table.overwrites += 1
    if done == CLASS_REPLACE:
        kept.replacements += 1
        kept.replaced_manifests += data_manifests_added(operation)
    else:
        kept.data_manifests += data_manifests_added(operation)
    if done == CLASS_DELETE:
        kept.deletes += 1
        kept.dropped_manifests += data_manifests_added(operation)
    kept.position_manifests += position_manifests_added(operation)
    kept.delete_manifests += delete_manifests_added(operation)
    if cost.deletes_merged == 1:
        kept.live_deletes = 1  # a bin of their own (``ManifestMergeManager``), merged when it is full
    kept.live_deletes += own_delete_manifests(operation)
    kept.manifests = max(1, kept.manifests + cost.manifests_added)
    kept.head_class = done


@rule
def undoable(table: TableState, base: TableState) -> int:
    """Replacing snapshots since ``base``, if there are no others: a catalog may take them back for a commit.

    After ``CatalogHandlerUtils.generateUpdatesToRemoveNoopSnapshot`` of Apache Polaris, which walks from the newest
    snapshot to its parents: a base that was itself taken back, for another compaction, is not among them. Where it went
    back twice since ``base``, once beyond it, the base counts as gone even if it was made in between.
    """
    replaced = table.iceberg.replacements - base.iceberg.replacements
    gone = table.iceberg.undone - base.iceberg.undone
    if replaced != table.version - base.version or (gone > 0 and base.version >= table.iceberg.undone_to):
        return 0
    return replaced - gone


@rule
def undo(table: TableState, base: TableState) -> None:
    """The snapshots since ``base`` are gone; counters that only grow still know that they were there."""
    table.iceberg.undone += undoable(table, base)
    if table.iceberg.undone_to == 0 or base.version < table.iceberg.undone_to:
        table.iceberg.undone_to = base.version + 1
    table.iceberg.manifests = base.iceberg.manifests
    table.iceberg.live_deletes = base.iceberg.live_deletes
    table.iceberg.head_class = base.iceberg.head_class


@rule
def inlined_bytes(settings: IcebergSettings, table: TableState) -> int:
    """What the table's metadata adds to the catalog object, where it lives there."""
    if settings.protocol.is_inlined == 0:
        return 0
    return metadata_bytes(settings.sizes, snapshots_kept(table))


@rule
def lose(protocol: CommitProtocol, left: IcebergLeftovers, cost: AttemptCost) -> None:
    """Remember what a lost attempt wrote on one table for nothing."""
    left.lost_lists += cost.list_writes
    left.lost_manifests += cost.merge_writes
    if rewrites_own_manifests(protocol):
        left.lost_manifests += left.kept_manifests
        left.kept_manifests = 0
