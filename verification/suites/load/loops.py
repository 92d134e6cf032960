"""Closed loops beyond appends behind JDBC: which operations, which catalog, and whether a writer keeps its table.

How real Iceberg is loaded lives in ``rigs/java/loop_stage``, the model's side and the comparison in
``java_loops``.

Every writer begins its next txn as soon as the last one has ended. *load*: each txn loads the table anew. *keep*: a
writer loads it once and works on the same table object from then on, as a streaming job does. A row delta changes rows
of its own in the partition all row deltas share, so that each reads what the others did and none is in conflict. A
compaction replaces the one file of a partition of its own. *queue*: all writers share a lock around their commits.
*gather*: whoever comes first waits for the next multiple of ``GATHER_EVERY_S`` and commits the files of all who wait.
A *delete* works for ``WORK_S`` and deletes rows of ``TOUCHED`` of the ``DATA_FILES`` data files, anew drawn each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

APPEND: Final = "append"
ROW_DELTA: Final = "row_delta"
COMPACTION: Final = "compaction"
MIX: Final = "mix"
DELETE: Final = "delete"
WORK_S: Final = 0.3
TOUCHED, DATA_FILES = 4, 20
LOAD: Final = "load"
KEEP: Final = "keep"
FREE: Final = ""
QUEUE: Final = "queue"
GATHER: Final = "gather"
GATHER_EVERY_S: Final = 1.0
WRITERS: Final = (1, 4, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """One cell."""

    operation: str
    table: str
    catalog: str
    writers: int
    order: str = FREE  # who orders their commits
    format_version: int = 2

    @property
    def key(self) -> str:
        """One name for it, stable from recording to comparison."""
        version = f"v{self.format_version}" if self.operation == DELETE else ""
        return f"{self.operation} {self.table} {self.catalog} {self.writers} {self.order}{version}".rstrip()

    @property
    def operations(self) -> tuple[str, ...]:
        """What each writer does: in a mix half of them append, a quarter changes rows, a quarter compacts."""
        if self.operation != MIX:
            return (self.operation,) * self.writers
        quarter = self.writers // 4
        return (APPEND,) * (self.writers - 2 * quarter) + (ROW_DELTA,) * quarter + (COMPACTION,) * quarter


def all_loops() -> tuple[Loop, ...]:
    """Every cell, in the order they are recorded and shown."""
    ways = (
        (APPEND, LOAD, "jdbc"),
        (APPEND, KEEP, "jdbc"),
        (APPEND, LOAD, "rest"),
        (APPEND, KEEP, "rest"),
        (ROW_DELTA, LOAD, "jdbc"),
        (ROW_DELTA, KEEP, "jdbc"),
        (COMPACTION, LOAD, "jdbc"),
        (MIX, LOAD, "jdbc"),
    )
    free = [
        Loop(operation=operation, table=table, catalog=catalog, writers=writers)
        for operation, table, catalog in ways
        for writers in WRITERS
        if operation != MIX or writers >= 4
    ]
    return (*free, *ordered_loops())


def ordered_loops() -> tuple[Loop, ...]:
    """The cells in which somebody orders the commits; recorded into a file of their own."""
    return tuple(
        Loop(operation=APPEND, table=LOAD, catalog="jdbc", writers=writers, order=order)
        for order in (QUEUE, GATHER)
        for writers in WRITERS[1:]
    )


def delete_loops() -> tuple[Loop, ...]:
    """Three loops of DELETE, on a table with files of position deletes and on one with deletion vectors."""
    return tuple(
        Loop(operation=DELETE, table=LOAD, catalog="jdbc", writers=3, format_version=version) for version in (2, 3)
    )
