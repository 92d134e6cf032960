"""Latencies, stores, catalogs, selectors and detectors, called as the refactoring specification calls them.

The specification draws from one generator of the process. Here every call without a name of its own takes the next of a
stream (``seed`` begins it anew), and the simulator goes on naming each draw by itself. Generators yield milliseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from endive import catalog as catalogs
from endive import distributions, workload
from endive.config import parse_config
from endive.distributions.sampled import next_key
from endive.errors import EngineError
from endive.formats.nesting import Plan
from endive.formats.operation import Operation
from endive.simulation.build import OwnParts, Parts, build_parts
from endive.storage import InstantStorageProvider, StorageProvider
from endive.storage.caller import in_ms
from endive.storage.client import Client
from endive.workload.choice import TABLES_COUNTER, WRITES_COUNTER

Read = tuple[frozenset[int], frozenset[int]]


# ---- latencies (1.2) ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LognormalLatency(distributions.LognormalLatency):
    """Lognormal by mu and sigma, at least 1 ms unless told otherwise."""

    min_latency_ms: float = 1.0


@dataclass(frozen=True)
class SizeBasedLatency(distributions.SizeBasedLatency):
    """Base and rate per MiB with lognormal noise, at least 1 ms unless told otherwise."""

    min_latency_ms: float = 1.0


# ---- catalogs (2) ------------------------------------------------------------------------------------


class TableMetadata(NamedTuple):
    """One table of a snapshot."""

    table_id: int
    version: int
    manifest_list_offset: int
    num_partitions: int
    partition_versions: tuple[int, ...]


class CatalogSnapshot(NamedTuple):
    """The catalog at one instant of the server's clock."""

    seq: int
    tables: tuple[TableMetadata, ...]
    timestamp_ms: float

    def get_table(self, table_id: int) -> TableMetadata:
        """One table's metadata."""
        return self.tables[table_id]

    def get_partition_version(self, table_id: int, partition_id: int) -> int:
        """The version of one partition."""
        return self.tables[table_id].partition_versions[partition_id]


class CommitResult(NamedTuple):
    """What a commit tells: a refusal carries the state."""

    success: bool
    snapshot: CatalogSnapshot | None
    latency_ms: float


CASResult = CommitResult  # one result for every commit point


def as_specified(snapshot: catalogs.CatalogSnapshot, partitions: tuple[int, ...] = ()) -> CatalogSnapshot:
    """Return a snapshot of the simulator's in the specification's words, each table with so many partitions."""
    counts = partitions or [table.num_partitions for table in snapshot.tables]
    tables = tuple(
        TableMetadata(
            table.table_id,
            table.version,
            table.state.iceberg.list_offset,
            count,
            table.partition_versions[:count],
        )
        for table, count in zip(snapshot.tables, counts, strict=True)
    )
    return CatalogSnapshot(snapshot.seq, tables, snapshot.timestamp_ms)


@dataclass(frozen=True)
class IntentionRecord:
    """What a txn writes, and the versions it has read."""

    txn_id: int
    tables_written: Mapping[int, int]
    tables_read: Mapping[int, int]
    size_bytes: int = 100


class Catalog:
    """A catalog by counts of tables and partitions. ``parts.catalog`` is the simulator's own."""

    keys: ClassVar[Mapping[str, Any]]  # of [catalog], besides the counts
    needs: ClassVar[str] = "supports_cas"

    def __init__(self, storage: StorageProvider, num_tables: int, partitions_per_table: tuple[int, ...]) -> None:
        if not getattr(storage, self.needs):
            raise ValueError(
                f"{type(self).__name__} needs a store with {self.needs}; '{storage.name}' does not have it."
            )
        if partitions_per_table and len(partitions_per_table) != num_tables:
            raise ValueError(
                f"partitions_per_table = {partitions_per_table} must hold num_tables = {num_tables} numbers."
            )
        largest = max(partitions_per_table, default=0)
        partitions = {"partitions": {"enabled": True, "num_partitions": largest}} if largest else {}
        self.section = {**self.keys, "num_tables": num_tables, **partitions}
        self.partitions_per_table = tuple(partitions_per_table)
        self.storage = storage
        self.clock = storage.caller_clock
        storage.attach(self.clock)
        self.parts = self.build({})
        self.parts.catalog.refusal_returns_snapshot = True
        self.parts.catalog.attach(self.clock)

    def build(self, rest: Mapping[str, Any]) -> Parts:
        """The simulator's parts around this catalog, by the specification's protocol."""
        config = parse_config({"commit": {"protocol": "spec"}, "catalog": self.section, **rest})
        return build_parts(config, 0, OwnParts(storage=self.storage))

    def read(self) -> Generator[float, None, CatalogSnapshot]:
        """The state at the server's instant."""
        seen = yield from in_ms(self.parts.catalog.read(client=self._client()), self.clock)
        return as_specified(seen, self.partitions_per_table)

    def commit(
        self, expected_seq: int, writes: Mapping[int, int], intention: IntentionRecord | None = None
    ) -> Generator[float, None, CommitResult]:
        """Install ``writes`` if the catalog, or with a log every table named, is still as expected."""
        made = self._intention(expected_seq, writes, intention or IntentionRecord(0, writes, {}))
        told = yield from in_ms(self.parts.catalog.commit(made, client=self._client()), self.clock)
        snapshot = None if told.snapshot is None else as_specified(told.snapshot, self.partitions_per_table)
        return CommitResult(told.success, snapshot, told.latency_ms)

    def _client(self) -> Client:
        return Client(next_key(), 0, self.clock)

    def _intention(
        self, expected_seq: int, writes: Mapping[int, int], given: IntentionRecord
    ) -> catalogs.IntentionRecord:
        state = self.parts.catalog.state
        expected = {**given.tables_read, **{table: version - 1 for table, version in writes.items()}}
        shown = state.snapshot(self.clock.now_us)
        for table, version in expected.items():
            if expected_seq == shown.seq and table in writes and version != shown.tables[table].version:
                raise EngineError(
                    f"writes = {dict(writes)}: table {table} is at version {shown.tables[table].version}, and a commit "
                    f"writes the one after it."
                )
        tables = tuple(
            table._replace(version=expected.get(place, table.version)) for place, table in enumerate(shown.tables)
        )
        versions = list(shown.versions)
        first = 1 + state.num_groups  # the versions of the tables
        versions[first : first + len(tables)] = [table.version for table in tables]
        order = (*sorted(writes), *sorted(set(given.tables_read) - set(writes)))
        return catalogs.IntentionRecord(
            txn_id=given.txn_id,
            base=shown._replace(seq=expected_seq, tables=tables, versions=tuple(versions)),
            tables=order,
            n_written=len(writes),
            operation=Operation(),
            plans=(Plan(),) * len(writes),
            partitions=(((), 0),) * len(order) if state.num_partitions else (),
            size_bytes=given.size_bytes,
        )


class CASCatalog(Catalog):
    """The whole catalog swapped as one object."""

    keys: ClassVar = {"type": "cas", "scope": "catalog"}


class AppendCatalog(Catalog):
    """A log of intentions; tables decide."""

    keys: ClassVar = {"type": "append", "append_preset": "append_design", "scope": "table"}
    needs: ClassVar = "supports_append"


class InstantCatalog(Catalog):
    """One latency for everything, 1 ms unless told otherwise."""

    keys: ClassVar = {"type": "instant", "scope": "catalog"}

    def __init__(self, num_tables: int, partitions_per_table: tuple[int, ...], latency_ms: float = 1.0) -> None:
        self.keys = {**type(self).keys, "latency_ms": latency_ms}  # type: ignore[misc]
        super().__init__(InstantStorageProvider(), num_tables, partitions_per_table)


# ---- selectors (4.2) ------------------------------------------------------------------------------

_SELECTION: Final = {"counter": TABLES_COUNTER, "write_counter": WRITES_COUNTER}


class _NextDraw:
    """Before a selector of the simulator's: selects by the next draw unless one is named."""

    def select(self, *counts: int, **named: int) -> Read:
        """Read set and write set: of ``n_tables`` and ``total_tables``, or of partitions."""
        if "key" not in named:
            counts, named = (*counts, *(named[name] for name in sorted(named))), {"key": next_key(), **_SELECTION}
        selected: Read = super().select(*counts, **named)  # type: ignore[misc]
        return selected

    @property
    def is_built_in(self) -> bool:
        """Whether the compiled engine knows it: by its weights, which are the simulator's."""
        return type(self).__module__ == __name__


class ZipfTableSelector(_NextDraw, workload.ZipfTableSelector):
    """Hot tables."""


class ZipfPartitionSelector(_NextDraw, workload.ZipfPartitionSelector):
    """Hot partitions."""


class UniformPartitionSelector(_NextDraw, workload.UniformPartitionSelector):
    """Every partition alike."""
