"""Who meets whom: every victim, every rival and what the rival touches, as they are played on real Iceberg.

This file defines the list of pairs. How Java plays them lives in ``verification/java_rig``, what it did in
``pair_recording``, and what the model says to the same in ``modelled_pair``.

The table is partitioned by ``part`` and has one data file per manifest. The victim works on partition 0: it reads ids
below 10 there and touches the files A and B; C1 to C3 are other files of its partition, E1 to E3 of another one.
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

BEFORE: Final = "before"  # between the victim's load and its commit
DURING: Final = "during"  # between the refresh and the swap of its first attempt
FILES_PER_CLASS: Final = 3  # C1 to C3, E1 to E3: as many rivals at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Victim:
    """An operation, and which checks its caller asks for."""

    name: str
    java: str  # which builder of ``verification.java_rig.pair_operations`` makes it
    who: str  # whose operation it is
    isolation: str = NONE  # serializable: added data files are checked; snapshot: only deletes
    is_referring: bool = False  # a row delta that names the data files its deletes refer to
    is_deletes_validated: bool = False  # validateDeletedFiles: a named file that was deleted counts too
    is_delete_files_validated: bool = True  # validateNoConflictingDeleteFiles


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

    @property
    def key(self) -> str:
        """One name for it, stable from recording to comparison."""
        if self.rival is None:
            return f"{self.victim.name} / nobody / {self.catalog}"
        met = f"{self.rival.name}, {self.rival.touches}"
        return f"{self.victim.name} / {met} / {self.count} {self.when} / {self.catalog}"


def _row_delta(
    name: str, isolation: str, who: str, *, refers: bool, deleted: bool = True, delete: bool = False
) -> Victim:
    return Victim(
        name=f"{name} {isolation}",
        java="delete_rows" if delete else "row_delta",
        who=who,
        isolation=isolation,
        is_referring=refers,
        is_deletes_validated=deleted,
        is_delete_files_validated=not delete,
    )


def _both(*shapes: tuple[str, str, dict[str, bool]]) -> list[Victim]:
    return [
        _row_delta(name, isolation, who, **options)
        for name, who, options in shapes
        for isolation in (SERIALIZABLE, SNAPSHOT)
    ]


VICTIMS: Final[tuple[Victim, ...]] = (
    Victim(name="fast_append", java="fast_append", who="a stream's append"),
    Victim(name="merge_append", java="merge_append", who="Spark's INSERT"),
    *_both(
        ("row_delta", "a row delta that names no data files", {"refers": False}),
        ("row_delta referring", "Spark's UPDATE and MERGE, merge-on-read", {"refers": True}),
        (
            "row_delta referring, deletes skipped",
            "as above without validateDeletedFiles",
            {"refers": True, "deleted": False},
        ),
        ("row_delta delete", "Spark's DELETE, merge-on-read", {"refers": True, "deleted": False, "delete": True}),
    ),
    Victim(
        name="overwrite_files serializable",
        java="overwrite_files",
        who="Spark's UPDATE, DELETE and MERGE, copy-on-write",
        isolation=SERIALIZABLE,
    ),
    Victim(
        name="overwrite_files snapshot",
        java="overwrite_files",
        who="the same at snapshot isolation",
        isolation=SNAPSHOT,
    ),
    Victim(
        name="overwrite_files unchecked",
        java="overwrite_files",
        who="an overwrite of files whose caller checks nothing",
    ),
    Victim(name="delete_files", java="delete_files", who="Spark's DELETE of whole files, unchecked"),
    Victim(name="replace_partitions", java="replace_partitions", who="Spark's INSERT OVERWRITE, dynamic"),
    Victim(
        name="replace_partitions serializable",
        java="replace_partitions",
        who="the same, checked",
        isolation=SERIALIZABLE,
    ),
    Victim(
        name="replace_partitions snapshot",
        java="replace_partitions",
        who="the same, checked at snapshot isolation",
        isolation=SNAPSHOT,
    ),
    Victim(name="rewrite_files", java="rewrite_files", who="compaction: rewrite_data_files"),
    Victim(name="rewrite_manifests", java="rewrite_manifests", who="RewriteManifests.clusterBy"),
    Victim(name="rewrite_manifests planned", java="rewrite_manifests_planned", who="Spark's rewrite_manifests"),
    Victim(name="expire_snapshots", java="expire_snapshots", who="expire_snapshots, all but the newest"),
)


def _rivals(name: str, java: str, operation: str, *touched: str) -> list[Rival]:
    return [Rival(name=name, java=java, operation=operation, touches=each) for each in touched]


EXPIRY: Final = "append, then expire_snapshots"
FILES: Final = (SAME_FILE, OTHER_FILE, OTHER_PARTITION)
RIVALS: Final[tuple[Rival, ...]] = (
    *_rivals("append", "append", "append", SAME_ROWS, SAME_PARTITION, OTHER_PARTITION),
    *_rivals("row_delta", "row_delta", "overwrite", *FILES, SAME_PARTITION),
    *_rivals("row_delta delete", "delete_rows", "delete", *FILES),
    *_rivals("upsert", "upsert", "overwrite", SAME_ROWS, SAME_PARTITION, OTHER_PARTITION),
    *_rivals("overwrite_files", "overwrite_files", "overwrite", *FILES),
    *_rivals("delete_files", "delete_files", "delete", *FILES),
    *_rivals("rewrite_files", "rewrite_files", "replace", *FILES),
    *_rivals("replace_partitions", "replace_partitions", "overwrite", SAME_PARTITION, OTHER_PARTITION),
    *_rivals("rewrite_manifests", "rewrite_manifests", "replace", WHOLE_TABLE),
    *_rivals(EXPIRY, "append_and_expire", "append", OTHER_PARTITION),
)
# Victims that look at nothing their rivals did: one rival shows it.
_INDIFFERENT: Final = ("fast_append", "merge_append", "delete_files", "rewrite_manifests", "expire_snapshots")


def all_pairs() -> tuple[Pair, ...]:
    """Every pair, in the order they are recorded and shown."""
    found = []
    for victim in VICTIMS:
        found.append(Pair(victim=victim, rival=None, count=0, when=BEFORE))
        for rival in RIVALS:
            found += [Pair(victim=victim, rival=rival, count=n, when=when) for n, when in _moments(victim, rival)]
    return tuple(found)


def _moments(victim: Victim, rival: Rival) -> list[tuple[int, str]]:
    """How many rivals come, and when; where one of them has the say already, more are left out."""
    if rival.name == EXPIRY:  # the appends come first: with three, a snapshot between start and head is gone too
        return [(1, BEFORE), (FILES_PER_CLASS, BEFORE), (FILES_PER_CLASS, DURING)]
    if victim.java in _INDIFFERENT:
        return (
            [(1, BEFORE), (1, DURING)] if rival.touches in (SAME_FILE, SAME_PARTITION, WHOLE_TABLE) else [(1, BEFORE)]
        )
    many = [] if rival.touches in (SAME_FILE, SAME_ROWS) else [(FILES_PER_CLASS, BEFORE)]
    late = [] if rival.touches == OTHER_PARTITION else [(1, DURING)]
    return [(1, BEFORE), *many, *late]
