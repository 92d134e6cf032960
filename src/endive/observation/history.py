"""What was seen of a real table: its commits, its shape, and what a reader must know about both.

``tables`` and ``logs`` read it, ``logs.log_join`` makes one of a table and a log, ``fitting`` makes a configuration of
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from endive.errors import ObservationError

APPEND: Final = "append"
OVERWRITE: Final = "overwrite"
DELETE: Final = "delete"
REPLACE: Final = "replace"
OPERATIONS: Final = (APPEND, OVERWRITE, DELETE, REPLACE)  # org.apache.iceberg.DataOperations
DELTA_CHANGES: Final = ("merge", "optimize")  # kinds of Delta that are no appends
DELTA_WORDS: Final = {OVERWRITE: "merge", DELETE: DELETE, REPLACE: "optimize"}
UNKNOWN: Final = "unknown"
TABLE_MOVED: Final = "table_moved"  # the reason of a statement that fails before any attempt
COMMITS_MAX: Final = 500_000  # of a table or a log
WORKING_ENGINES: Final = ("spark", "trino", "presto", "pyiceberg")  # an append of theirs writes files before it commits


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit, or one that failed if a log tells of it; times in microseconds since 1970."""

    time_us: int  # what the snapshot says: made within its last attempt
    operation: str
    kind: str
    overwrite: str = ""  # which Iceberg operation a validated overwrite is
    writer: str = UNKNOWN
    engine: str = UNKNOWN
    snapshot_id: int | None = None
    parent_id: int | None = None
    sequence_number: int = 0
    manifest_list: str = ""  # where it lies
    added_files: int = 0
    removed_files: int = 0
    added_delete_files: int = 0
    added_equality_deletes: int = 0
    total_files: int | None = None
    added_bytes: int = 0
    changed_partitions: int | None = None
    places: tuple[str, ...] = ()  # the partitions it added files to, where manifests tell
    manifests: int | None = None  # after it
    duration_ms: float | None = None
    runtime_ms: float | None = None  # the part of the duration that was work before the commit
    attempts: int | None = None
    is_committed: bool = True
    reason: str = ""  # why it failed, in the words of ``endive.vocabulary.REASONS``, or the exception's class
    read: str = ""  # what it had read, if the exception tells
    is_submission: bool = False  # time_us is when it began, not when its snapshot was made
    is_reported: bool = False  # Iceberg's own timer says how long the commit took

    @property
    def word(self) -> str:
        """What it did, in the words of its format; a blind append is an append in both."""
        if self.kind == "append_after_read":
            return self.kind
        return DELTA_WORDS.get(self.operation, self.operation) if self.kind in DELTA_CHANGES else self.operation

    @property
    def end_us(self) -> int:
        """When it ended, as far as is known: of a snapshot, when it was stamped."""
        return self.time_us + round(1000.0 * (self.duration_ms or 0.0)) if self.is_submission else self.time_us

    @property
    def worked_ms(self) -> float | None:
        """How long it worked, as far as is known: one that failed before any attempt did nothing else."""
        return self.duration_ms if self.runtime_ms is None and self.reason == TABLE_MOVED else self.runtime_ms

    @property
    def is_statement(self) -> bool:
        """Whether its duration has the work in it: a client's log of an engine that works, or of what validates."""
        if self.duration_ms is None or not self.is_submission:
            return False
        if self.runtime_ms is not None:
            return self.runtime_ms > 0.0
        return self.operation != APPEND or self.engine in WORKING_ENGINES


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """How large a table is at its newest snapshot; None where nothing tells."""

    snapshots: int
    metadata_bytes: int | None = None
    bytes_per_snapshot: float | None = None
    manifests: int | None = None
    manifest_bytes: float | None = None
    manifest_list_bytes: int | None = None
    data_files: int | None = None
    delete_files: int | None = None
    partition_fields: int = 0
    partitions: int | None = None
    format_version: int = 2
    properties: tuple[tuple[str, str], ...] = ()  # those that decide how a commit is made

    @property
    def settings(self) -> dict[str, str]:
        """Table properties by name."""
        return dict(self.properties)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHistory:
    """What is known of one table."""

    name: str
    commits: tuple[Commit, ...]  # in the order of their times
    shape: TableShape
    expired: int = 0  # snapshots before the first one kept, if the table numbers them
    catalog_kind: str = ""  # "rest", "sql", ...: decides who writes the metadata
    location: str = ""  # scheme of the warehouse: which kind of store
    has_outcomes: bool = False  # a log tells of commits that failed; a table does not
    notes: tuple[str, ...] = field(default=())

    @property
    def duration_ms(self) -> float:
        """From the first commit to the last."""
        return (self.commits[-1].time_us - self.commits[0].time_us) / 1000.0

    def with_notes(self, *notes: str, **fields: Any) -> TableHistory:
        """The same with more notes, and with other fields."""
        return replace(self, **fields, notes=(*self.notes, *notes))


def history_of_log(name: str, commits: Iterable[Commit], *notes: str, has_outcomes: bool = True) -> TableHistory:
    """What a log tells of a table: nothing of its size; of the table's name every note is told."""
    return TableHistory(
        name=name,
        commits=in_order(commits),
        shape=TableShape(snapshots=0),
        has_outcomes=has_outcomes,
        notes=tuple(f"{name}: {note}" for note in notes),
    )


def in_order(commits: Iterable[Commit]) -> tuple[Commit, ...]:
    """By time; equal times by the table's own number."""
    return tuple(sorted(commits, key=lambda commit: (commit.time_us, commit.sequence_number)))


def refuse_too_many(count: int, name: str) -> None:
    """ObservationError for more commits than are read; ``name`` is how the message calls what holds them."""
    if count > COMMITS_MAX:
        raise ObservationError(f"{name} has more than {COMMITS_MAX:,} commits; so many are not read.")


def is_cut(commits: Sequence[Commit]) -> bool:
    """Whether what came before the first of them was expired: it has a parent that is not there."""
    if not commits or commits[0].parent_id is None:
        return False
    return commits[0].parent_id not in {commit.snapshot_id for commit in commits}
