"""Where the compiled engine finds its records: by address and index."""

from collections.abc import Callable
from typing import TypeVar

from endive.catalog.ledger import Unit
from endive.catalog.rules import Batch, partition_slot
from endive.distributions.code import FloatArray, IntArray
from endive.formats.nesting import EVERYTHING, ICEBERG_ALONE, TableState
from endive.kernel import address_of, held_element_of, pasted, step
from endive.results.columns import N_NARROW, N_WIDE, Int32s
from endive.simulation.compiled.records import (
    CommitQueue,
    Event,
    Footprint,
    Kept,
    Seat,
    SourceRecord,
    Submission,
    TableLock,
    TouchedTable,
    TxnRecord,
    WorldRecord,
)
from endive.storage.contention import ObjectState
from endive.vectors import floats_at, int32s_at, ints_at

T = TypeVar("T")


def _records_at(cls: type[T], field: str) -> Callable[[WorldRecord, int], T]:
    """For compiled code: the record with that index in the array whose address the world has in ``field``."""
    return held_element_of(cls, WorldRecord, field, (ICEBERG_ALONE, EVERYTHING))


unit_at = _records_at(Unit, "books.units")  # a unit of conflict in the observer's books
server_table = _records_at(TableState, "server.tables")  # as the server knows it
server_object = _records_at(ObjectState, "server.objects")  # a contended one
lock_at = _records_at(TableLock, "server.locks")  # of a table
batch_at = _records_at(Batch, "server.batches")  # of commits to a table
source_at = _records_at(SourceRecord, "workload.sources")
submission_at = _records_at(Submission, "workload.trace")
seat_at = _records_at(Seat, "workload.seats")
queue_at = _records_at(CommitQueue, "workload.queues")  # before the commit
kept_at = _records_at(Kept, "kept.states")  # what a client has kept
event_at = _records_at(Event, "loop.heap")
txn_at = _records_at(TxnRecord, "flight.txns")
_footprint_at = _records_at(Footprint, "server.commits")
_kept_table_at = _records_at(TableState, "kept.tables")
_touched_at = _records_at(TouchedTable, "flight.touched")


@pasted
def codes(world: WorldRecord) -> FloatArray:
    """Distributions and choices, laid end to end."""
    return floats_at(world.codes, world.n_codes)


@pasted
def versions(world: WorldRecord) -> IntArray:
    """Every version a commit can be checked against."""
    return ints_at(world.server.versions, world.server.n_versions)


@pasted
def first_partition(world: WorldRecord, table: int) -> int:
    """Place of the version of a table's first partition among them."""
    catalog = world.catalog
    return partition_slot(catalog.num_groups, catalog.num_tables, catalog.num_partitions, table, 0)


@pasted
def snapshot_times(world: WorldRecord, table: int) -> IntArray:
    """When the snapshots of a table were installed, those there at first left out."""
    return ints_at(world.server.snapshot_times + 8 * (table * world.server.times_max), world.server.times_max)


@step
def footprint_at(world: WorldRecord, table: int, version: int) -> Footprint:
    """What a commit to a table changed, if it is one of the newest."""
    kept = world.server.commits_kept
    return _footprint_at(world, table * kept + version % kept)


@pasted
def commit_partitions(world: WorldRecord, table: int, version: int) -> IntArray:
    """The partitions that such a commit wrote."""
    kept, room = world.server.commits_kept, max(1, world.flight.partitions_max)
    return ints_at(world.server.commit_partitions + 8 * ((table * kept + version % kept) * room), room)


@step
def kept_table(world: WorldRecord, number: int, table: int) -> TableState:
    """A table as a client has kept it."""
    return _kept_table_at(world, number * world.catalog.num_tables + table)


@pasted
def kept_versions(world: WorldRecord, number: int) -> IntArray:
    """The versions a client has kept."""
    return ints_at(world.kept.versions + 8 * (number * world.server.n_versions), world.server.n_versions)


@pasted
def wide_row(txn: TxnRecord) -> IntArray:
    """The wide fields of the txn's row, as numbers."""
    return ints_at(address_of(txn.row), N_WIDE)


@pasted
def narrow_row(txn: TxnRecord) -> Int32s:
    """The narrow fields, which follow."""
    return int32s_at(address_of(txn.row) + 8 * N_WIDE, N_NARROW)


@step
def touched_at(world: WorldRecord, txn: TxnRecord, position: int) -> TouchedTable:
    """A table the txn touches, as it knows it."""
    return _touched_at(world, txn.place * world.flight.tables_max + position)


@pasted
def table_ids(world: WorldRecord, txn: TxnRecord) -> IntArray:
    """The tables it touches, written ones first."""
    return ints_at(world.flight.table_ids + 8 * (txn.place * world.flight.tables_max), world.flight.tables_max)


@pasted
def watched(world: WorldRecord, txn: TxnRecord) -> IntArray:
    """The versions its commits are checked against, by place."""
    return ints_at(world.flight.watched + 8 * (txn.place * world.flight.watched_max), world.flight.watched_max)


@pasted
def expected(world: WorldRecord, txn: TxnRecord) -> IntArray:
    """What those were when it last looked."""
    return ints_at(world.flight.expected + 8 * (txn.place * world.flight.watched_max), world.flight.watched_max)


@pasted
def partitions(world: WorldRecord, txn: TxnRecord, position: int) -> IntArray:
    """The partitions it touches of a table, written ones first."""
    room = world.flight.partitions_max
    return ints_at(world.flight.partitions + 8 * ((txn.place * world.flight.tables_max + position) * room), room)


@pasted
def partition_versions(world: WorldRecord, txn: TxnRecord, position: int, at: int) -> IntArray:
    """Their versions at its start (0), at the attempt before (1), at its base (2)."""
    room = world.flight.partitions_max
    first = ((txn.place * world.flight.tables_max + position) * 3 + at) * room
    return ints_at(world.flight.partition_versions + 8 * first, room)
