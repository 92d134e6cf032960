"""The catalog server's state: versions and the log, and who may change them.

The one owner of mutable state of a simulation. It decides nothing itself: the rules do (``endive.catalog.rules``). What
the tables hold is a ``Content`` that their format provides; it knows no latency and no txn.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from endive.catalog import rules
from endive.catalog.rules import SCOPE_CATALOG, SCOPE_PARTITION, LogState
from endive.catalog.snapshot import CatalogSnapshot, IntentionRecord, TableMetadata
from endive.record import copied


class Content(Protocol):
    """What the tables of a catalog hold."""

    def show(self, table: int) -> tuple[Any, ...]:
        """A table as a snapshot shows it, and nobody changes it any more: the last fields of ``TableMetadata``."""

    def install(self, intention: IntentionRecord, now_us: int) -> int:
        """A commit is the newest state of the tables it writes; by how many bytes the catalog object grows."""

    def undoable(self, intention: IntentionRecord) -> int:
        """Compactions since the base of a commit that may be undone for it."""

    def undo(self, intention: IntentionRecord) -> None:
        """They are undone."""


class CatalogState:
    """Versions and log of one catalog, and snapshots of them that never change."""

    def __init__(
        self,
        *,
        num_tables: int = 1,
        scope: int = SCOPE_CATALOG,
        num_groups: int = 0,
        num_partitions: int = 0,
        has_log: bool = False,
        initial_version: int = 0,
        catalog_bytes: int = 1_000,
        content: Content | None = None,
    ) -> None:
        self.num_tables = num_tables
        self.scope = scope
        self.num_groups = num_groups
        self.num_partitions = num_partitions
        self.content = content  # None: it keeps versions, and nothing else
        self.versions = [0] * (1 + num_groups + num_tables + num_tables * num_partitions)
        self.log = LogState() if has_log else None
        for table in range(num_tables):
            self.versions[rules.table_slot(num_groups, table)] = initial_version
        self.catalog_bytes = catalog_bytes  # without the log
        self._tables_seen = tuple(self._table(t) for t in range(num_tables))
        self._versions_tuple = tuple(self.versions)
        self._log_seen = None if self.log is None else copied(self.log)
        self._watched = [0] * (num_tables * max(1, num_partitions) + 1)

    @property
    def seq(self) -> int:
        """Commits so far."""
        return self.versions[0]

    @property
    def size_bytes(self) -> int:
        """Size of the catalog object, or of checkpoint and log together."""
        return self.catalog_bytes if self.log is None else self.catalog_bytes + rules.log_bytes(self.log)

    def snapshot(self, now_us: int) -> CatalogSnapshot:
        """The state of this instant, immutable."""
        return CatalogSnapshot(
            self.versions[0], self._tables_seen, now_us, self._versions_tuple, self.size_bytes, self._log_seen
        )

    def is_current(self, intention: IntentionRecord) -> bool:
        """Whether nothing this commit watches has moved since the snapshot it was built on."""
        if self.scope == SCOPE_CATALOG:
            return self.versions[0] == intention.base.seq
        return self._agrees(intention, self.versions)

    def is_same(self, intention: IntentionRecord, seen: CatalogSnapshot) -> bool:
        """Whether a later snapshot shows nothing moved that the intention watches; what a client may check."""
        return self._agrees(intention, seen.versions)

    def _agrees(self, intention: IntentionRecord, versions: Sequence[int]) -> bool:
        expected, watched = intention.base.versions, self._watched
        return all(versions[watched[i]] == expected[watched[i]] for i in range(self._watch(intention)))

    def _watch(self, intention: IntentionRecord) -> int:
        """Fill ``_watched`` with the slots the intention is checked against; how many."""
        tables = intention.tables
        if self.scope != SCOPE_PARTITION:
            return rules.watch_tables(self.scope, self.num_groups, tables, 0, len(tables), self._watched)
        count = 0
        for table, (partitions, _) in zip(tables, intention.partitions, strict=True):
            first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
            count = rules.watch_partitions(first, partitions, 0, len(partitions), self._watched, count)
        return count

    def apply(self, intention: IntentionRecord, now_us: int = 0) -> None:
        """Install a commit: the sequence number moves by exactly one."""
        tables = intention.tables[: intention.n_written]
        self.versions[0] += 1
        for position, table in enumerate(tables):
            rules.advance_table(self.versions, self.num_groups, tables, 0, position)
            if self.num_partitions:
                self._advance_partitions(table, *intention.partitions[position])
        if self.content is not None:
            self.catalog_bytes += self.content.install(intention, now_us)
        self._versions_tuple = tuple(self.versions)
        self.refresh_tables(tables)

    def _advance_partitions(self, table: int, partitions: tuple[int, ...], n_written: int) -> None:
        first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
        for partition in partitions[:n_written]:
            self.versions[first + partition] += 1

    def refresh_tables(self, tables: tuple[int, ...]) -> None:
        """Make new metadata values for tables that changed; old snapshots keep the old ones."""
        if len(self._tables_seen) == 1:
            self._tables_seen = (self._table(0),)
            return
        changed = list(self._tables_seen)
        for table in tables:
            changed[table] = self._table(table)
        self._tables_seen = tuple(changed)

    def refresh_log(self) -> None:
        """Let snapshots see what happened to the log."""
        assert self.log is not None
        self._log_seen = copied(self.log)

    def _table(self, table: int) -> TableMetadata:
        partitions: tuple[int, ...] = ()
        if self.num_partitions:
            first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
            partitions = tuple(self.versions[first : first + self.num_partitions])
        version = self.versions[rules.table_slot(self.num_groups, table)]
        shown = () if self.content is None else self.content.show(table)
        return TableMetadata(table, version, partitions, *shown)
