"""Whether a conflict is real: others touched the same data, not only the same table.

What follows from it is the protocol's: it aborts or merges.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from endive.catalog.snapshot import CatalogSnapshot
from endive.formats.data_files import N_CHANGES
from endive.formats.delta.conflicts import ADDED_AFTER_READING, commits_kept
from endive.formats.rivals import ground_in_table, minds, minds_in_partition, reads_beside_writing
from endive.formats.rules import ground_against
from endive.kernel import rule
from endive.rng import CONFLICT, slot, uniform

if TYPE_CHECKING:
    from endive.transaction.transaction import Transaction

BY_CHANCE = 1 + ADDED_AFTER_READING  # the ground of a conflict that nothing but a probability decides

DETECTORS = ("probabilistic", "partition_overlap", "files")
DETECTOR_PROBABILISTIC, DETECTOR_PARTITION_OVERLAP, DETECTOR_FILES = range(len(DETECTORS))


@rule
def is_real_by_chance(key: int, attempt: int, position: int, probability: float) -> bool:
    """The verdict of the probabilistic detector on one table of one attempt."""
    if probability <= 0.0:
        return False
    return uniform(key, slot(attempt, CONFLICT, position)) < probability


class ConflictDetector(ABC):
    """Tells real conflicts from false ones.

    A detector of one's own implements ``is_real_conflict``; the engine asks once per attempt, when the txn has
    learnt that a table it writes has moved.
    """

    @abstractmethod
    def is_real_conflict(
        self, txn: "Transaction", current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        """Whether data the txn depends on was changed between the two snapshots."""

    def conflicting_positions(
        self,
        txn: "Transaction",
        current_snapshot: CatalogSnapshot,
        start_snapshot: CatalogSnapshot,
        candidates: tuple[int, ...],
    ) -> tuple[int, ...]:
        """Which of the candidate tables (positions in the txn's write set) are in real conflict."""
        return candidates if self.is_real_conflict(txn, current_snapshot, start_snapshot) else ()

    def ground_of(self, txn: "Transaction", position: int, current: CatalogSnapshot, start: CatalogSnapshot) -> int:
        """What makes the conflict on one table real: the change plus one, by the codes of the table's format."""
        return BY_CHANCE

    def first_rival(
        self, txn: "Transaction", position: int, current: CatalogSnapshot, start: CatalogSnapshot
    ) -> tuple[int, int]:
        """Where commits are checked in order: the ground the first rival gives, and how many commits that takes.

        Zeros leave it at ``ground_of`` and all of them.
        """
        return 0, 0

    @property
    def is_built_in(self) -> bool:
        """Whether the class is Endive's own: only then can the compiled engine stand in for it."""
        return type(self).__module__.split(".")[0] == "endive"


class ProbabilisticConflictDetector(ConflictDetector):
    """Each table that moved is in real conflict with the probability its source is configured with."""

    def is_real_conflict(
        self, txn: "Transaction", current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        moved = txn.moved_positions(current_snapshot, start_snapshot)
        return bool(self.conflicting_positions(txn, current_snapshot, start_snapshot, moved))

    def conflicting_positions(
        self,
        txn: "Transaction",
        current_snapshot: CatalogSnapshot,
        start_snapshot: CatalogSnapshot,
        candidates: tuple[int, ...],
    ) -> tuple[int, ...]:
        probability = txn.terms.real_conflict_probability
        if probability <= 0.0:
            return ()
        key, attempt = txn.client.key, txn.client.attempt
        return tuple(p for p in candidates if is_real_by_chance(key, attempt, p, probability))


class PartitionOverlapConflictDetector(ConflictDetector):
    """A conflict is real if a partition the txn writes was changed by somebody else."""

    def is_real_conflict(
        self, txn: "Transaction", current_snapshot: CatalogSnapshot, start_snapshot: CatalogSnapshot
    ) -> bool:
        moved = txn.moved_positions(current_snapshot, start_snapshot)
        return bool(self.conflicting_positions(txn, current_snapshot, start_snapshot, moved))

    def conflicting_positions(
        self,
        txn: "Transaction",
        current_snapshot: CatalogSnapshot,
        start_snapshot: CatalogSnapshot,
        candidates: tuple[int, ...],
    ) -> tuple[int, ...]:
        return tuple(p for p in candidates if self._overlaps(txn, p, current_snapshot, start_snapshot))

    @staticmethod
    def _overlaps(txn: "Transaction", position: int, current: CatalogSnapshot, start: CatalogSnapshot) -> bool:
        table = txn.tables[position]
        partitions, n_written = txn.partitions[position]
        now = current.tables[table].partition_versions
        then = start.tables[table].partition_versions
        return any(now[p] != then[p] for p in partitions[:n_written])


class FilesConflictDetector(ProbabilisticConflictDetector):
    """A conflict is real if a rival changed what the txn has read or touches, in a way its operation minds.

    Rivals are looked for since the txn's start, as Iceberg does. A source that is given a probability keeps to it.
    """

    def conflicting_positions(
        self,
        txn: "Transaction",
        current_snapshot: CatalogSnapshot,
        start_snapshot: CatalogSnapshot,
        candidates: tuple[int, ...],
    ) -> tuple[int, ...]:
        if not txn.terms.is_by_files:
            return super().conflicting_positions(txn, current_snapshot, start_snapshot, candidates)
        return tuple(p for p in candidates if self.ground_of(txn, p, current_snapshot, start_snapshot))

    def ground_of(self, txn: "Transaction", position: int, current: CatalogSnapshot, start: CatalogSnapshot) -> int:
        if not txn.terms.is_by_files:
            return super().ground_of(txn, position, current, start)
        table = current.tables[txn.tables[position]]
        then = start.tables[txn.tables[position]]
        ground = ground_in_table(txn.operation, then.state, table.state)
        if ground:
            return ground
        after, until, history = txn.start_versions[position], table.version, table.files
        assert history is not None, "files are modelled"
        touched = txn.touched_files(position)
        partitions = touched.partitions
        if txn.partitions and reads_beside_writing(txn.operation):
            partitions = txn.partitions[position][0]
        for change in range(N_CHANGES):
            is_minded = minds_in_partition(txn.operation, change)
            if is_minded and any(history.has_partition_changed(change, p, after, until) for p in partitions):
                return 1 + change
        for place in touched.places:
            for change in range(N_CHANGES):
                if minds(txn.operation, change) and history.has_changed(change, place, after, until):
                    return 1 + change
        return 0

    def first_rival(
        self, txn: "Transaction", position: int, current: CatalogSnapshot, start: CatalogSnapshot
    ) -> tuple[int, int]:
        if not txn.terms.is_by_files:
            return 0, 0
        table, after = current.tables[txn.tables[position]], start.tables[txn.tables[position]].version
        history, touched = table.files, txn.touched_files(position)
        assert history is not None, "files are modelled"
        read = touched.partitions
        if txn.partitions and reads_beside_writing(txn.operation):
            read = txn.partitions[position][0]
        kept = commits_kept(len(current.tables), len(table.partition_versions))
        first = max(after + 1, table.version - kept + 1)
        for version in range(first, table.version + 1):
            rival = history.commits[version]
            is_in_partition = any(partition in rival.partitions for partition in read)
            is_on_file = any(place in rival.places for place in touched.places)
            changes = sum(1 << change for change in rival.changes)
            ground = ground_against(txn.operation, changes, is_in_partition, is_on_file)
            if ground:
                return ground, version - after
        return 0, first - 1 - after  # it is one of those that nobody remembers one by one
