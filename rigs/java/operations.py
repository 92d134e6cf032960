"""Iceberg's operations through its Java API: what a victim and its rivals do to a table.

Data files are made up (no file is written: Iceberg only records them), and which
validations a victim asks for are those Spark asks for (``SparkPositionDeltaWrite``, ``SparkWrite``). It knows nothing
of requests.

A table is partitioned by ``part``. The victim works on partition 0 and on ids below 10; rivals write ids from 1000 on,
so that their manifests pass a partition filter and their files no filter on ids.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final

from rigs.java.gateway import IcebergJvm, Java
from verification.suites.java.scenario import VICTIM_PARTITION, Operation

ID_FIELD: Final = 1
VICTIM_IDS: Final = (0, 9)
RIVAL_IDS: Final = (1000, 1009)
BASE_IDS: Final = (100, 109)

_names = itertools.count()


class Files:
    """Makes up data files and delete files for the tables of one JVM."""

    def __init__(self, jvm: IcebergJvm) -> None:
        self._jvm = jvm
        types = jvm.iceberg.types.Types
        self._integer = types.IntegerType.get()
        self.schema: Java = jvm.iceberg.Schema(
            [
                types.NestedField.required(ID_FIELD, "id", self._integer),
                types.NestedField.optional(2, "part", self._integer),
            ]
        )
        self.spec: Java = jvm.iceberg.PartitionSpec.builderFor(self.schema).identity("part").build()

    def data(self, partition: int, ids: tuple[int, int]) -> Java:
        """A data file of one partition that holds ids from the first to the last."""
        return self.finished(self._jvm.iceberg.DataFiles.builder(self.spec), partition, ids)

    def deletes(self, partition: int, ids: tuple[int, int]) -> Java:
        """A file of position deletes; it too says which ids it concerns."""
        builder = self._jvm.iceberg.FileMetadata.deleteFileBuilder(self.spec).ofPositionDeletes()
        return self.finished(builder, partition, ids)

    def finished(self, builder: Java, partition: int, ids: tuple[int, int] | None) -> Java:
        """A file that was never written; without ids it has no bounds."""
        return (
            builder.withPath(f"s3://warehouse/data/{next(_names):08d}.parquet")
            .withFormat("parquet")
            .withFileSizeInBytes(1000)
            .withPartitionPath(f"part={partition}")
            .withMetrics(self._metrics(ids))
            .build()
        )

    def position_deletes(self, partition: int, data_file: Java | None) -> Java:
        """A file of position deletes without bounds of ids, as real ones are; of one data file, if it is given."""
        builder = self._jvm.iceberg.FileMetadata.deleteFileBuilder(self.spec).ofPositionDeletes()
        if data_file is not None:
            builder = builder.withReferencedDataFile(str(data_file.location()))
        return self.finished(builder, partition, None)

    def vector(self, partition: int, data_file: Java) -> Java:
        """A deletion vector in a file that was never written."""
        builder = self._jvm.iceberg.FileMetadata.deleteFileBuilder(self.spec).ofPositionDeletes()
        return (
            builder.withReferencedDataFile(str(data_file.location()))
            .withContentOffset(4)
            .withContentSizeInBytes(40)
            .withPath(f"s3://warehouse/data/{next(_names):08d}.puffin")
            .withFormat(self._jvm.iceberg.FileFormat.PUFFIN)
            .withFileSizeInBytes(100)
            .withPartitionPath(f"part={partition}")
            .withRecordCount(1)
            .build()
        )

    def _metrics(self, ids: tuple[int, int] | None) -> Java:
        """Bounds of the id column; nothing without ids."""
        if ids is None:
            return self._jvm.iceberg.Metrics(10, None, None, None, None)
        bounds = []
        for value in ids:
            bound = self._jvm.jvm.java.util.HashMap()
            bound.put(ID_FIELD, self._jvm.iceberg.types.Conversions.toByteBuffer(self._integer, value))
            bounds.append(bound)
        return self._jvm.iceberg.Metrics(10, None, None, None, None, bounds[0], bounds[1])


def create_table(jvm: IcebergJvm, files: Files, catalog: Java, name: str, properties: Mapping[str, str]) -> Java:
    """A new table without snapshots."""
    given = jvm.jvm.java.util.HashMap()
    for key, value in properties.items():
        given.put(key, value)
    return catalog.createTable(jvm.identifier(name), files.schema, files.spec, given)


def commit(change: Java, *known: str) -> Java | None:
    """Commit; the exception of Java's that it ended with, if any. One whose class is not known is an error."""
    try:
        change.commit()
    except Exception as error:
        cause: Java = getattr(error, "java_exception", None)
        if cause is None or (known and str(cause.getClass().getSimpleName()) not in known):
            raise
        return cause
    return None


# ---- rivals ------------------------------------------------------------------------------------------


def commit_append(files: Files, table: Java, partition: int, ids: tuple[int, int] = RIVAL_IDS) -> None:
    """One file more: the commonest rival."""
    table.newFastAppend().appendFile(files.data(partition, ids)).commit()


def commit_row_delta(files: Files, table: Java, partition: int, ids: tuple[int, int] = RIVAL_IDS) -> None:
    """Rows deleted and rows added: a MERGE, unvalidated, since what it costs is nobody's business here."""
    change = table.newRowDelta().addRows(files.data(partition, ids)).addDeletes(files.deletes(partition, ids))
    change.commit()


RIVALS: Final[Mapping[str, Callable[[Files, Java, int, tuple[int, int]], None]]] = {
    "append": commit_append,
    "row_delta": commit_row_delta,
}


# ---- victims -----------------------------------------------------------------------------------------


def victim_filter(jvm: IcebergJvm) -> Java:
    """What the victim has read: its partition, ids below 10."""
    expressions = jvm.iceberg.expressions.Expressions
    return getattr(expressions, "and")(expressions.equal("part", VICTIM_PARTITION), expressions.lessThan("id", 10))


def build(jvm: IcebergJvm, files: Files, table: Java, planned: Java, operation: Operation) -> Java:
    """The victim's change on ``table``, ready to commit, with the checks Spark asks for.

    Which files it removes was planned on ``planned``, the same table loaded once more: a table keeps the manifest lists
    it has read, and the victim is to read its own.
    """
    new = files.data(VICTIM_PARTITION, BASE_IDS if operation.java == "rewrite_files" else VICTIM_IDS)
    if operation.java == "fast_append":
        return table.newFastAppend().appendFile(new)
    if operation.java == "merge_append":
        return table.newAppend().appendFile(new)
    if operation.java == "replace_partitions":  # as Spark's INSERT OVERWRITE: unvalidated
        return table.newReplacePartitions().addFile(new)
    removed: list[Java] = []
    if operation.is_scanned:
        manifests = planned.currentSnapshot().dataManifests(planned.io())
        removed = [
            read_files(jvm, planned, manifest)[0] for manifest in itertools.islice(manifests, operation.removed_from)
        ]
    start, is_serializable = table.currentSnapshot().snapshotId(), operation.isolation == "serializable"
    if operation.java == "row_delta":  # as Spark's UPDATE and MERGE, merge-on-read
        change = table.newRowDelta().addRows(new).addDeletes(files.deletes(VICTIM_PARTITION, VICTIM_IDS))
        change.validateFromSnapshot(start).conflictDetectionFilter(victim_filter(jvm))
        change.validateDeletedFiles().validateNoConflictingDeleteFiles()
        if removed:
            change.validateDataFilesExist([str(data_file.location()) for data_file in removed])
        return change.validateNoConflictingDataFiles() if is_serializable else change
    is_rewrite = operation.java == "rewrite_files"  # as Spark's rewrite_data_files: some files become one
    change = table.newRewrite() if is_rewrite else table.newOverwrite()
    for data_file in removed:
        change.deleteFile(data_file)
    change.addFile(new).validateFromSnapshot(start)
    if is_rewrite:
        return change
    change.conflictDetectionFilter(victim_filter(jvm)).validateNoConflictingDeletes()  # UPDATE and MERGE, copy-on-write
    return change.validateNoConflictingData() if is_serializable else change


def read_files(jvm: IcebergJvm, table: Java, manifest: Java) -> list[Java]:
    """The data files of a manifest, as a scan reads them."""
    reader = jvm.iceberg.ManifestFiles.read(manifest, table.io(), table.specs())
    try:
        found, files = [], reader.iterator()
        while files.hasNext():
            found.append(files.next().copy())
        return found
    finally:
        reader.close()
