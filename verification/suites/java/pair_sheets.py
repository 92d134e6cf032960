"""Every pair that is played, sheet by sheet: format version, what the victims have read, and how they commit.

A sheet is a set of victims that all meet the same rivals. The words are in ``pairs``; ``docs/model/conflicts.csv``
has a row for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from verification.suites.java.pairs import (
    BEFORE,
    DURING,
    EQUALITY,
    EQUALITY_AND_POSITION,
    FILES_PER_CLASS,
    NONE,
    OTHER_FILE,
    OTHER_PARTITION,
    PARTITION,
    ROWS,
    SAME_FILE,
    SAME_PARTITION,
    SAME_ROWS,
    SERIALIZABLE,
    SNAPSHOT,
    TABLE,
    WHOLE_TABLE,
    Pair,
    Rival,
    Victim,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Victims that meet the same rivals."""

    victims: tuple[Victim, ...]
    rivals: tuple[Rival, ...]
    is_thorough: bool = False  # rivals in numbers, and late ones, wherever they can make a difference


# ---- victims -------------------------------------------------------------------------------------------


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


_UNNAMED: Final = _both(("row_delta", "a row delta that names no data files", {"refers": False}))
_MERGES: Final = _both(("row_delta referring", "Spark's UPDATE and MERGE, merge-on-read", {"refers": True}))
_DELETES: Final = _both(
    ("row_delta delete", "Spark's DELETE, merge-on-read", {"refers": True, "deleted": False, "delete": True})
)
_OVERWRITES: Final = [
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
]
_COMPACTION: Final = Victim(
    name="rewrite_files", java="rewrite_files", who="compaction without the starting sequence number"
)
_SEQUENCED: Final = replace(
    _COMPACTION,
    name="rewrite_files sequenced",
    who="compaction as Spark, Trino and Flink call it: with the starting sequence number",
    is_sequenced=True,
)
_UPSERT: Final = Victim(
    name="upsert unchecked", java="upsert", who="Flink's upsert, Kafka Connect's deltas", deletes=EQUALITY
)

VICTIMS: Final[tuple[Victim, ...]] = (
    Victim(name="fast_append", java="fast_append", who="a stream's append"),
    Victim(name="merge_append", java="merge_append", who="Spark's INSERT"),
    *_UNNAMED,
    *_MERGES,
    *_both(
        (
            "row_delta referring, deletes skipped",
            "as above without validateDeletedFiles",
            {"refers": True, "deleted": False},
        ),
    ),
    *_DELETES,
    *_OVERWRITES,
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
    _COMPACTION,
    Victim(name="rewrite_manifests", java="rewrite_manifests", who="RewriteManifests.clusterBy"),
    Victim(name="rewrite_manifests planned", java="rewrite_manifests_planned", who="Spark's rewrite_manifests"),
    Victim(name="expire_snapshots", java="expire_snapshots", who="expire_snapshots, all but the newest"),
)


def _that_read(victims: list[Victim], *what: str) -> list[Victim]:
    """The same victims, each after every kind of reading."""
    told = {TABLE: "read the table", PARTITION: "read its partition", ROWS: "read rows of its partition"}
    return [replace(victim, name=f"{victim.name}, {told[reads]}", reads=reads) for reads in what for victim in victims]


def _overwrite_filter(isolation: str, who: str) -> Victim:
    return Victim(
        name=f"overwrite_filter {'unchecked' if isolation == NONE else isolation}",
        java="overwrite_filter",
        who=who,
        isolation=isolation,
        reads=PARTITION,
    )


_OTHERS: Final = (
    _overwrite_filter(NONE, "Spark's INSERT OVERWRITE of a static partition"),
    _overwrite_filter(SERIALIZABLE, "the same with isolation-level = serializable"),
    _overwrite_filter(SNAPSHOT, "the same with isolation-level = snapshot"),
    Victim(name="delete_where", java="delete_where", who="Spark's DELETE of a whole partition: metadata only"),
    _SEQUENCED,
    Victim(name="rewrite_deletes", java="rewrite_deletes", who="Spark's rewrite_position_delete_files"),
    _UPSERT,
    replace(
        _UPSERT,
        name="upsert with positions unchecked",
        who="the same with deletes of rows it has just added",
        deletes=EQUALITY_AND_POSITION,
    ),
    Victim(name="rollback", java="rollback", who="rollback_to_snapshot, to the snapshot before"),
)


def _replacing(victim: Victim) -> Victim:
    return replace(
        victim, name=f"{victim.name}, replacing deletes", who=f"{victim.who}, of files with deletes", is_replacing=True
    )


def _in_transaction(*victims: Victim) -> tuple[Victim, ...]:
    return tuple(
        replace(each, name=f"{each.name}, in a Transaction", who=f"{each.who}, through a Transaction (Trino)",
                is_in_transaction=True)
        for each in victims
    )  # fmt: skip


def _on_v3(*victims: Victim) -> tuple[Victim, ...]:
    return tuple(replace(each, name=f"v3 {each.name}", format_version=3) for each in victims)


# ---- rivals --------------------------------------------------------------------------------------------


def _rivals(name: str, java: str, operation: str, *touched: str) -> list[Rival]:
    return [Rival(name=name, java=java, operation=operation, touches=each) for each in touched]


EXPIRY: Final = "append, then expire_snapshots"
ROLLED_BACK: Final = "append, then rollback"  # to where the victim began
ROLLBACK: Final = "rollback"  # to before that
FILES: Final = (SAME_FILE, OTHER_FILE, OTHER_PARTITION)
PARTITIONS: Final = (SAME_PARTITION, OTHER_PARTITION)
_FIRST: Final = (
    *_rivals("append", "append", "append", SAME_ROWS, SAME_PARTITION, OTHER_PARTITION),
    *_rivals("row_delta", "row_delta", "overwrite", *FILES),
)
_LATER: Final = (
    *_rivals("row_delta delete", "delete_rows", "delete", *FILES),
    *_rivals("upsert", "upsert", "overwrite", SAME_ROWS, *PARTITIONS),
    *_rivals("overwrite_files", "overwrite_files", "overwrite", *FILES),
    *_rivals("delete_files", "delete_files", "delete", *FILES),
    *_rivals("rewrite_files", "rewrite_files", "replace", *FILES),
    *_rivals("replace_partitions", "replace_partitions", "overwrite", *PARTITIONS),
    *_rivals("rewrite_manifests", "rewrite_manifests", "replace", WHOLE_TABLE),
    *_rivals(EXPIRY, "append_and_expire", "append", OTHER_PARTITION),
    *_rivals("overwrite_filter", "overwrite_filter", "overwrite", *PARTITIONS),
    *_rivals("delete_where", "delete_where", "delete", *PARTITIONS),
    *_rivals(ROLLED_BACK, "append_and_roll_back", "append", SAME_PARTITION),
    *_rivals(ROLLBACK, "rollback", "", WHOLE_TABLE),
)
RIVALS: Final[tuple[Rival, ...]] = (
    *_FIRST,
    *_rivals("row_delta", "row_delta", "overwrite", SAME_PARTITION),
    *_LATER,
    *_rivals("rewrite_deletes", "rewrite_deletes", "replace", SAME_FILE, OTHER_PARTITION),
)
RIVALS_V3: Final[tuple[Rival, ...]] = (*_FIRST, *_LATER)

# ---- sheets --------------------------------------------------------------------------------------------

SHEETS: Final[tuple[Sheet, ...]] = (
    Sheet(victims=VICTIMS, rivals=RIVALS, is_thorough=True),
    Sheet(  # Format v2, the table or a partition read
        victims=tuple(_that_read([*_UNNAMED, *_MERGES, *_DELETES, *_OVERWRITES], TABLE, PARTITION)),
        rivals=RIVALS,
    ),
    Sheet(victims=_OTHERS, rivals=RIVALS),
    Sheet(  # Format v2, delete files replaced
        victims=tuple(_replacing(each) for each in (*_MERGES, *_DELETES)),
        rivals=(
            *_rivals("append", "append", "append", OTHER_PARTITION),
            *_rivals("row_delta", "row_delta", "overwrite", SAME_FILE),
            *_rivals("rewrite_deletes", "rewrite_deletes", "replace", SAME_FILE, OTHER_PARTITION),
        ),
    ),
    Sheet(  # Format v2, through a Transaction
        victims=_in_transaction(VICTIMS[0], VICTIMS[1], *_that_read(_MERGES, TABLE, PARTITION), _SEQUENCED),
        rivals=RIVALS,
    ),
    Sheet(  # Format v3, deletion vectors
        victims=_on_v3(
            *_that_read([*_MERGES, *_DELETES], TABLE, PARTITION, ROWS),
            *_that_read(_OVERWRITES, TABLE, PARTITION),
            *_that_read(_UNNAMED, PARTITION),
        ),
        rivals=RIVALS_V3,
    ),
    Sheet(  # Format v3, compaction, sinks, and through a Transaction
        victims=_on_v3(
            _COMPACTION,
            *_OTHERS[:3],
            _SEQUENCED,
            *_OTHERS[6:8],
            *_in_transaction(*_that_read(_MERGES, TABLE, PARTITION), _SEQUENCED),
        ),
        rivals=RIVALS_V3,
    ),
)
# Victims that look at nothing their rivals did: one rival shows it.
_INDIFFERENT: Final = (
    "fast_append",
    "merge_append",
    "delete_files",
    "rewrite_manifests",
    "expire_snapshots",
    "delete_where",
    "rollback",
)
_LATE: Final = ("append", "row_delta", "delete_rows")  # rivals that come while an attempt is under way
_BASE_CHANGES: Final = (ROLLED_BACK, ROLLBACK, "rewrite_deletes")  # one of them is all there is


def all_pairs() -> tuple[Pair, ...]:
    """Every pair, in the order they are recorded and shown."""
    return tuple(pair for sheet in SHEETS for pair in pairs_of(sheet))


def pairs_of(sheet: Sheet) -> Iterator[Pair]:
    """The pairs of one sheet."""
    for victim in sheet.victims:
        yield Pair(victim=victim, rival=None, count=0, when=BEFORE)
        for rival in sheet.rivals:
            for count, when in _moments(victim, rival, is_thorough=sheet.is_thorough):
                yield Pair(victim=victim, rival=rival, count=count, when=when)


def _moments(victim: Victim, rival: Rival, *, is_thorough: bool) -> list[tuple[int, str]]:
    """How many rivals come, and when; where one of them has the say already, more are left out."""
    if rival.name in _BASE_CHANGES:
        return [(1, BEFORE)]
    if rival.name == EXPIRY:  # the appends come first: with three, a snapshot between start and head is gone too
        late = [(FILES_PER_CLASS, DURING)] if is_thorough else []
        return [(1, BEFORE), (FILES_PER_CLASS, BEFORE), *late]
    if victim.java in _INDIFFERENT:
        is_met = rival.touches in (SAME_FILE, SAME_PARTITION, WHOLE_TABLE)
        return [(1, BEFORE), (1, DURING)] if is_met and is_thorough else [(1, BEFORE)]
    if is_thorough:
        many = [] if rival.touches in (SAME_FILE, SAME_ROWS) else [(FILES_PER_CLASS, BEFORE)]
        late = [] if rival.touches == OTHER_PARTITION else [(1, DURING)]
        return [(1, BEFORE), *many, *late]
    is_plain = rival.name in ("append", "row_delta", "row_delta delete", "upsert")
    many = [(FILES_PER_CLASS, BEFORE)] if rival.touches == OTHER_PARTITION and is_plain else []
    late = [(1, DURING)] if rival.touches in (SAME_FILE, OTHER_PARTITION) and rival.java in _LATE else []
    return [(1, BEFORE), *many, *late]
