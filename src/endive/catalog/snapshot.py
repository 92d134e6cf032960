"""What travels between a txn and a catalog: snapshots, intentions, results.

The server's state is ``endive.catalog.state``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from endive.catalog.rules import LogState


class TableMetadata(NamedTuple):
    """One table as a snapshot shows it. A tuple, because one is made for every commit.

    The catalog knows its versions. The rest is what the table's format keeps of it, and opaque here.
    """

    table_id: int
    version: int  # commits to this table so far
    partition_versions: tuple[int, ...]  # empty if the table has no partitions
    state: Any = None
    files: Any = None
    snapshot_times_us: Sequence[int] | None = None

    @property
    def num_partitions(self) -> int:
        """How many partitions it has; 0 if it is not partitioned."""
        return len(self.partition_versions)


class CatalogSnapshot(NamedTuple):
    """The whole catalog at one instant of the server's clock: the only way for a txn to see its state."""

    seq: int
    tables: tuple[TableMetadata, ...]
    timestamp_us: int
    versions: tuple[int, ...]  # every version a commit can be checked against (``endive.catalog.rules``)
    size_bytes: int  # of the catalog object
    log: LogState | None  # of an append catalog

    @property
    def timestamp_ms(self) -> float:
        """When the server captured it."""
        return self.timestamp_us / 1000.0

    def get_table(self, table_id: int) -> TableMetadata:
        """One table's metadata."""
        return self.tables[table_id]

    def get_partition_version(self, table_id: int, partition_id: int) -> int:
        """The version of one partition."""
        return self.tables[table_id].partition_versions[partition_id]


class IntentionRecord(NamedTuple):
    """What a txn wants installed, and what must still hold for that.

    ``tables`` holds every table it read, the written ones first; ``partitions`` goes with it, one entry per
    table: the partitions touched, the written ones first, and how many of them are written.
    """

    txn_id: int
    base: CatalogSnapshot
    tables: tuple[int, ...]
    n_written: int
    operation: Any = None  # what it does, and how it does it on every written table: the format's to install
    plans: tuple[Any, ...] = ()
    partitions: tuple[tuple[tuple[int, ...], int], ...] = ()
    commutes: bool = False  # an append: a server may rebase it on its own
    size_bytes: int = 100  # of the object that the commit itself creates, where it creates one
    server_bytes: int | None = None  # of the object a server has to write for it; None: there is none
    list_bytes: int = 0  # of the list that a server has to rewrite if it rebases the commit
    touched: tuple[Any, ...] = ()  # per written table, if its data files are modelled
    keeps_table: bool = False  # its committer goes on from what it leaves behind

    @property
    def tables_written(self) -> dict[int, int]:
        """New version by table."""
        return {t: self.base.tables[t].version + 1 for t in self.tables[: self.n_written]}

    @property
    def tables_read(self) -> dict[int, int]:
        """Expected version by table."""
        return {t: self.base.tables[t].version for t in self.tables}


class CommitResult(NamedTuple):
    """What a txn may know after one attempt, whatever kind of catalog it talked to."""

    success: bool
    snapshot: CatalogSnapshot | None  # the state the server saw when it refused, if it tells
    latency_ms: float
    evaluated_us: int  # when the server decided; for measuring, not for deciding
    rebased_us: int | None = None  # when a server that retries on its own last looked, if it did
    installed: CatalogSnapshot | None = None  # what it left behind, for a committer that keeps its table
    undone: int = 0  # compactions that were in its way


class AppendResult(NamedTuple):
    """What an append catalog learns from storage: where its record landed, never whether it was applied."""

    physical_success: bool
    new_offset: int | None
    latency_ms: float
