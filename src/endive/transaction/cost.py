"""The cost of an attempt as a value: how many objects of each kind are read and written.

Owns the names of those counts. Computes none: ``endive.transaction.rules`` does; pays none: a txn does.
"""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictCost:
    """What resolving one refused attempt asks of storage, on one table."""

    metadata_reads: int = 0
    manifest_list_reads: int = 0
    manifest_list_writes: int = 0
    historical_ml_reads: int = 0
    manifest_file_reads: int = 0
    manifest_file_writes: int = 0


class AttemptCost(NamedTuple):
    """What one attempt asks of storage on one table, in the order it is paid.

    Fields stand in the order of the plan vector of ``endive.transaction.rules``. A tuple, because one is made for
    every attempt.
    """

    metadata_reads: int = 0
    history_lists: int = 0  # one after another, or in batches: the protocol says
    validate_reads: int = 0  # manifests of that history, one after another
    list_reads: int = 0  # of the current list
    filter_reads: int = 0  # manifests holding files to be removed, in batches
    filter_writes: int = 0
    own_writes: int = 0  # manifests of the txn's own files, one after another
    merge_reads: int = 0  # in batches of merge_parallel
    merge_writes: int = 0
    merge_parallel: int = 1
    list_writes: int = 0
    metadata_writes: int = 0
    list_appends: int = 0
    check_reads: int = 0  # of the metadata object, when the client looks whether its base still stands

    @property
    def has_manifests(self) -> bool:
        """Whether any manifest file is read or written, validation aside."""
        return (self.own_writes + self.filter_reads + self.filter_writes + self.merge_reads + self.merge_writes) > 0

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
