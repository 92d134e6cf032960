"""The catalog server's state: versions, tables and the log, and who may change them.

This file defines the one owner of mutable state of a simulation. It decides nothing itself: the rules do
(``endive.catalog.rules``). It knows no latency and no txn.
"""

from collections.abc import Sequence

from endive.catalog import rules
from endive.catalog.file_history import FileHistory
from endive.catalog.rules import CLASS_NONE, SCOPE_CATALOG, SCOPE_PARTITION, LogState, ObjectSizes, TableState
from endive.catalog.snapshot import CatalogSnapshot, IntentionRecord, TableMetadata
from endive.record import copied


class CatalogState:
    """Versions, tables and log of one catalog, and snapshots of them that never change."""

    __slots__ = (
        "_log_seen",
        "_tables_seen",
        "_versions_tuple",
        "_watched",
        "catalog_bytes",
        "data_files",
        "files",
        "initial_snapshots",
        "is_inlined",
        "log",
        "num_groups",
        "num_partitions",
        "num_tables",
        "scope",
        "sizes",
        "snapshot_times_us",
        "tables",
        "versions",
    )

    def __init__(
        self,
        *,
        num_tables: int = 1,
        scope: int = SCOPE_CATALOG,
        num_groups: int = 0,
        num_partitions: int = 0,
        sizes: ObjectSizes | None = None,
        is_inlined: bool = False,
        has_log: bool = False,
        initial_snapshots: int = 0,
        initial_manifests: int = 0,
        data_files: int = 0,
        has_snapshot_times: bool = False,
    ) -> None:
        self.num_tables = num_tables
        self.scope = scope
        self.num_groups = num_groups
        self.num_partitions = num_partitions
        self.sizes = sizes if sizes is not None else ObjectSizes()
        self.is_inlined = is_inlined
        self.data_files = data_files  # of every table; 0: not modelled
        self.files = [FileHistory() if data_files else None for _ in range(num_tables)]
        self.initial_snapshots = initial_snapshots  # older than any time that is kept
        self.snapshot_times_us: list[list[int] | None] = [[] if has_snapshot_times else None for _ in range(num_tables)]
        self.versions = [0] * (1 + num_groups + num_tables + num_tables * num_partitions)
        self.tables = [TableState(version=initial_snapshots, manifests=initial_manifests) for _ in range(num_tables)]
        self.log = LogState() if has_log else None
        for table in range(num_tables):
            self.versions[rules.table_slot(num_groups, table)] = initial_snapshots
        self.catalog_bytes = self.sizes.catalog_base_bytes + num_tables * self.sizes.catalog_bytes_per_table
        if is_inlined:
            self.catalog_bytes += num_tables * rules.metadata_bytes(self.sizes, initial_snapshots)
        self._tables_seen = tuple(self._table(t) for t in range(num_tables))
        self._versions_tuple = tuple(self.versions)
        self._log_seen = None if self.log is None else copied(self.log)
        self._watched = [0] * (num_tables * max(1, num_partitions) + 1)

    @property
    def has_snapshot_times(self) -> bool:
        """Whether anybody asks how old a snapshot is."""
        return self.snapshot_times_us[0] is not None

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
        found = 0
        for table, (partitions, _) in zip(tables, intention.partitions, strict=True):
            first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
            found = rules.watch_partitions(first, partitions, 0, len(partitions), self._watched, found)
        return found

    def apply(self, intention: IntentionRecord, now_us: int = 0) -> None:
        """Install a commit: the sequence number moves by exactly one."""
        tables = intention.tables[: intention.n_written]
        self.versions[0] += 1
        for position, table in enumerate(tables):
            rules.advance_table(self.versions, self.num_groups, tables, 0, position)
            if self.num_partitions:
                self._advance_partitions(table, *intention.partitions[position])
            state, effect, times_us = self.tables[table], intention.effects[position], self.snapshot_times_us[table]
            before_bytes = rules.metadata_bytes(self.sizes, rules.snapshots_kept(state))
            rules.apply_effect(state, *effect)
            if self.is_inlined:
                self.catalog_bytes += rules.metadata_bytes(self.sizes, rules.snapshots_kept(state)) - before_bytes
            if times_us is not None and effect.effect_class != CLASS_NONE:
                times_us.append(now_us)
            history = self.files[table]
            if history is not None and intention.touched:
                history.note(intention.touched[position], state.version)
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
        return TableMetadata(
            table, copied(self.tables[table]), partitions, self.files[table], self.snapshot_times_us[table]
        )
