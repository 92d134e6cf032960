"""A simulation's parts as records.

This file defines the translation of objects into numbers, and no number of its own. What a field means is in
``records``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from endive.catalog import AppendCatalog, CASCatalog, Catalog, InstantCatalog, ServiceCatalog
from endive.catalog.ledger import open_ledger
from endive.catalog.rules import SCOPE_CATALOG, SCOPE_PARTITION, TableState
from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import FloatArray
from endive.kernel import fill, records
from endive.simulation.build import Parts
from endive.simulation.compiled import records as at
from endive.simulation.compiled.records import NOT_THERE, Kept, Seat, SourceRecord, Submission, WorldRecord
from endive.storage import ObjectStore
from endive.storage.contention import CROWD_TABLES_MAX, ObjectState
from endive.transaction.detectors import (
    DETECTOR_PARTITION_OVERLAP,
    DETECTOR_PROBABILISTIC,
    ProbabilisticConflictDetector,
)
from endive.transaction.files import N_CHANGES
from endive.transaction.protocol import HISTORY_EVERY_KIND, REAL_MERGE
from endive.transaction.retry import POLICIES
from endive.transaction.rules import Operation
from endive.vocabulary import (
    FAST_APPEND,
    HEAD,
    ISOLATIONS,
    MANIFEST,
    MANIFEST_LIST,
    N_OPERATIONS,
    N_REQUESTS,
    OVERWRITE_FORMS,
    READ,
    WRITE,
)
from endive.workload import Source

Array = npt.NDArray[Any]
# What a txn asks for several at a time: lists of the history, manifests it filters or merges.
BATCHED_OBJECTS = (MANIFEST_LIST, MANIFEST)
BATCHED_OPERATIONS = (READ, WRITE, HEAD)
TIMES_AT_FIRST = 1_024  # of snapshots, per table; the engine makes room for more


class Packed(NamedTuple):
    """The world, and the arrays it knows the addresses of, by the name of the field that holds each."""

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
    world, codes, state = WorldRecord(), _Codes(), parts.catalog.state
    _pack_model(parts, world)
    _pack_catalog(parts.catalog, world, codes)
    _pack_storage(parts, world, codes)
    _pack_room(parts, world)
    sources, trace = _pack_sources(parts.workload.sources, codes)
    keepers = _pack_keepers(parts.workload.sources, sources)
    arrays = {
        "versions": np.array(state.versions, dtype=np.int64),
        "tables": _filled(TableState, state.tables),
        "workers_free": np.zeros(world.workers, dtype=np.int64),
        "objects": records(ObjectState, at.FIRST_LIST_OBJECT + state.num_tables),
        "trace": _filled(Submission, trace),
        "seats": _filled(Seat, _pack_seats(parts.workload.sources, sources)),
        "sources": _filled(SourceRecord, sources),
        "changed": np.full(state.num_tables * N_CHANGES * state.data_files, NOT_THERE, dtype=np.int64),
        "changed_in": np.full(state.num_tables * N_CHANGES * max(1, state.num_partitions), NOT_THERE, dtype=np.int64),
        "snapshot_times": np.zeros(state.num_tables * world.times_max, dtype=np.int64),
        "kept": records(Kept, keepers),
        "kept_versions": np.zeros(keepers * len(state.versions), dtype=np.int64),
        "kept_tables": records(TableState, keepers * state.num_tables),
        "ledger": np.array(open_ledger(state.versions, state.log), dtype=np.int64),
        "codes": codes.array(),
    }
    for name in ("versions", "ledger", "codes"):
        setattr(world, f"n_{name}", arrays[name].size)
    packed = records(WorldRecord, 1)
    fill(packed[0], world)
    for name, array in arrays.items():
        packed[name] = array.ctypes.data
    return Packed(packed, arrays)


def _filled(cls: type, values: list[Any]) -> Array:
    made = records(cls, len(values))
    for place, value in enumerate(values):
        fill(made[place], value)
    return made


def _pack_model(parts: Parts, world: WorldRecord) -> None:
    """What belongs to no single part."""
    state = parts.catalog.state
    world.end_us = parts.duration_us
    world.scope = state.scope
    world.num_groups = state.num_groups
    world.num_tables = state.num_tables
    world.num_partitions = state.num_partitions
    world.catalog_bytes = state.catalog_bytes
    if state.log is not None:
        world.log = state.log
    world.is_pointer_checked = parts.is_pointer_checked
    world.list_entry_bytes = parts.list_entry_bytes
    world.list_seal_bytes = parts.list_seal_threshold_bytes
    is_by_chance = isinstance(parts.detector, ProbabilisticConflictDetector)
    world.detector = DETECTOR_PROBABILISTIC if is_by_chance else DETECTOR_PARTITION_OVERLAP
    world.conflicting = parts.conflicting.counting
    world.initial_snapshots = state.initial_snapshots
    world.times_max = TIMES_AT_FIRST if state.has_snapshot_times else 0
    world.files_per_partition = state.data_files // max(1, state.num_partitions)
    world.sizes = parts.sizes
    world.protocol = parts.protocol
    world.failures = parts.failures
    world.slow_down = parts.slow_down
    world.is_throttling = parts.slow_down.rate > 0.0


def _pack_catalog(catalog: Catalog, world: WorldRecord, codes: _Codes) -> None:
    world.is_refusal_telling = catalog.refusal_returns_snapshot
    if isinstance(catalog, CASCatalog):
        world.catalog = at.CATALOG_CAS
    elif isinstance(catalog, AppendCatalog):
        world.catalog = at.CATALOG_APPEND
        world.is_append_design = catalog.is_append_design
        world.entry_bytes = catalog.log_entry_bytes
        world.compaction_bytes = catalog.compaction_threshold_bytes
        world.compaction_entries = catalog.compaction_max_entries
        world.physical_attempts_max = catalog.physical_attempts_max
        world.entry_read = codes.place_of(catalog.log_entry_read)
    elif isinstance(catalog, ServiceCatalog):
        world.catalog = at.CATALOG_SERVICE
        world.is_rest = catalog.is_rest
        world.server_retries = catalog.server_retries
        world.workers = catalog.workers
        world.latency = codes.place_of(catalog.latency)
        world.service_time = codes.place_of(catalog.service_time)
    else:
        assert isinstance(catalog, InstantCatalog)
        world.catalog = at.CATALOG_INSTANT
        world.latency = codes.place_of(catalog.latency)


def _pack_storage(parts: Parts, world: WorldRecord, codes: _Codes) -> None:
    storage = parts.storage
    assert isinstance(storage, ObjectStore)
    world.spacing_us = storage.spacing_us
    for op in range(N_OPERATIONS):
        world.leg_shares[op] = storage.leg_share(op)
        world.contention_us[op] = storage.contention_window_us(op)
        world.penalty[op] = codes.place_of(storage.penalty(op))
        world.throttle_us[op] = storage.throttle_window_us(op)
        world.delay[op] = codes.place_of(storage.throttle_delay(op))
        world.crowd_us[op] = storage.crowd_window_us(op)
        for place, table in enumerate(storage.crowd_tables(op)):
            world.crowd_rivals[op * CROWD_TABLES_MAX + place] = table.rivals
            world.crowd[op * CROWD_TABLES_MAX + place] = codes.place_of(table.penalty)
    for request in range(N_REQUESTS):
        object_kind, op = divmod(request, N_OPERATIONS)
        success: LatencyDistribution = FixedLatency(0.0)
        refusal = success
        if storage.profile.supports(op):
            success = storage.latency(object_kind, op)
            refusal = storage.latency(object_kind, op, success=False)
        world.success[request] = codes.place_of(success)
        world.refusal[request] = codes.place_of(refusal)
        world.slowest[request] = world.summed[request] = world.summed_batches[request] = NOT_THERE
        if object_kind in BATCHED_OBJECTS and op in BATCHED_OPERATIONS and storage.profile.supports(op):
            parallel = world.protocol.parallel_max
            world.slowest[request] = codes.add_if_any(storage.profile.slowest_code(object_kind, op, parallel))
            if has_runs(parts):
                batched = storage.summed_code(object_kind, op, parallel)
                world.summed[request] = codes.add_if_any(storage.summed_code(object_kind, op, 1))
                world.summed_batches[request] = codes.add_if_any(batched)


def has_runs(parts: Parts) -> bool:
    """Whether a txn may ask for many objects one after another: its tables then are worth making.

    A fast append asks for one of each, unless its protocol reads history for every kind or merges manifests.
    """
    protocol = parts.protocol
    is_plain = all(
        source.only_kind == FAST_APPEND and source.arrivals.trace is None for source in parts.workload.sources
    )
    is_lean = protocol.history != HISTORY_EVERY_KIND and protocol.real_conflict != REAL_MERGE
    return not (is_plain and is_lean)


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
            backoff=POLICIES[terms.backoff_policy],
            backoff_base_ms=terms.backoff_base_ms,
            backoff_multiplier=terms.backoff_multiplier,
            backoff_max_ms=terms.backoff_max_ms,
            backoff_jitter=terms.backoff_jitter,
            real_conflict_probability=terms.real_conflict_probability,
            only_kind=source.only_kind,
            says_files=int(terms.touched_files is not None),
            is_by_files=int(terms.is_by_files),
            keeps_table=int(terms.keeps_table),
            runtime=codes.place_of(source.runtime),
            gaps=codes.place_of(source.arrivals.gaps),
            kind_tails=codes.add(np.array(source.kind_tails)),
            tables=codes.add(source.tables.code()),
            partitions=NOT_THERE if source.partitions is None else codes.add(source.partitions.code()),
            operation=Operation(
                form=OVERWRITE_FORMS.index(terms.overwrite),
                isolation=ISOLATIONS.index(terms.isolation),
                rewritten=terms.rewritten_manifests,
                is_referring=int(terms.is_referring),
                retain_last=terms.retain_last,
                expire_age_us=terms.expire_age_us,
            ),
        )
        if terms.touched_files is not None:
            made.touched_files = terms.touched_files.counting
        if trace is not None:
            made.trace = len(submissions)
            cells = (trace.submit_us, trace.runtimes_us, trace.kinds, trace.tables)
            submissions.extend(Submission(*line) for line in zip(*cells, strict=True))
        packed.append(made)
    return packed, submissions


def _pack_room(parts: Parts, world: WorldRecord) -> None:
    """How much room a txn may need."""
    sources, scope = parts.workload.sources, parts.catalog.state.scope
    world.tables_max = max(source.tables.room for source in sources)
    world.partitions_max = max(
        (source.partitions.room for source in sources if source.partitions is not None), default=0
    )
    world.watched_max = 1 if scope == SCOPE_CATALOG else world.tables_max
    if scope == SCOPE_PARTITION:
        world.watched_max = world.tables_max * world.partitions_max


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
