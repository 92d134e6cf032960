"""The cost of an attempt as a value: how many objects of each kind are read and written.

This file defines the names of those counts. ``endive.transaction.rules`` computes them, a txn pays them.
"""

from dataclasses import dataclass

from endive.record import Int32, Record, record


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCost:
    """What resolving one refused attempt asks of storage, on one table."""

    metadata_reads: int = 0
    manifest_list_reads: int = 0
    manifest_list_writes: int = 0
    historical_ml_reads: int = 0
    manifest_file_reads: int = 0
    manifest_file_writes: int = 0


@record
class AttemptCost(Record):
    """What one attempt asks of storage on one table."""

    metadata_reads: Int32
    history_lists: Int32  # one after another, or in batches: the protocol says
    validate_reads: Int32  # manifests of that history, one after another
    list_reads: Int32  # of the current list
    filter_reads: Int32  # manifests holding files to be removed, in batches
    filter_writes: Int32
    own_writes: Int32  # manifests of the txn's own files, one after another
    merge_reads: Int32  # in batches of merge_parallel
    merge_writes: Int32
    merge_parallel: Int32 = 1
    list_writes: Int32
    metadata_writes: Int32
    list_appends: Int32
    check_reads: Int32  # of the metadata object, when the client looks whether its base still stands
    expired: Int32  # snapshots that the attempt expires

    def as_conflict_cost(self) -> ConflictCost:
        """The same in the coarser terms of a conflict."""
        return ConflictCost(
            metadata_reads=self.metadata_reads + self.check_reads,
            manifest_list_reads=self.list_reads,
            manifest_list_writes=self.list_writes,
            historical_ml_reads=self.history_lists,
            manifest_file_reads=self.validate_reads + self.filter_reads + self.merge_reads,
            manifest_file_writes=self.own_writes + self.filter_writes + self.merge_writes,
        )
