"""Victims and rivals of the pairs, through Iceberg's Java API: ready to commit.

Which pairs there are lives in ``verification.suites.java.pair_sheets``; the made-up files in ``operations``. Position
deletes say which file they refer to or nothing, and have no bounds of ids, as real ones; on a v3 table they are
deletion vectors.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rigs.java.gateway import IcebergJvm, Java
from rigs.java.operations import ID_FIELD, Files, read_files, victim_filter
from verification.suites.java.pairs import (
    EQUALITY_AND_POSITION,
    PARTITION,
    SERIALIZABLE,
    SNAPSHOT,
    TABLE,
    Victim,
)

_names = itertools.count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What an operation works on: existing files (as a scan returns them), a partition, and the ids of its new rows."""

    partition: int
    ids: tuple[int, int]
    files: Sequence[Java] = ()
    manifests: Sequence[Java] = ()  # of the table, as planned
    deletes: Sequence[Java] = ()  # existing files of position deletes
    is_partition_wide: bool = False  # its deletes refer to no file in particular
    format_version: int = 2


class PairOperations:
    """Makes changes on tables of one JVM."""

    def __init__(self, jvm: IcebergJvm, files: Files) -> None:
        self._jvm = jvm
        self._files = files

    def change(self, java: str, table: Java, target: Target, victim: Victim | None = None) -> Java:
        """The change, with the checks that ``victim`` asks for; a rival asks for none."""
        if victim is not None and victim.is_in_transaction:
            transaction = table.newTransaction()
            change = self._checked(java, transaction, table, target, victim)
            return InTransaction(transaction, change)
        return self._checked(java, table, table, target, victim)

    def _checked(self, java: str, maker: Java, table: Java, target: Target, victim: Victim | None) -> Java:
        """``maker`` starts the change: the table, or a transaction on it."""
        new = self._files.data(target.partition, target.ids)
        change = self._unchecked(java, maker, target, new)
        if victim is not None and victim.deletes == EQUALITY_AND_POSITION:
            # As Flink's: a key that came twice in one checkpoint is deleted by its position in the file just written.
            change.addDeletes(self._deletes(target, new))
        if victim is not None and victim.is_replacing:
            for each in target.deletes:
                change.removeDeletes(each)
        if victim is not None and victim.java not in _UNCHECKED:
            self._ask_for_checks(change, table, target, victim)
        elif victim is None and java in ("rewrite_files", "rewrite_deletes"):  # else it minds deletes of long ago
            change.validateFromSnapshot(table.currentSnapshot().snapshotId())
        return change

    def _ask_for_checks(self, change: Java, table: Java, target: Target, victim: Victim) -> None:
        start = table.currentSnapshot().snapshotId()
        if victim.java in ("rewrite_files", "rewrite_deletes"):
            change.validateFromSnapshot(start)
            if victim.is_sequenced:
                change.dataSequenceNumber(table.currentSnapshot().sequenceNumber())
        elif victim.java in ("row_delta", "delete_rows"):
            change.validateFromSnapshot(start)
            change.conflictDetectionFilter(self._filter(victim))
            if victim.is_referring:
                change.validateDataFilesExist([str(each.location()) for each in target.files])
            if victim.is_deletes_validated:
                change.validateDeletedFiles()
            if victim.is_delete_files_validated:
                change.validateNoConflictingDeleteFiles()
            if victim.isolation == SERIALIZABLE:
                change.validateNoConflictingDataFiles()
        elif victim.isolation in (SERIALIZABLE, SNAPSHOT):
            change.validateFromSnapshot(start)
            if victim.java == "overwrite_files":
                change.conflictDetectionFilter(self._filter(victim))
            change.validateNoConflictingDeletes()
            if victim.isolation == SERIALIZABLE:
                change.validateNoConflictingData()

    def _filter(self, victim: Victim) -> Java:
        """What the victim has read."""
        expressions = self._jvm.iceberg.expressions.Expressions
        if victim.reads == TABLE:
            return expressions.alwaysTrue()
        return self._in_partition(0) if victim.reads == PARTITION else victim_filter(self._jvm)

    def _in_partition(self, partition: int) -> Java:
        return self._jvm.iceberg.expressions.Expressions.equal("part", partition)

    # ---- builders ------------------------------------------------------------------------------------

    def _unchecked(self, java: str, table: Java, target: Target, new: Java) -> Java:
        """The change without checks; ``new`` is the file it adds, if it adds one."""
        match java:
            case "append" | "fast_append":
                return table.newFastAppend().appendFile(new)
            case "merge_append":
                return table.newAppend().appendFile(new)
            case "row_delta":
                return self._with_deletes(table.newRowDelta().addRows(new), target)
            case "delete_rows":
                return self._with_deletes(table.newRowDelta(), target)
            case "upsert":
                return self._upsert(table, target, new)
            case "overwrite_files":
                return _without(table.newOverwrite(), target).addFile(new)
            case "rewrite_files":
                return _without(table.newRewrite(), target).addFile(new)
            case "delete_files":
                return _without(table.newDelete(), target)
            case "replace_partitions":
                return table.newReplacePartitions().addFile(new)
            case "overwrite_filter":
                return table.newOverwrite().overwriteByRowFilter(self._in_partition(target.partition)).addFile(new)
            case "delete_where":
                return table.newDelete().deleteFromRowFilter(self._in_partition(target.partition))
            case "rewrite_deletes":
                return self._rewrite_deletes(table, target)
            case "rollback":
                return table.manageSnapshots().rollbackTo(table.currentSnapshot().parentId())
            case "rewrite_manifests":  # all data manifests become one: every file has the same key
                return table.rewriteManifests().clusterBy(self._constant_function("all"))
            case "rewrite_manifests_planned":
                return self._rewrite_manifests_planned(table, target)
        assert java == "expire_snapshots", java
        now_ms = self._jvm.jvm.java.lang.System.currentTimeMillis() + 1000
        return table.expireSnapshots().expireOlderThan(now_ms).retainLast(1)

    def _with_deletes(self, change: Java, target: Target) -> Java:
        referred = [None] if target.is_partition_wide or not target.files else target.files
        for each in referred:
            change.addDeletes(self._deletes(target, each))
        return change

    def _upsert(self, table: Java, target: Target, new: Java) -> Java:
        fields = self._jvm.gateway.new_array(self._jvm.jvm.int, 1)
        fields[0] = ID_FIELD
        builder = self._jvm.iceberg.FileMetadata.deleteFileBuilder(self._files.spec).ofEqualityDeletes(fields)
        deletes = self._files.finished(builder, target.partition, target.ids)
        return table.newRowDelta().addRows(new).addDeletes(deletes)

    def _rewrite_deletes(self, table: Java, target: Target) -> Java:
        """Files of position deletes become others (``RewritePositionDeletesCommitManager``)."""
        change = table.newRewrite()
        for each in target.deletes:
            change.deleteFile(each)
            change.addFile(self._files.position_deletes(target.partition, target.files[0]), each.dataSequenceNumber())
        return change

    def _rewrite_manifests_planned(self, table: Java, target: Target) -> Java:
        """As Spark's procedure: the new manifest is written beforehand, the old ones are named."""
        place = table.io().newOutputFile(f"s3://warehouse/planned/{next(_names):06d}-m0.avro")
        writer = self._jvm.iceberg.ManifestFiles.write(2, self._files.spec, place, None)
        change = table.rewriteManifests()
        for manifest in target.manifests:
            change.deleteManifest(manifest)
            for each in read_files(self._jvm, table, manifest):
                numbers = (manifest.snapshotId(), manifest.sequenceNumber(), manifest.sequenceNumber())
                writer.existing(each, *numbers)
        writer.close()
        return change.addManifest(writer.toManifestFile())

    def _constant_function(self, value: str) -> Java:
        """A ``java.util.function.Function`` that answers ``value`` whatever it is asked, made without writing Java."""
        java = self._jvm.jvm.java
        anything = java.lang.Class.forName("java.lang.Object")
        answer = java.lang.invoke.MethodHandles.constant(anything, value)
        taking_one = java.lang.invoke.MethodHandles.dropArguments(answer, 0, [anything])
        function = java.lang.Class.forName("java.util.function.Function")
        return java.lang.invoke.MethodHandleProxies.asInterfaceInstance(function, taking_one)

    # ---- files ---------------------------------------------------------------------------------------

    def _deletes(self, target: Target, data_file: Java | None) -> Java:
        if target.format_version == 2:
            return self._files.position_deletes(target.partition, data_file)
        assert data_file is not None, "a deletion vector belongs to a data file"
        return self._files.vector(target.partition, data_file)


class InTransaction:
    """A change made in a transaction: both are committed, one after the other."""

    def __init__(self, transaction: Java, change: Java) -> None:
        self._transaction = transaction
        self._change = change

    def commit(self) -> None:
        """The change against the table as it was loaded, then the transaction."""
        self._change.commit()
        self._transaction.commitTransaction()


def _without(change: Java, target: Target) -> Java:
    for each in target.files:
        change.deleteFile(each)
    return change


_UNCHECKED: Final = (
    "fast_append",
    "merge_append",
    "delete_files",
    "delete_where",
    "upsert",
    "rollback",
    "rewrite_manifests",
    "rewrite_manifests_planned",
    "expire_snapshots",
)
