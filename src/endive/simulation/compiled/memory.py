"""Where the compiled engine finds its records: by address and index."""

from endive.catalog.ledger import Unit
from endive.catalog.rules import Batch
from endive.distributions.code import FloatArray, IntArray
from endive.formats.nesting import TableState
from endive.kernel import (
    CACHE_LINE_BYTES,
    address_of,
    element_of,
    fetch_ahead,
    layout_of,
    pasted,
    step,
)
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

_txn = element_of(TxnRecord)
_touched = element_of(TouchedTable)
_table = element_of(TableState)
_object = element_of(ObjectState)
_source = element_of(SourceRecord)
_submission = element_of(Submission)
_seat = element_of(Seat)
_queue = element_of(CommitQueue)
_lock = element_of(TableLock)
_batch = element_of(Batch)
_kept = element_of(Kept)
_event = element_of(Event)
_unit = element_of(Unit)
_footprint = element_of(Footprint)

_TXN_BYTES, _TOUCHED_BYTES = layout_of(TxnRecord).itemsize, layout_of(TouchedTable).itemsize
_TXN_FIELDS = layout_of(TxnRecord).fields
assert _TXN_FIELDS is not None
_HOT_BYTES = _TXN_FIELDS["own_key"][1]  # of a txn: what most events touch
_HOT_LINES, _TOUCHED_LINES = (-(-size // CACHE_LINE_BYTES) for size in (_HOT_BYTES, _TOUCHED_BYTES))


@pasted
def codes(world: WorldRecord) -> FloatArray:
    """Distributions and choices, laid end to end."""
    return floats_at(world.codes, world.n_codes)


@step
def unit_at(world: WorldRecord, number: int) -> Unit:
    """A unit of conflict in the observer's books."""
    return _unit(world.books.units, number)


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
    return _footprint(world.server.commits, table * kept + version % kept)


@pasted
def commit_partitions(world: WorldRecord, table: int, version: int) -> IntArray:
    """The partitions that such a commit wrote."""
    kept, room = world.server.commits_kept, max(1, world.flight.partitions_max)
    return ints_at(world.server.commit_partitions + 8 * ((table * kept + version % kept) * room), room)


@step
def server_table(world: WorldRecord, table: int) -> TableState:
    """A table as the server knows it."""
    return _table(world.server.tables, table)


@step
def server_object(world: WorldRecord, number: int) -> ObjectState:
    """A contended object."""
    return _object(world.server.objects, number)


@step
def source_at(world: WorldRecord, source: int) -> SourceRecord:
    """A source."""
    return _source(world.workload.sources, source)


@step
def submission_at(world: WorldRecord, number: int) -> Submission:
    """A line of the traces."""
    return _submission(world.workload.trace, number)


@step
def seat_at(world: WorldRecord, seat: int) -> Seat:
    """Who submits."""
    return _seat(world.workload.seats, seat)


@step
def queue_at(world: WorldRecord, number: int) -> CommitQueue:
    """A queue before the commit."""
    return _queue(world.workload.queues, number)


@step
def lock_at(world: WorldRecord, table: int) -> TableLock:
    """The lock of a table."""
    return _lock(world.server.locks, table)


@step
def batch_at(world: WorldRecord, table: int) -> Batch:
    """The commits to a table that are taken together."""
    return _batch(world.server.batches, table)


@step
def kept_at(world: WorldRecord, number: int) -> Kept:
    """What a client has kept."""
    return _kept(world.kept.states, number)


@step
def kept_table(world: WorldRecord, number: int, table: int) -> TableState:
    """A table as a client has kept it."""
    return _table(world.kept.tables, number * world.catalog.num_tables + table)


@pasted
def kept_versions(world: WorldRecord, number: int) -> IntArray:
    """The versions a client has kept."""
    return ints_at(world.kept.versions + 8 * (number * world.server.n_versions), world.server.n_versions)


@step
def event_at(world: WorldRecord, place: int) -> Event:
    """An entry of the heap."""
    return _event(world.loop.heap, place)


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
    return _txn(world.flight.txns, place)


@step
def touched_at(world: WorldRecord, txn: TxnRecord, position: int) -> TouchedTable:
    """A table the txn touches, as it knows it."""
    return _touched(world.flight.touched, txn.place * world.flight.tables_max + position)


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
    for line in range(_HOT_LINES):
        fetch_ahead(world.flight.txns + place * _TXN_BYTES + line * CACHE_LINE_BYTES)
    for line in range(_TOUCHED_LINES):
        fetch_ahead(world.flight.touched + tables * _TOUCHED_BYTES + line * CACHE_LINE_BYTES)
    fetch_ahead(world.flight.table_ids + 8 * tables)
    fetch_ahead(world.flight.watched + 8 * watched)
    fetch_ahead(world.flight.expected + 8 * watched)
