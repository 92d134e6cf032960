"""Who meets whom: the words for victims and rivals, as they are played on real Iceberg. ``pair_sheets`` lists them.

How Java plays them lives in ``rigs/java``, what it did in ``pair_recording``, and what the model says to
the same in ``modelled_pair``.

The table is partitioned by ``part`` and has one data file per manifest. The victim works on partition 0 and touches
the files A and B; C1 to C3 are other files of its partition, E1 to E3 of another one. What it has read is what it hands
over as conflict detection filter: ids below 10 of its partition, its partition, or the table (``alwaysTrue``).
A *rival* commits ``count`` times, either before the victim's commit begins or while its first attempt is under way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SERIALIZABLE: Final = "serializable"
SNAPSHOT: Final = "snapshot"
NONE: Final = "none"

SAME_FILE: Final = "a file the victim touches"
OTHER_FILE: Final = "another file of its partition"
OTHER_PARTITION: Final = "another partition"
SAME_ROWS: Final = "rows the victim read"  # a new file that the victim's filter selects
SAME_PARTITION: Final = "its partition"
WHOLE_TABLE: Final = "the whole table"

# What a victim has read, as the filter it hands over says.
ROWS: Final = "rows"  # ids below 10 of its partition
PARTITION: Final = "partition"
TABLE: Final = "table"  # no predicate on the target: Spark's MERGE ... ON t.id = s.id

POSITION: Final = "position"  # on a v3 table: deletion vectors
EQUALITY: Final = "equality"
EQUALITY_AND_POSITION: Final = "equality and position"  # as Flink's upsert: positions in the files it adds itself

BEFORE: Final = "before"  # between the victim's load and its commit
DURING: Final = "during"  # between the refresh and the swap of its first attempt
FILES_PER_CLASS: Final = 3  # C1 to C3, E1 to E3: as many rivals at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Victim:
    """An operation, and which checks its caller asks for."""

    name: str
    java: str  # what ``rigs.java.pair_operations`` makes
    who: str  # whose operation it is
    isolation: str = NONE  # serializable: added data files are checked; snapshot: only deletes
    is_referring: bool = False  # a row delta that names the data files its deletes refer to
    is_deletes_validated: bool = False  # validateDeletedFiles: a named file that was deleted counts too
    is_delete_files_validated: bool = True  # validateNoConflictingDeleteFiles
    reads: str = ROWS
    deletes: str = POSITION
    format_version: int = 2
    is_in_transaction: bool = False  # through Table.newTransaction, as Trino commits
    is_sequenced: bool = False  # a compaction that carries the starting sequence number
    is_replacing: bool = False  # a row delta that replaces the delete file of a data file it deletes from


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """What a rival does, and to what."""

    name: str
    java: str
    operation: str  # as its snapshot's summary says: append, overwrite, delete, replace
    touches: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A victim beset by rivals of one kind."""

    victim: Victim
    rival: Rival | None
    count: int
    when: str
    catalog: str = "jdbc"
    second: Rival | None = None  # another kind, which comes once, behind the others

    @property
    def key(self) -> str:
        """One name for it, stable from recording to comparison."""
        if self.rival is None:
            return f"{self.victim.name} / nobody / {self.catalog}"
        met = f"{self.rival.name}, {self.rival.touches}"
        if self.second is not None:
            met += f", then {self.second.name}, {self.second.touches}"
        return f"{self.victim.name} / {met} / {self.count} {self.when} / {self.catalog}"

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """Both kinds, if there are."""
        return tuple(each for each in (self.rival, self.second) if each is not None)
