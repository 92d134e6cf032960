"""Latencies, stores, catalogs, selectors and detectors, called as the refactoring specification calls them.

The specification draws from one generator of the process. Here every call without a name of its own takes the next of a
stream (``seed`` begins it anew), and the simulator goes on naming each draw by itself. Generators yield milliseconds.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from endive import catalog as catalogs
from endive import distributions, workload
from endive.config import parse_config
from endive.errors import EngineError
from endive.formats.nesting import Plan
from endive.formats.operation import Operation
from endive.rng import stream_key, substream
from endive.simulation.build import OwnParts, Parts, build_parts
from endive.storage import ObjectStore, StorageResult, load_profile
from endive.storage.client import Client
from endive.vocabulary import CAS, OBJECTS, READ, WRITE
from endive.workload.choice import TABLES_COUNTER, WRITES_COUNTER

Value = TypeVar("Value")
Read = tuple[frozenset[int], frozenset[int]]


class _Draws:
    """The stream that unnamed draws come from."""

    key = stream_key(0, "first names")
    taken = 0


def seed(value: int) -> None:
    """Begin the stream of unnamed draws anew, as ``np.random.seed`` does for the specification's."""
    _Draws.key, _Draws.taken = stream_key(value, "first names"), 0


def next_key() -> int:
    """The key of the next unnamed draw."""
    _Draws.taken += 1
    return int(substream(_Draws.key, _Draws.taken))


class Clock:
    """The caller's simulation, if it has a ``now``; otherwise what was waited for so far."""

    def __init__(self) -> None:
        self.sim: Any = None
        self._waited_us = 0

    @property
    def now_us(self) -> int:
        """The time in microseconds."""
        return self._waited_us if self.sim is None else round(self.sim.now * 1000.0)

    @now_us.setter
    def now_us(self, now_us: int) -> None:
        self._waited_us = now_us


def in_ms(process: Generator[int, None, Value], clock: Clock) -> Generator[float, None, Value]:
    """The same process, its delays told in ms."""
    while True:
        try:
            delay_us = next(process)
        except StopIteration as ended:
            value: Value = ended.value
            return value
        yield delay_us / 1000.0
        clock.now_us += delay_us


# ---- latencies (1.2) ---------------------------------------------------------------------------------


class LatencyDistribution(distributions.LatencyDistribution):
    """A latency with ``sample()``. One of your own needs ``quantile`` instead, so that its draws can be named."""

    def sample(self) -> float:
        """The next draw in ms."""
        return self.sample_ms(next_key(), 0)


@dataclass(frozen=True)
class LognormalLatency(LatencyDistribution, distributions.LognormalLatency):
    """Lognormal by mu and sigma, at least 1 ms unless told otherwise."""

    min_latency_ms: float = 1.0


@dataclass(frozen=True)
class SizeBasedLatency(LatencyDistribution, distributions.SizeBasedLatency):
    """Base and rate per MiB with lognormal noise, at least 1 ms unless told otherwise."""

    min_latency_ms: float = 1.0


# ---- stores (1.1) ------------------------------------------------------------------------------------


class StorageProvider:
    """A store by its profile, or by the distributions given instead of it. ``store`` is the simulator's own."""

    profile: ClassVar[str]

    def __init__(
        self,
        read_latency: distributions.LatencyDistribution | None = None,
        write_latency: distributions.LatencyDistribution | None = None,
        cas_success_latency: distributions.LatencyDistribution | None = None,
        cas_failure_latency: distributions.LatencyDistribution | None = None,
    ) -> None:
        given = {
            (READ, True): read_latency,
            (WRITE, True): write_latency,
            (CAS, True): cas_success_latency,
            (CAS, False): cas_failure_latency,
        }
        overrides = {
            (object, op, success): latency
            for (op, success), latency in given.items()
            for object in range(len(OBJECTS))
            if latency is not None
        }
        self.clock = Clock()
        self.store = ObjectStore(load_profile(self.profile).with_overrides(overrides))
        self.store.attach(self.clock)
        self.supports_cas = self.store.supports_cas
        self.supports_append = self.store.supports_append
        self.supports_tail_append = self.store.supports_tail_append

    def read(self, key: str, expected_size_bytes: int) -> Generator[float, None, StorageResult]:
        """Read an object."""
        return in_ms(self.store.read(key, expected_size_bytes, **self._draw()), self.clock)

    def write(self, key: str, size_bytes: int) -> Generator[float, None, StorageResult]:
        """Write an object."""
        return in_ms(self.store.write(key, size_bytes, **self._draw()), self.clock)

    def cas(self, key: str, expected_version: int, size_bytes: int) -> Generator[float, None, StorageResult]:
        """Swap an object: "success determined by caller; this just models latency"."""
        return in_ms(self.store.cas(key, expected_version, size_bytes, **self._draw(True)), self.clock)

    def append(self, key: str, offset: int, size_bytes: int) -> Generator[float, None, StorageResult]:
        """Append at an offset; whether it is the end is the caller's to know."""
        return in_ms(self.store.append(key, offset, size_bytes, **self._draw(True)), self.clock)

    def tail_append(self, key: str, size_bytes: int) -> Generator[float, None, StorageResult]:
        """Append at the end, wherever that is."""
        return in_ms(self.store.tail_append(key, size_bytes, **self._draw(True)), self.clock)

    def _draw(self, success: bool | None = None) -> dict[str, Any]:
        named = {"client": Client(next_key(), 0, self.clock), "counter": 0}
        return named if success is None else {**named, "evaluate": lambda: success}


class S3StorageProvider(StorageProvider):
    """Amazon S3 Standard."""

    profile = "s3"


class S3ExpressStorageProvider(StorageProvider):
    """Amazon S3 Express One Zone."""

    profile = "s3x"


class AzureBlobStorageProvider(StorageProvider):
    """Azure Blob Storage, Standard; Premium is a subclass with the profile ``azurex``."""

    profile = "azure"


class GCPStorageProvider(StorageProvider):
    """Google Cloud Storage."""

    profile = "gcp"


class InstantStorageProvider(StorageProvider):
    """1 ms for everything."""

    profile = "instant"


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


def as_specified(snapshot: catalogs.CatalogSnapshot) -> CatalogSnapshot:
    """A snapshot of the simulator's in the specification's words."""
    tables = tuple(
        TableMetadata(
            table.table_id,
            table.version,
            table.state.iceberg.list_offset,
            table.num_partitions,
            table.partition_versions,
        )
        for table in snapshot.tables
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
            raise ValueError(f"{type(self).__name__} needs a store with {self.needs}; '{storage.profile}' has it not.")
        counts = [count for count in partitions_per_table if count > 0]
        partitions = {"partitions": {"enabled": True, "per_table": counts}} if counts else {}
        self.section = {**self.keys, "num_tables": num_tables, **partitions}
        self.storage = storage
        self.clock = storage.clock
        self.parts = self.build({})
        self.parts.catalog.refusal_returns_snapshot = True
        self.parts.catalog.attach(self.clock)

    def build(self, rest: Mapping[str, Any]) -> Parts:
        """The simulator's parts around this catalog, by the specification's protocol."""
        config = parse_config({"commit": {"protocol": "spec"}, "catalog": self.section, **rest})
        return build_parts(config, 0, OwnParts(storage=self.storage.store))

    def read(self) -> Generator[float, None, CatalogSnapshot]:
        """The state at the server's instant."""
        return as_specified((yield from in_ms(self.parts.catalog.read(client=self._client()), self.clock)))

    def commit(
        self, expected_seq: int, writes: Mapping[int, int], intention: IntentionRecord | None = None
    ) -> Generator[float, None, CommitResult]:
        """Install ``writes`` if the catalog, or with a log every table named, is still as expected."""
        made = self._intention(expected_seq, writes, intention or IntentionRecord(0, writes, {}))
        told = yield from in_ms(self.parts.catalog.commit(made, client=self._client()), self.clock)
        snapshot = None if told.snapshot is None else as_specified(told.snapshot)
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
