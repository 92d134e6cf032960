"""Where the compiled engine finds its records: by address and index."""

from endive.catalog.ledger import Unit
from endive.catalog.rules import Batch
from endive.distributions.code import FloatArray, IntArray
from endive.formats.nesting import EVERYTHING, ICEBERG_ALONE, TableState
from endive.kernel import address_of, fetch_ahead, fetch_record, held_element_of, pasted, step
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

_VARIANTS = (ICEBERG_ALONE, EVERYTHING)
_txn = held_element_of(TxnRecord, WorldRecord, _VARIANTS)
_touched = held_element_of(TouchedTable, WorldRecord, _VARIANTS)
_table = held_element_of(TableState, WorldRecord, _VARIANTS)
_object = held_element_of(ObjectState, WorldRecord, _VARIANTS)
_source = held_element_of(SourceRecord, WorldRecord, _VARIANTS)
_submission = held_element_of(Submission, WorldRecord, _VARIANTS)
_seat = held_element_of(Seat, WorldRecord, _VARIANTS)
_queue = held_element_of(CommitQueue, WorldRecord, _VARIANTS)
_lock = held_element_of(TableLock, WorldRecord, _VARIANTS)
_batch = held_element_of(Batch, WorldRecord, _VARIANTS)
_kept = held_element_of(Kept, WorldRecord, _VARIANTS)
_event = held_element_of(Event, WorldRecord, _VARIANTS)
_unit = held_element_of(Unit, WorldRecord, _VARIANTS)
_footprint = held_element_of(Footprint, WorldRecord, _VARIANTS)


@pasted
def codes(world: WorldRecord) -> FloatArray:
    """Distributions and choices, laid end to end."""
    return floats_at(world.codes, world.n_codes)


@step
def unit_at(world: WorldRecord, number: int) -> Unit:
    """A unit of conflict in the observer's books."""
    return _unit(world, world.books.units, number)


@pasted
def versions(world: WorldRecord) -> IntArray:
    """Every version a commit can be checked against."""
    return ints_at(world.server.versions, world.server.n_versions)


@pasted
def snapshot_times(world: WorldRecord, table: int) -> IntArray:
    """When the snapshots of a table were installed, those there at first left out."""
    return ints_at(world.server.snapshot_times + 8 * (table * world.server.times_max), world.server.times_max)


@step
def footprint_at(world: WorldRecord, table: int, version: int) -> Footprint:
    """What a commit to a table changed, if it is one of the newest."""
    kept = world.server.commits_kept
    return _footprint(world, world.server.commits, table * kept + version % kept)


@pasted
def commit_partitions(world: WorldRecord, table: int, version: int) -> IntArray:
    """The partitions that such a commit wrote."""
    kept, room = world.server.commits_kept, max(1, world.flight.partitions_max)
    return ints_at(world.server.commit_partitions + 8 * ((table * kept + version % kept) * room), room)


@step
def server_table(world: WorldRecord, table: int) -> TableState:
    """A table as the server knows it."""
    return _table(world, world.server.tables, table)


@step
def server_object(world: WorldRecord, number: int) -> ObjectState:
    """A contended object."""
    return _object(world, world.server.objects, number)


@step
def source_at(world: WorldRecord, source: int) -> SourceRecord:
    """A source."""
    return _source(world, world.workload.sources, source)


@step
def submission_at(world: WorldRecord, number: int) -> Submission:
    """A line of the traces."""
    return _submission(world, world.workload.trace, number)


@step
def seat_at(world: WorldRecord, seat: int) -> Seat:
    """Who submits."""
    return _seat(world, world.workload.seats, seat)


@step
def queue_at(world: WorldRecord, number: int) -> CommitQueue:
    """A queue before the commit."""
    return _queue(world, world.workload.queues, number)


@step
def lock_at(world: WorldRecord, table: int) -> TableLock:
    """The lock of a table."""
    return _lock(world, world.server.locks, table)


@step
def batch_at(world: WorldRecord, table: int) -> Batch:
    """The commits to a table that are taken together."""
    return _batch(world, world.server.batches, table)


@step
def kept_at(world: WorldRecord, number: int) -> Kept:
    """What a client has kept."""
    return _kept(world, world.kept.states, number)


@step
def kept_table(world: WorldRecord, number: int, table: int) -> TableState:
    """A table as a client has kept it."""
    return _table(world, world.kept.tables, number * world.catalog.num_tables + table)


@pasted
def kept_versions(world: WorldRecord, number: int) -> IntArray:
    """The versions a client has kept."""
    return ints_at(world.kept.versions + 8 * (number * world.server.n_versions), world.server.n_versions)


@step
def event_at(world: WorldRecord, place: int) -> Event:
    """An entry of the heap."""
    return _event(world, world.loop.heap, place)


@pasted
def wide_row(txn: TxnRecord) -> IntArray:
    """The wide fields of the txn's row, as numbers."""
    return ints_at(address_of(txn.row), N_WIDE)


@pasted
def narrow_row(txn: TxnRecord) -> Int32s:
    """The narrow fields, which follow."""
    return int32s_at(address_of(txn.row) + 8 * N_WIDE, N_NARROW)


@step
def txn_at(world: WorldRecord, place: int) -> TxnRecord:
    """A txn in flight."""
    return _txn(world, world.flight.txns, place)


@step
def touched_at(world: WorldRecord, txn: TxnRecord, position: int) -> TouchedTable:
    """A table the txn touches, as it knows it."""
    return _touched(world, world.flight.touched, txn.place * world.flight.tables_max + position)


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


@step
def fetch_txn(world: WorldRecord, place: int) -> None:
    """The txn at a place is needed next: begin to bring it near, without a look at it. Changes nothing."""
    tables, watched = place * world.flight.tables_max, place * world.flight.watched_max
    fetch_record(_txn(world, world.flight.txns, place), "own_key")  # what follows is seldom touched
    fetch_record(_touched(world, world.flight.touched, tables), None)
    fetch_ahead(world.flight.table_ids + 8 * tables)
    fetch_ahead(world.flight.watched + 8 * watched)
    fetch_ahead(world.flight.expected + 8 * watched)
