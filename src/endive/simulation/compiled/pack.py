"""A simulation's parts as records.

What a field means is in ``records``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from endive.catalog import AppendCatalog, CASCatalog, Catalog, CreateCatalog, InstantCatalog, ServiceCatalog
from endive.catalog.ledger import Unit, open_ledger
from endive.catalog.rules import SCOPE_CATALOG, SCOPE_PARTITION, Batch
from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import FloatArray
from endive.formats.data_files import N_CHANGES
from endive.formats.nesting import TableState
from endive.formats.rules import batched_objects, commits_kept, may_ask_for_many, requests_at_a_time
from endive.kernel import Fields, Ints, fill, records
from endive.record import copied
from endive.simulation.build import Parts
from endive.simulation.compiled import records as at
from endive.simulation.compiled.records import (
    NOT_THERE,
    CommitQueue,
    Footprint,
    Kept,
    Seat,
    SourceRecord,
    Submission,
    TableLock,
    WorldRecord,
)
from endive.storage import ObjectStore
from endive.storage.contention import CROWD_TABLES_MAX, ObjectState
from endive.storage.requests import SUMMED_OPERATIONS
from endive.transaction.detectors import (
    DETECTOR_PARTITION_OVERLAP,
    DETECTOR_PROBABILISTIC,
    ProbabilisticConflictDetector,
)
from endive.transaction.retry import POLICIES
from endive.vocabulary import (
    CAS,
    CATALOG,
    COMMIT_FILE,
    CREATE,
    FAST_APPEND,
    LIST,
    N_OPERATIONS,
    N_SLOTS,
    READ,
)
from endive.workload import Source

Array = npt.NDArray[Any]
TIMES_AT_FIRST = 1_024  # of snapshots, per table; the engine makes room for more


class Packed(NamedTuple):
    """The world, and the arrays it knows the addresses of, by the path of the field that holds each."""

    world: Array  # one WorldRecord
    arrays: dict[str, Array]


class _Codes:
    """Codes laid end to end; the same one is laid down once."""

    def __init__(self) -> None:
        self._codes: list[FloatArray] = []
        self._places: dict[bytes, int] = {}
        self._seen: dict[int, tuple[int, FloatArray]] = {}  # by identity, which is quicker to compare
        self._end = 0

    def add(self, code: FloatArray | None) -> int:
        """Where the code starts."""
        assert code is not None, "a simulation with a distribution of the user's own is not compiled"
        if id(code) in self._seen:
            return self._seen[id(code)][0]
        content = code.tobytes()
        if content not in self._places:
            self._places[content] = self._end
            self._codes.append(code)
            self._end += code.size
        self._seen[id(code)] = (self._places[content], code)
        return self._places[content]

    def add_if_any(self, code: FloatArray | None) -> int:
        """Where the code starts, if there is one."""
        return NOT_THERE if code is None else self.add(code)

    def place_of(self, distribution: LatencyDistribution | None) -> int:
        """Where the code of a distribution starts, if there is one."""
        return NOT_THERE if distribution is None else self.add(distribution.code())

    def array(self) -> FloatArray:
        """All of them."""
        return np.concatenate(self._codes)


def pack(parts: Parts) -> Packed:
    """The records of a simulation that has not begun."""
    world, codes, state, tables = WorldRecord(), _Codes(), parts.catalog.state, parts.tables
    left_out = parts.format.left_out
    _pack_model(parts, world)
    _pack_catalog(parts.catalog, world, codes)
    _pack_storage(parts, world, codes)
    _pack_room(parts, world)
    sources, trace = _pack_sources(parts.workload.sources, codes)
    keepers = _pack_keepers(parts.workload.sources, sources)
    arrays = {
        "server.versions": np.array(state.versions, dtype=np.int64),
        "server.tables": _fill(TableState, tables.states, left_out),
        "server.workers_free": np.zeros(world.catalog.workers, dtype=np.int64),
        "server.locks": _fill(TableLock, [TableLock() for _ in range(state.num_tables if parts.lock.kind else 0)]),
        "server.batches": _fill(Batch, [Batch() for _ in range(state.num_tables if world.catalog.batch_us else 0)]),
        "server.objects": records(ObjectState, at.FIRST_LIST_OBJECT + state.num_tables),
        "workload.trace": _fill(Submission, trace),
        "workload.seats": _fill(Seat, _pack_seats(parts.workload.sources, sources)),
        "workload.sources": _fill(SourceRecord, sources),
        "workload.queues": _fill(CommitQueue, [CommitQueue(every_us=every_us) for every_us in parts.queues]),
        # Zeros: no commit makes version 0, and memory is taken as files are touched.
        "server.changed": np.zeros(state.num_tables * N_CHANGES * tables.data_files, dtype=np.int64),
        "server.changed_in": np.zeros(state.num_tables * N_CHANGES * max(1, state.num_partitions), dtype=np.int64),
        "server.commits": records(Footprint, state.num_tables * world.server.commits_kept),
        "server.commit_partitions": np.zeros(
            state.num_tables * world.server.commits_kept * max(1, world.flight.partitions_max), dtype=np.int64
        ),
        "server.snapshot_times": np.zeros(state.num_tables * world.server.times_max, dtype=np.int64),
        "kept.states": records(Kept, keepers),
        "kept.versions": np.zeros(keepers * len(state.versions), dtype=np.int64),
        "kept.tables": records(TableState, keepers * state.num_tables, without=left_out),
        "books.units": _pack_units(state.versions),
        "codes": codes.array(),
    }
    world.books.ledger = open_ledger(state.log)
    world.server.n_versions, world.n_codes = len(state.versions), arrays["codes"].size
    packed = records(WorldRecord, 1, without=left_out)
    fill(packed[0], world)
    for name, array in arrays.items():
        point_to(packed[0], name, array)
    return Packed(packed, arrays)


def point_to(world: Any, name: str, array: Array) -> None:
    """Tell the world where an array is; its name is that of the field which holds the address."""
    *parts, field = name.split(".")
    for part in parts:
        world = world[part]
    world[field] = array.ctypes.data


def _pack_units(versions: Ints) -> Array:
    """The units of the observer's books, as ``open_units`` makes them; there may be millions."""
    units = records(Unit, len(versions))
    units["number"] = np.arange(len(versions))
    units["version"] = versions
    return units


def _fill(cls: type, values: list[Any], left_out: Fields = frozenset()) -> Array:
    made = records(cls, len(values), without=left_out)
    for place, value in enumerate(values):
        fill(made[place], value)
    return made


def _pack_model(parts: Parts, world: WorldRecord) -> None:
    """What belongs to no single part."""
    state, server, tables = parts.catalog.state, world.server, parts.tables
    world.loop.end_us = parts.duration_us
    world.catalog.scope = state.scope
    world.catalog.num_groups = state.num_groups
    world.catalog.num_tables = state.num_tables
    world.catalog.num_partitions = state.num_partitions
    server.catalog_bytes = state.catalog_bytes
    if state.log is not None:
        server.log = state.log
    world.catalog.is_pointer_checked = parts.is_pointer_checked
    is_by_chance = isinstance(parts.detector, ProbabilisticConflictDetector)
    world.detector = DETECTOR_PROBABILISTIC if is_by_chance else DETECTOR_PARTITION_OVERLAP
    server.initial_snapshots = tables.initial_snapshots
    server.times_max = TIMES_AT_FIRST if tables.has_snapshot_times else 0
    server.files_per_partition = tables.data_files // max(1, state.num_partitions)
    server.notes_files = int(tables.notes_files)
    world.format = parts.format
    if tables.notes_files:
        server.commits_kept = commits_kept(world, state.num_tables, state.num_partitions)
    world.failures = parts.failures
    world.store.slow_down = parts.slow_down
    world.store.is_throttling = parts.slow_down.rate > 0.0


def _pack_catalog(catalog: Catalog, world: WorldRecord, codes: _Codes) -> None:
    settings = world.catalog
    settings.is_refusal_telling = catalog.refusal_returns_snapshot
    if isinstance(catalog, CASCatalog):
        settings.kind = at.CATALOG_CAS
        settings.is_object, settings.object_kind, settings.look, settings.swap = 1, CATALOG, READ, CAS
    elif isinstance(catalog, CreateCatalog):
        settings.kind = at.CATALOG_CAS
        settings.is_object, settings.object_kind, settings.look, settings.swap = 1, COMMIT_FILE, LIST, CREATE
    elif isinstance(catalog, AppendCatalog):
        settings.kind = at.CATALOG_APPEND
        settings.is_object, settings.object_kind, settings.look = 1, CATALOG, READ
        settings.is_append_design = catalog.is_append_design
        settings.entry_bytes = catalog.log_entry_bytes
        settings.compaction_bytes = catalog.compaction_threshold_bytes
        settings.compaction_entries = catalog.compaction_max_entries
        settings.physical_attempts_max = catalog.physical_attempts_max
        settings.entry_read = codes.place_of(catalog.log_entry_read)
    elif isinstance(catalog, InstantCatalog):
        settings.kind = at.CATALOG_INSTANT
        settings.latency = settings.commit_latency = codes.place_of(catalog.latency)
    else:
        assert isinstance(catalog, ServiceCatalog)
        settings.kind = at.CATALOG_SERVICE
        settings.is_rest = catalog.is_rest
        settings.server_retries = catalog.server_retries
        settings.workers = catalog.workers
        settings.latency = codes.place_of(catalog.latency)
        is_one = catalog.commit_latency is catalog.latency
        settings.commit_latency = settings.latency if is_one else codes.place_of(catalog.commit_latency)
        settings.service_time = codes.place_of(catalog.service_time)
        settings.rewrites_list, settings.batch_us = int(catalog.rewrites_list), catalog.batch_us
        settings.undoes_compactions = int(catalog.undoes_compactions)
        if catalog.lock is not None:
            settings.lock, settings.lock_latency = catalog.lock, codes.place_of(catalog.lock_latency)


def _pack_storage(parts: Parts, world: WorldRecord, codes: _Codes) -> None:
    storage, settings = parts.storage, world.store
    assert isinstance(storage, ObjectStore)
    settings.terms = storage.terms
    settings.parallel_max = requests_at_a_time(parts.format)
    for op in range(N_OPERATIONS):
        settings.penalty[op] = codes.place_of(storage.penalty(op))
        settings.delay[op] = codes.place_of(storage.throttle_delay(op))
        for place, table in enumerate(storage.crowd_tables(op)):
            settings.crowd[op * CROWD_TABLES_MAX + place] = codes.place_of(table.penalty)
    for request in range(N_SLOTS):
        object_kind, op = divmod(request, N_OPERATIONS)
        success: LatencyDistribution = FixedLatency(0.0)
        refusal = success
        if storage.profile.supports(op):
            success = storage.latency(object_kind, op)
            refusal = storage.latency(object_kind, op, success=False)
        settings.success[request] = codes.place_of(success)
        settings.refusal[request] = codes.place_of(refusal)
        settings.slowest[request] = settings.summed[request] = settings.summed_batches[request] = NOT_THERE
        if object_kind in batched_objects(parts.format) and op in SUMMED_OPERATIONS and storage.profile.supports(op):
            parallel = settings.parallel_max
            settings.slowest[request] = codes.add_if_any(storage.profile.slowest_code(object_kind, op, parallel))
            if has_runs(parts):
                batched = storage.summed_code(object_kind, op, parallel)
                settings.summed[request] = codes.add_if_any(storage.summed_code(object_kind, op, 1))
                settings.summed_batches[request] = codes.add_if_any(batched)


def has_runs(parts: Parts) -> bool:
    """Whether a txn may ask for many objects one after another: its tables then are worth making."""
    for source in parts.workload.sources:
        if source.only_kind != FAST_APPEND or source.arrivals.trace is not None:
            return True
        operation = copied(source.terms.operation)
        operation.kind = FAST_APPEND
        if may_ask_for_many(parts.format, operation):
            return True
    return False


def _pack_sources(sources: tuple[Source, ...], codes: _Codes) -> tuple[list[SourceRecord], list[Submission]]:
    """Every source, and the traces laid end to end."""
    packed: list[SourceRecord] = []
    submissions: list[Submission] = []
    for source in sources:
        terms, trace = source.terms, source.arrivals.trace
        made = SourceRecord(
            key=source.key,
            arrivals_key=source.arrivals_key,
            timing=source.arrivals.timing,
            threads=source.threads,
            retries_max=terms.retries_max,
            timeout_us=terms.total_timeout_us,
            application_retries=terms.application_retries,
            backoff=POLICIES[terms.backoff.policy],
            backoff_base_ms=terms.backoff.base_ms,
            backoff_multiplier=terms.backoff.multiplier,
            backoff_max_ms=terms.backoff.max_ms,
            backoff_jitter=terms.backoff.jitter,
            real_conflict_probability=terms.real_conflict_probability,
            only_kind=source.only_kind,
            says_files=int(terms.touched_files is not None),
            is_by_files=int(terms.is_by_files),
            keeps_table=int(terms.keeps_table),
            runtime=codes.place_of(source.runtime),
            gaps=codes.place_of(source.arrivals.gaps),
            kind_tails=codes.add(np.array(source.kind_tails)),
            tables=codes.add(source.tables.code()),
            own_tables=codes.add(np.array(source.own_tables, np.float64)) if source.own_tables else NOT_THERE,
            partitions=NOT_THERE if source.partitions is None else codes.add(_partition_codes(source)),
            partitions_stride=_partition_stride(source),
            operation=terms.operation,
            aftermath=terms.aftermath,
            queue=terms.queue,
        )
        if terms.touched_files is not None:
            made.touched_files = terms.touched_files.counting
        if trace is not None:
            made.trace = len(submissions)
            cells = (trace.submit_us, trace.runtimes_us, trace.kinds, trace.tables)
            submissions.extend(Submission(*line) for line in zip(*cells, strict=True))
        packed.append(made)
    return packed, submissions


def _partition_codes(source: Source) -> FloatArray | None:
    """The choice of partitions; where tables differ, one for each, padded to the same length."""
    assert source.partitions is not None
    if not source.partitions_by_table:
        return source.partitions.code()
    stride, padded = _partition_stride(source), []
    for choice in source.partitions_by_table:
        code = choice.code()
        assert code is not None, "a simulation with a selector of the user's own is not compiled"
        padded.append(np.concatenate([code, np.zeros(stride - code.size)]))
    return np.concatenate(padded)


def _partition_stride(source: Source) -> int:
    codes = [choice.code() for choice in source.partitions_by_table]
    return max((code.size for code in codes if code is not None), default=0)


def _pack_room(parts: Parts, world: WorldRecord) -> None:
    """How much room a txn may need."""
    sources, scope, flight = parts.workload.sources, parts.catalog.state.scope, world.flight
    flight.tables_max = max(source.tables.room for source in sources)
    choices = (choice for source in sources for choice in (source.partitions, *source.partitions_by_table))
    flight.partitions_max = max((choice.room for choice in choices if choice is not None), default=0)
    flight.watched_max = 1 if scope == SCOPE_CATALOG else flight.tables_max
    if scope == SCOPE_PARTITION:
        flight.watched_max = flight.tables_max * flight.partitions_max


def _pack_keepers(sources: tuple[Source, ...], packed: list[SourceRecord]) -> int:
    """Number the clients that keep their table; how many there are."""
    keepers = 0
    for source in sources:
        packed[source.index].first_kept = keepers
        if source.terms.keeps_table:
            keepers += source.arrivals.clients
    return keepers


def _pack_seats(sources: tuple[Source, ...], packed: list[SourceRecord]) -> list[Seat]:
    """Who submits: one seat per open source, one per client of a closed loop, in the order of the sources."""
    seats: list[Seat] = []
    for source in sources:
        packed[source.index].first_seat = len(seats)
        clients = source.arrivals.clients
        seats.extend(Seat(source=source.index, index=client << 32) for client in range(clients))
        if not clients:
            seats.append(Seat(source=source.index))
    for order, seat in enumerate(seats):
        seat.order = order - len(seats)
    return seats
