"""The catalog server's state: versions, table counters and the log, and who may change them.

One owner of mutable state per simulation. Decides nothing itself: the rules do
(``endive.catalog.rules``). Knows no latency and no txn.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from endive.catalog import rules
from endive.catalog.rules import MANIFESTS, N_COUNTERS, N_LOG, SCOPE_CATALOG, SCOPE_PARTITION, VERSION
from endive.catalog.snapshot import CatalogSnapshot, CommitEffect, IntentionRecord, TableMetadata

_PLAIN_EFFECT = CommitEffect(rules.CLASS_APPEND, 1, 0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSizes:
    """Sizes of a table's objects and of the catalog object, and how they grow."""

    metadata_base_bytes: int = 5_000
    metadata_bytes_per_snapshot: int = 730
    snapshots_kept_max: int = 0
    manifest_list_base_bytes: int = 2_000
    manifest_list_bytes_per_manifest: int = 41
    manifest_bytes: int = 8_000
    catalog_base_bytes: int = 1_000
    catalog_bytes_per_table: int = 200

    def metadata_bytes(self, version: int) -> int:
        """Size of a metadata object after ``version`` snapshots."""
        return rules.metadata_bytes(
            version, self.metadata_base_bytes, self.metadata_bytes_per_snapshot, self.snapshots_kept_max
        )

    def manifest_list_bytes(self, manifests: int) -> int:
        """Size of a manifest list naming ``manifests`` manifests."""
        return rules.list_bytes(manifests, self.manifest_list_base_bytes, self.manifest_list_bytes_per_manifest)


class CatalogState:
    """Versions, counters and log of one catalog, and immutable snapshots of them."""

    __slots__ = (
        "_log_tuple",
        "_tables",
        "_versions_tuple",
        "_watched",
        "catalog_bytes",
        "counters",
        "is_inlined",
        "log",
        "num_groups",
        "num_partitions",
        "num_tables",
        "scope",
        "sizes",
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
    ) -> None:
        self.num_tables = num_tables
        self.scope = scope
        self.num_groups = num_groups
        self.num_partitions = num_partitions
        self.sizes = sizes if sizes is not None else ObjectSizes()
        self.is_inlined = is_inlined
        self.versions = [0] * (1 + num_groups + num_tables + num_tables * num_partitions)
        self.counters = [0] * (num_tables * N_COUNTERS)
        self.log = [0] * N_LOG if has_log else []
        for table in range(num_tables):
            self.versions[rules.table_slot(num_groups, table)] = initial_snapshots
            self.counters[table * N_COUNTERS + VERSION] = initial_snapshots
            self.counters[table * N_COUNTERS + MANIFESTS] = initial_manifests
        self.catalog_bytes = self.sizes.catalog_base_bytes + num_tables * self.sizes.catalog_bytes_per_table
        if is_inlined:
            self.catalog_bytes += num_tables * self.sizes.metadata_bytes(initial_snapshots)
        self._tables = tuple(self._table(t) for t in range(num_tables))
        self._versions_tuple = tuple(self.versions)
        self._log_tuple = tuple(self.log)
        self._watched = [0] * (num_tables * max(1, num_partitions) + 1)

    @property
    def seq(self) -> int:
        """Commits so far."""
        return self.versions[0]

    @property
    def size_bytes(self) -> int:
        """Size of the catalog object, or of checkpoint and log together."""
        if not self.log:
            return self.catalog_bytes
        return self.catalog_bytes + self.log[rules.LOG_OFFSET] - self.log[rules.LOG_CHECKPOINT]

    def snapshot(self, now_us: int) -> CatalogSnapshot:
        """The state of this instant, immutable."""
        return CatalogSnapshot(
            self.versions[0], self._tables, now_us, self._versions_tuple, self.size_bytes, self._log_tuple
        )

    def is_current(self, expected_seq: int, writes: Mapping[int, int], intention: IntentionRecord | None) -> bool:
        """Whether nothing this commit watches has moved since the snapshot it was built on."""
        if self.scope == SCOPE_CATALOG:
            return self.versions[0] == expected_seq
        if intention is None:
            at = rules.table_slot(self.num_groups, 0)
            return all(self.versions[at + table] == version - 1 for table, version in writes.items())
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

    def apply(self, writes: Mapping[int, int], intention: IntentionRecord | None) -> None:
        """Install a commit: the sequence number moves by exactly one."""
        tables = tuple(writes) if intention is None else intention.tables[: intention.n_written]
        self.versions[0] += 1
        for position, table in enumerate(tables):
            rules.advance_table(self.versions, self.num_groups, tables, 0, position)
            if intention is not None and self.num_partitions:
                self._advance_partitions(table, *intention.partitions[position])
            effect = _PLAIN_EFFECT if intention is None else intention.effects[position]
            rules.apply_effect(self.counters, table, *effect)
            version = self.counters[table * N_COUNTERS + VERSION]
            if self.is_inlined and rules.keeps_one_more(version, self.sizes.snapshots_kept_max):
                self.catalog_bytes += self.sizes.metadata_bytes_per_snapshot
        self._versions_tuple = tuple(self.versions)
        self.refresh_tables(tables)

    def _advance_partitions(self, table: int, partitions: tuple[int, ...], n_written: int) -> None:
        first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
        for partition in partitions[:n_written]:
            self.versions[first + partition] += 1

    def refresh_tables(self, tables: tuple[int, ...]) -> None:
        """Make new metadata values for tables whose counters changed; old snapshots keep the old ones."""
        if len(self._tables) == 1:
            self._tables = (self._table(0),)
            return
        changed = list(self._tables)
        for table in tables:
            changed[table] = self._table(table)
        self._tables = tuple(changed)

    def refresh_log(self) -> None:
        """Let snapshots see what happened to the log."""
        self._log_tuple = tuple(self.log)

    def _table(self, table: int) -> TableMetadata:
        at = table * N_COUNTERS
        partitions: tuple[int, ...] = ()
        if self.num_partitions:
            first = rules.partition_slot(self.num_groups, self.num_tables, self.num_partitions, table, 0)
            partitions = tuple(self.versions[first : first + self.num_partitions])
        return TableMetadata(table, tuple(self.counters[at : at + N_COUNTERS]), partitions)
