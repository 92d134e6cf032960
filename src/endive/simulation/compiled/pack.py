"""A simulation's parts as arrays.

Owns the translation of objects into numbers, and no number of its own. What an array's places mean is in
``layout``.
"""

from dataclasses import dataclass

import numpy as np

from endive.catalog import AppendCatalog, CASCatalog, Catalog, InstantCatalog, ServiceCatalog
from endive.catalog.ledger import open_ledger
from endive.catalog.rules import SCOPE_CATALOG, SCOPE_PARTITION
from endive.distributions import FixedLatency, LatencyDistribution
from endive.distributions.code import FloatArray, IntArray
from endive.results.schema import KINDS, N_REQUEST_SLOTS
from endive.simulation.build import Parts
from endive.simulation.compiled import layout as at
from endive.storage import ObjectStore
from endive.storage.contention import NO_TXN
from endive.storage.requests import HEAD, MANIFEST, MANIFEST_LIST, N_OPERATIONS, READ, WRITE
from endive.transaction.conflicting import CONFLICTING_DISTRIBUTIONS
from endive.transaction.detectors import (
    DETECTOR_PARTITION_OVERLAP,
    DETECTOR_PROBABILISTIC,
    ProbabilisticConflictDetector,
)
from endive.transaction.protocol import N_PROTOCOL, PARALLEL_MAX
from endive.transaction.retry import POLICIES
from endive.transaction.rules import ISOLATIONS, N_OPERATION, OVERWRITE_FORMS
from endive.workload import Source
from endive.workload.arrivals import N_ARRIVALS

NOT_THERE = -1
# What a txn asks for several at a time: lists of the history, manifests it filters or merges.
BATCHED_OBJECTS = (MANIFEST_LIST, MANIFEST)
BATCHED_OPERATIONS = (READ, WRITE, HEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What the loop works on, besides the records of txns in flight and the heap."""

    m: IntArray
    f: FloatArray
    seats: int
    record_places: int  # of one txn in flight


class _Codes:
    """Codes laid end to end behind a head; the same one is laid down once."""

    def __init__(self, head: FloatArray) -> None:
        self._codes = [head]
        self._offsets: dict[bytes, int] = {}
        self._end = head.size

    def add(self, code: FloatArray | None) -> int:
        """Where the code starts."""
        assert code is not None, "a simulation with a distribution of the user's own is not compiled"
        content = code.tobytes()
        if content not in self._offsets:
            self._offsets[content] = self._end
            self._codes.append(code)
            self._end += code.size
        return self._offsets[content]

    def array(self) -> FloatArray:
        """The head, then all of them."""
        return np.concatenate(self._codes)


def pack(parts: Parts) -> Packed:
    """The arrays of a simulation that has not begun."""
    sources, state = parts.workload.sources, parts.catalog.state
    floats = np.zeros(at.FIRST_SOURCE_FLOAT + len(sources) * at.N_FS, dtype=np.float64)
    codes = _Codes(floats)
    c = np.zeros(at.FIRST_SOURCE + len(sources) * at.N_SOURCE, dtype=np.int64)
    _pack_model(parts, c, floats)
    _pack_catalog(parts.catalog, c, codes)
    _pack_storage(parts, c, floats, codes)
    trace = _pack_sources(sources, c, floats, codes)
    seats = _pack_seats(sources, c)
    record_places = at.B + _pack_places(parts, c)
    objects = np.zeros((at.FIRST_LIST_OBJECT + state.num_tables, at.N_OBJECT), dtype=np.int64)
    objects[:, at.OBJECT_LAST_TXN] = NO_TXN
    objects[:, at.OBJECT_REACHED_TXN] = NO_TXN
    c[at.G + at.G_CATALOG_BYTES] = state.catalog_bytes
    c[at.G + at.G_LOG : at.G + at.G_LOG + len(state.log)] = state.log
    c[at.G + at.G_FREE_HEAD] = NOT_THERE
    c[at.C_TRACE_COUNT] = trace.shape[1]
    end = c.size
    sections = []
    for place, section in (
        (at.C_V, np.array(state.versions, dtype=np.int64)),
        (at.C_Q, np.array(state.counters, dtype=np.int64)),
        (at.C_FREE, np.zeros(c[at.C_WORKERS], dtype=np.int64)),
        (at.C_OBJECTS, objects.ravel()),
        (at.C_TRACE, trace.ravel()),
        (at.C_SEATS, seats.ravel()),
        (at.C_LEDGER, np.array(open_ledger(state.versions, state.log), dtype=np.int64)),
    ):
        c[place] = end
        end += section.size
        sections.append(section)
    return Packed(m=np.concatenate([c, *sections]), f=codes.array(), seats=len(seats), record_places=record_places)


def _pack_model(parts: Parts, c: IntArray, f: FloatArray) -> None:
    """What belongs to no single part."""
    sizes, conflicting, state = parts.sizes, parts.conflicting, parts.catalog.state
    c[at.C_END_US] = parts.duration_us
    c[at.C_SCOPE] = state.scope
    c[at.C_GROUPS] = state.num_groups
    c[at.C_TABLES] = state.num_tables
    c[at.C_PARTITIONS] = state.num_partitions
    c[at.C_IS_INLINED] = state.is_inlined
    c[at.C_POINTER_CHECKED] = parts.is_pointer_checked
    c[at.C_LIST_ENTRY_BYTES] = parts.list_entry_bytes
    c[at.C_LIST_SEAL_BYTES] = parts.list_seal_threshold_bytes
    is_by_chance = isinstance(parts.detector, ProbabilisticConflictDetector)
    c[at.C_DETECTOR] = DETECTOR_PROBABILISTIC if is_by_chance else DETECTOR_PARTITION_OVERLAP
    c[at.C_CONFLICTING] = CONFLICTING_DISTRIBUTIONS.index(conflicting.distribution)
    c[at.C_CONFLICTING_VALUE] = conflicting.value
    c[at.C_CONFLICTING_MIN] = conflicting.count_min
    c[at.C_CONFLICTING_MAX] = conflicting.count_max
    f[at.F_CONFLICTING_MEAN] = conflicting.mean
    c[at.C_METADATA_BASE] = sizes.metadata_base_bytes
    c[at.C_METADATA_STEP] = sizes.metadata_bytes_per_snapshot
    c[at.C_KEPT_MAX] = sizes.snapshots_kept_max
    c[at.C_LIST_BASE] = sizes.manifest_list_base_bytes
    c[at.C_LIST_STEP] = sizes.manifest_list_bytes_per_manifest
    c[at.C_MANIFEST_BYTES] = sizes.manifest_bytes
    c[at.C_PROTOCOL : at.C_PROTOCOL + N_PROTOCOL] = parts.protocol.vector()


def _pack_catalog(catalog: Catalog, c: IntArray, codes: _Codes) -> None:
    c[at.C_REFUSAL_TELLS] = catalog.refusal_returns_snapshot
    c[at.C_SERVICE_TIME] = c[at.C_ENTRY_READ] = NOT_THERE
    if isinstance(catalog, CASCatalog):
        c[at.C_CATALOG] = at.CATALOG_CAS
    elif isinstance(catalog, AppendCatalog):
        c[at.C_CATALOG] = at.CATALOG_APPEND
        c[at.C_IS_SEED004] = catalog.is_seed004
        c[at.C_ENTRY_BYTES] = catalog.log_entry_bytes
        c[at.C_COMPACTION_BYTES] = catalog.compaction_threshold_bytes
        c[at.C_COMPACTION_ENTRIES] = catalog.compaction_max_entries
        c[at.C_PHYSICAL_MAX] = catalog.physical_attempts_max
        if catalog.log_entry_read is not None:
            c[at.C_ENTRY_READ] = codes.add(catalog.log_entry_read.code())
    elif isinstance(catalog, ServiceCatalog):
        c[at.C_CATALOG] = at.CATALOG_SERVICE
        c[at.C_IS_REST] = catalog.is_rest
        c[at.C_SERVER_RETRIES] = catalog.server_retries
        c[at.C_WORKERS] = catalog.workers
        c[at.C_LATENCY] = codes.add(catalog.latency.code())
        if catalog.service_time is not None:
            c[at.C_SERVICE_TIME] = codes.add(catalog.service_time.code())
    else:
        assert isinstance(catalog, InstantCatalog)
        c[at.C_CATALOG] = at.CATALOG_INSTANT
        c[at.C_LATENCY] = codes.add(catalog.latency.code())


def _pack_storage(parts: Parts, c: IntArray, f: FloatArray, codes: _Codes) -> None:
    storage = parts.storage
    assert isinstance(storage, ObjectStore)
    c[at.C_SPACING_US] = storage.spacing_us
    for op in range(N_OPERATIONS):
        f[at.F_SHARES + op] = storage.leg_share(op)
        c[at.C_WINDOW_US + op] = storage.contention_window_us(op)
        penalty = storage.penalty(op)
        c[at.C_PENALTY + op] = NOT_THERE if penalty is None else codes.add(penalty.code())
        c[at.C_THROTTLE_US + op] = storage.throttle_window_us(op)
        delay = storage.throttle_delay(op)
        c[at.C_DELAY + op] = NOT_THERE if delay is None else codes.add(delay.code())
    for slot in range(N_REQUEST_SLOTS):
        object_kind, op = divmod(slot, N_OPERATIONS)
        success: LatencyDistribution = FixedLatency(0.0)
        refusal = success
        if storage.profile.supports(op):
            success = storage.latency(object_kind, op)
            refusal = storage.latency(object_kind, op, success=False)
        c[at.C_SUCCESS + slot] = codes.add(success.code())
        c[at.C_REFUSAL + slot] = codes.add(refusal.code())
        c[at.C_SLOWEST + slot] = NOT_THERE
        if object_kind in BATCHED_OBJECTS and op in BATCHED_OPERATIONS:
            slowest = success.slowest_code(int(c[at.C_PROTOCOL + PARALLEL_MAX]))
            if slowest is not None:
                c[at.C_SLOWEST + slot] = codes.add(slowest)


def _pack_sources(sources: tuple[Source, ...], c: IntArray, f: FloatArray, codes: _Codes) -> IntArray:
    """Fill in every source's block; returns the traces, laid end to end."""
    columns: list[list[int]] = [[], [], [], []]
    for source in sources:
        block = c[at.FIRST_SOURCE + source.index * at.N_SOURCE :][: at.N_SOURCE]
        terms = source.terms
        block[at.SOURCE_KEY] = source.key
        block[at.SOURCE_ARRIVALS_KEY] = source.arrivals_key
        block[at.SOURCE_RETRIES_MAX] = terms.retries_max
        block[at.SOURCE_TIMEOUT_US] = terms.total_timeout_us
        block[at.SOURCE_APPLICATION_RETRIES] = terms.application_retries
        block[at.SOURCE_BACKOFF] = POLICIES[terms.backoff_policy]
        block[at.SOURCE_ONLY_KIND] = source.only_kind
        block[at.SOURCE_RUNTIME] = codes.add(source.runtime.code())
        gaps = source.arrivals.gaps
        block[at.SOURCE_GAPS] = 0 if gaps is None else codes.add(gaps.code())
        block[at.SOURCE_KIND_TAILS] = codes.add(np.array(source.kind_tails))
        block[at.SOURCE_TABLES] = codes.add(source.tables.code())
        partitions = source.partitions
        block[at.SOURCE_PARTITIONS] = NOT_THERE if partitions is None else codes.add(partitions.code())
        block[at.SOURCE_TRACE] = NOT_THERE
        trace = source.arrivals.trace
        if trace is not None:
            block[at.SOURCE_TRACE] = len(columns[0])
            cells = (trace.submit_us, trace.kinds, trace.runtimes_us, trace.tables)
            for column, values in zip(columns, cells, strict=True):
                column.extend(values)
        for kind in range(len(KINDS)):
            first = at.SOURCE_OPERATIONS + kind * N_OPERATION
            block[first : first + N_OPERATION] = (
                kind,
                OVERWRITE_FORMS.index(terms.overwrite),
                ISOLATIONS.index(terms.isolation),
                terms.rewritten_manifests,
            )
        block[at.SOURCE_ARRIVALS : at.SOURCE_ARRIVALS + N_ARRIVALS] = source.arrivals.row
        floats = f[at.FIRST_SOURCE_FLOAT + source.index * at.N_FS :][: at.N_FS]
        floats[at.FS_BASE_MS] = terms.backoff_base_ms
        floats[at.FS_MULTIPLIER] = terms.backoff_multiplier
        floats[at.FS_MAX_MS] = terms.backoff_max_ms
        floats[at.FS_JITTER] = terms.backoff_jitter
        floats[at.FS_REAL_PROBABILITY] = terms.real_conflict_probability
    return np.array(columns, dtype=np.int64)


def _pack_places(parts: Parts, c: IntArray) -> int:
    """Lay out what stands at B of a record; how many places it has."""
    tables_max = max(source.tables.room for source in parts.workload.sources)
    partitions_max = max(
        (source.partitions.room for source in parts.workload.sources if source.partitions is not None),
        default=0,
    )
    scope = parts.catalog.state.scope
    watched_max = 1 if scope == SCOPE_CATALOG else tables_max
    if scope == SCOPE_PARTITION:
        watched_max = tables_max * partitions_max
    c[at.C_TABLES_MAX] = tables_max
    c[at.C_PARTITIONS_MAX] = partitions_max
    end = tables_max
    for place, length in (
        (at.C_B_WATCHED, watched_max),
        (at.C_B_EXPECTED, watched_max),
        (at.C_B_SNAPSHOTS, tables_max * at.N_SNAPS),
        (at.C_B_PLANS, tables_max * at.N_PLANS),
        (at.C_B_PARTITION_COUNTS, 2 * tables_max if partitions_max else 0),
        (at.C_B_PARTITIONS, tables_max * partitions_max),
        (at.C_B_PARTITION_VERSIONS, 3 * tables_max * partitions_max),
    ):
        c[place] = end
        end += length
    return end


def _pack_seats(sources: tuple[Source, ...], c: IntArray) -> IntArray:
    """Who submits: one seat per open source, one per client of a closed loop, in the order of the sources."""
    seats: list[tuple[int, int]] = []  # source and index of the txn to submit
    for source in sources:
        c[at.FIRST_SOURCE + source.index * at.N_SOURCE + at.SOURCE_FIRST_SEAT] = len(seats)
        clients = source.arrivals.clients
        seats.extend((source.index, client << 32) for client in range(clients))
        if not clients:
            seats.append((source.index, 0))
    return np.array([(*seat, order - len(seats)) for order, seat in enumerate(seats)], dtype=np.int64)
