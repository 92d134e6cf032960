"""From values to objects: the one place where names become things.

Which provider, catalog, protocol, detector and sources does a configuration mean? Nothing is run. Every default was
filled in by the configuration; none is invented here.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from endive.catalog import (
    AppendCatalog,
    CASCatalog,
    Catalog,
    CatalogState,
    CreateCatalog,
    InstantCatalog,
    ServiceCatalog,
)
from endive.catalog.rules import SCOPES, LockTerms
from endive.config import SimulationConfig
from endive.config.sections.commit import CommitConfig
from endive.distributions import FixedLatency, from_table
from endive.distributions.sampled import begin_run
from endive.errors import ConfigError, EngineError
from endive.formats.content import Tables
from endive.formats.data_files import N_CHANGES
from endive.formats.delta.protocol import PRESETS as DELTA_PRESETS
from endive.formats.delta.protocol import DeltaProtocol, DeltaSettings
from endive.formats.delta.table import LogSizes
from endive.formats.iceberg import protocol
from endive.formats.iceberg.protocol import CommitProtocol, IcebergSettings
from endive.formats.iceberg.table import ObjectSizes
from endive.formats.nesting import FormatSettings
from endive.record import names_of
from endive.simulation.build_source import (
    build_lock,
    build_queues,
    build_workload_config,
    count_distribution,
    is_by_files,
    us_of,
)
from endive.simulation.own_catalog import OwnCatalog, check_catalog
from endive.simulation.own_transaction import engine_class
from endive.storage import ObjectStore, StorageProvider, load_profile
from endive.storage.throttled import SlowDown, ThrottledStore, without_throttling
from endive.transaction import (
    ConflictDetector,
    FilesConflictDetector,
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
    Transaction,
)
from endive.transaction.failures import Failures
from endive.vocabulary import (
    CATALOG,
    CLIENTS,
    COMMIT_FILE,
    CREATE,
    HEAD,
    KINDS,
    LOG_STORES,
    MANIFEST,
    MANIFEST_LIST,
    OBJECTS,
    OPERATIONS,
    READ,
    RELEASES,
    WRITE,
)
from endive.workload import Workload, WorkloadConfig

RESENT_MAX = 1_000  # times that a commit with an idempotency key is sent until an answer comes back
CatalogFactory = Callable[[StorageProvider, CatalogState], Catalog] | object  # or a catalog as the specification's
WorkloadFactory = Callable[[WorkloadConfig], Workload]

BYTES_PER_CHANGE: Final = 8
MEMORY_SHARE_MAX: Final = 0.5  # of the machine's


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnParts:
    """Parts of the user's own, instead of those the configuration names."""

    storage: StorageProvider | None = None
    catalog: CatalogFactory | None = None
    workload: WorkloadFactory | None = None
    conflict_detector: ConflictDetector | None = None
    transaction_types: Mapping[str, type[Transaction]] | None = None

    def __post_init__(self) -> None:
        """Reject what no engine would call, when the simulation is made."""
        if self.storage is not None and not isinstance(self.storage, StorageProvider):
            raise EngineError(f"{type(self.storage).__name__} is not a StorageProvider; make it a subclass of it.")
        if self.conflict_detector is not None and not isinstance(self.conflict_detector, ConflictDetector):
            name = type(self.conflict_detector).__name__
            raise EngineError(f"{name} is not a ConflictDetector; make it a subclass, with is_real_conflict.")
        if self.catalog is not None and not callable(self.catalog):
            check_catalog(self.catalog)
        for kind, made in (self.transaction_types or {}).items():
            engine_class(kind, made)

    @property
    def are_given(self) -> bool:
        """Whether any part is the user's own."""
        parts = (self.storage, self.catalog, self.workload, self.conflict_detector, self.transaction_types)
        return any(part is not None for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The objects of one simulation, new and unused."""

    duration_us: int
    storage: StorageProvider
    client_storage: StorageProvider  # the same store, as a txn's client meets it
    catalog: Catalog
    workload: Workload
    detector: ConflictDetector
    tables: Tables
    format: FormatSettings
    failures: Failures
    slow_down: SlowDown
    is_pointer_checked: bool
    is_partition_scoped: bool
    queues: tuple[int, ...]  # before the commit: the interval of those that gather, else 0
    lock: LockTerms
    transaction_types: tuple[type[Transaction], ...]

    def own_part(self) -> str | None:
        """Which part is the user's own, if any: such a simulation runs on the reference engine."""
        parts = {
            "storage provider": self.storage.is_built_in,
            "catalog": self.catalog.is_built_in,
            "workload": self.workload.is_built_in,
            "conflict detector": self.detector.is_built_in,
            "transaction type": all(made is Transaction for made in self.transaction_types),
        }
        return next((name for name, is_built_in in parts.items() if not is_built_in), None)


def build_parts(config: SimulationConfig, seed: int, own: OwnParts) -> Parts:
    """Make every object a simulation of ``config`` needs."""
    if own.are_given:
        begin_run(seed)
    storage = own.storage if own.storage is not None else build_storage(config)
    slow_down = build_slow_down(config)
    client_storage = ThrottledStore(storage, slow_down) if slow_down.rate > 0.0 else storage
    settings = build_format(config, storage)
    tables = build_tables(config, settings)
    make_workload = own.workload or Workload
    types = {kind: engine_class(kind, made) for kind, made in (own.transaction_types or {}).items()}
    state = build_state(config, tables)
    return Parts(
        duration_us=us_of(config.simulation.duration_ms),
        storage=storage,
        client_storage=client_storage,
        catalog=_make_catalog(config, own.catalog, client_storage, state),
        workload=make_workload(build_workload_config(config, seed)),
        detector=own.conflict_detector if own.conflict_detector is not None else build_detector(config),
        tables=tables,
        format=settings,
        failures=build_failures(config),
        slow_down=slow_down,
        is_pointer_checked=settings.is_delta == 0
        and config.catalog.type == "service"
        and config.catalog.service.flavour == "pointer",
        is_partition_scoped=config.catalog.scope == "partition",
        queues=build_queues(config),
        lock=build_lock(config.catalog.service.lock),
        transaction_types=tuple(types.get(kind, Transaction) for kind in KINDS),
    )


def _make_catalog(
    config: SimulationConfig, own: CatalogFactory | None, storage: StorageProvider, state: CatalogState
) -> Catalog:
    if own is None:
        return build_catalog(config, storage, state)
    if callable(own):
        made: Catalog = own(storage, state)
        return made
    return OwnCatalog(own, state)


def build_storage(config: SimulationConfig) -> StorageProvider:
    """The provider, with the latencies the user overrides."""
    section = config.storage
    profile = load_profile(section.provider, section.vintage)
    if section.latency_ms is not None:
        profile = profile.at_constant_latency(section.latency_ms)
    overrides = {
        (OBJECTS.index(item.object), OPERATIONS.index(item.op), item.is_success): from_table(
            item.distribution.to_table(), f"storage.{item.object}.{item.op}"
        )
        for item in section.latency_overrides()
    }
    if config.catalog.type == "dynamodb":
        entry = from_table(config.catalog.latency.to_table(), "catalog.latency")
        overrides |= {(CATALOG, op, True): entry for op in (READ, WRITE)}
    if config.catalog.type == "single_driver":  # a plain write, refused by a look whether the file is there
        profile = replace(profile, capabilities=profile.capabilities | {CREATE})
        plain = {(COMMIT_FILE, CREATE, is_success): op for is_success, op in ((True, WRITE), (False, HEAD))}
        overrides = {key: profile.latency(COMMIT_FILE, op) for key, op in plain.items()} | overrides
    store = ObjectStore(profile.with_overrides(overrides, min_latency_ms=section.min_latency_ms))
    store.expect_bytes(MANIFEST, config.table.manifest_bytes)
    store.expect_bytes(COMMIT_FILE, config.delta.commit_bytes)
    return store


def build_format(config: SimulationConfig, storage: StorageProvider) -> FormatSettings:
    """All that the rules of the tables' format are told."""
    return FormatSettings(
        iceberg=IcebergSettings(
            protocol=build_protocol(config, storage, config.commit),
            pyiceberg=build_protocol(config, storage, CommitConfig(protocol="pyiceberg")),
            sizes=ObjectSizes(**{name: getattr(config.table, name) for name in names_of(ObjectSizes)}),
            conflicting=count_distribution(config.transaction.conflicting_manifests.model_dump()).counting,
            list_entry_bytes=config.transaction.manifest_list_entry_bytes,
            list_seal_bytes=config.transaction.manifest_list_seal_threshold_bytes,
        ),
        delta=build_delta(config),
        is_delta=int(config.table.format == "delta"),
    )


# By catalog.type; those of Iceberg commit to a log of Delta's nowhere.
LOG_STORE_OF = dict.fromkeys(("cas", "append", "instant", "put_if_absent"), "put_if_absent")
LOG_STORE_OF |= {"dynamodb": "dynamodb", "single_driver": "single_driver", "service": "catalog"}


def build_delta(config: SimulationConfig) -> DeltaSettings:
    """What Delta's rules are told."""
    delta = config.delta
    return DeltaSettings(
        protocol=DeltaProtocol(
            client=CLIENTS.index(delta.client),
            checkpoint_interval=delta.checkpoint_interval,
            parallel_max=config.storage.max_parallel,
            log_store=LOG_STORES.index(LOG_STORE_OF[config.catalog.type]),
            cleans_log=int(delta.log_retention_ms is not None),
            replay_us=us_of(delta.log_replay_ms),
            **DELTA_PRESETS[delta.client],
        ),
        sizes=LogSizes(
            commit_bytes=delta.commit_bytes,
            checkpoint_base_bytes=delta.checkpoint_base_bytes,
            checkpoint_bytes_per_commit=delta.checkpoint_bytes_per_commit,
        ),
    )


def refuse_memory_beyond_this_machine(config: SimulationConfig) -> None:
    """Raise ConfigError if what is noted down of every data file takes more than half of this machine's memory."""
    if config.conflict.detector != "files" or not hasattr(os, "sysconf"):
        return
    needed = config.catalog.num_tables * config.table.data_files * N_CHANGES * BYTES_PER_CHANGE
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there * MEMORY_SHARE_MAX:
        gib = 2.0**30
        raise ConfigError(
            f"table.data_files = {config.table.data_files:,} in {config.catalog.num_tables:,} tables needs "
            f"{needed / gib:,.1f} GiB; this machine has {there / gib:,.1f} GiB, of which half may be used. Lower "
            "table.data_files or catalog.num_tables."
        )


def build_tables(config: SimulationConfig, settings: FormatSettings) -> Tables:
    """The tables before the first txn."""
    refuse_memory_beyond_this_machine(config)
    is_delta_cleaned = config.table.format == "delta" and config.delta.log_retention_ms is not None
    return Tables(
        config.catalog.num_tables,
        settings,
        initial_snapshots=initial_version(config),
        initial_manifests=config.table.initial_manifests,
        data_files=config.table.data_files if config.conflict.detector == "files" else 0,
        notes_files=any(is_by_files(config, source) for source in config.sources),
        has_snapshot_times=is_delta_cleaned or any(s.expire_older_than_ms is not None for s in config.sources),
    )


def initial_version(config: SimulationConfig) -> int:
    """Commits that every table has before the first txn."""
    return config.delta.initial_version if config.table.format == "delta" else config.table.initial_snapshots


def build_state(config: SimulationConfig, tables: Tables) -> CatalogState:
    """The catalog server's state before the first txn."""
    catalog = config.catalog
    object_bytes = 0
    if catalog.type in ("cas", "append"):
        object_bytes = catalog.object_base_bytes + catalog.num_tables * catalog.object_bytes_per_table
    return CatalogState(
        num_tables=catalog.num_tables,
        scope=SCOPES.index(catalog.scope),
        num_groups=catalog.num_groups if catalog.scope == "group" else 0,
        num_partitions=catalog.partitions.num_partitions if catalog.partitions.enabled else 0,
        has_log=catalog.type == "append",
        initial_version=initial_version(config),
        catalog_bytes=object_bytes + tables.inlined_bytes,
        content=tables,
    )


def build_catalog(config: SimulationConfig, storage: StorageProvider, state: CatalogState) -> Catalog:
    """The catalog ``catalog.type`` names."""
    section = config.catalog
    if section.type == "cas":
        return CASCatalog(storage, state, refusal_returns_snapshot=section.refusal_returns_snapshot)
    if section.type in ("put_if_absent", "single_driver"):
        return CreateCatalog(storage, state)
    if section.type == "append":
        entry_read = config.storage.T_LOG_ENTRY_READ
        return AppendCatalog(
            storage,
            state,
            preset=section.append_preset,
            log_entry_bytes=section.log_entry_bytes,
            compaction_threshold_bytes=section.compaction_threshold_bytes,
            compaction_max_entries=section.compaction_max_entries,
            physical_attempts_max=section.physical_attempts_max,
            log_entry_read=None
            if entry_read is None
            else from_table(entry_read.to_table(), "storage.T_LOG_ENTRY_READ"),
        )
    latency = from_table(section.latency.to_table(), "catalog.latency")
    if section.type == "dynamodb":
        return InstantCatalog(state, latency, refusal_returns_snapshot=False)
    if section.type == "instant":
        return InstantCatalog(state, latency, refusal_returns_snapshot=section.refusal_returns_snapshot)
    time, swap, calls_per_s = section.service.time, section.service.commit_latency, section.service.calls_per_s
    lock = section.service.lock
    service_time = None if time is None else from_table(time.to_table(), "catalog.service.time")
    return ServiceCatalog(
        state,
        latency,
        workers=section.service.workers if calls_per_s is None else 1,
        service_time=service_time if calls_per_s is None else FixedLatency(1000.0 / calls_per_s),
        commit_latency=None if swap is None else from_table(swap.to_table(), "catalog.service.commit_latency"),
        flavour="pointer" if config.table.format == "delta" else section.service.flavour,
        server_retries=section.service.server_retries,
        rewrites_list=section.service.rebase == "list",
        undoes_compactions=section.service.rolls_back_compactions,
        batch_us=us_of(section.service.batch_ms or 0.0),
        lock=None if lock is None else build_lock(lock),
        lock_latency=None if lock is None or lock.kind == "hive" else from_table(lock.latency.to_table(), "lock"),
        storage=without_throttling(storage),
        refusal_returns_snapshot=section.refusal_returns_snapshot,
    )


def build_detector(config: SimulationConfig) -> ConflictDetector:
    """The detector ``conflict.detector`` names."""
    if config.conflict.detector == "partition_overlap":
        return PartitionOverlapConflictDetector()
    if any(is_by_files(config, source) for source in config.sources):
        return FilesConflictDetector()
    return ProbabilisticConflictDetector()


def build_protocol(config: SimulationConfig, storage: StorageProvider, commit: CommitConfig) -> CommitProtocol:
    """Every choice of a commit protocol."""
    catalog = config.catalog
    is_headed = commit.head == "profile" and MANIFEST_LIST in storage.heads_before_read
    return CommitProtocol(
        base=protocol.BASES.index(commit.base),
        io=protocol.IO_PLACEMENTS.index(commit.io),
        repair=protocol.REPAIRS.index(commit.repair),
        own_manifest=protocol.OWN_MANIFESTS.index(commit.own_manifest),
        metadata=protocol.METADATA_CHOICES.index(commit.metadata),
        history=protocol.HISTORIES.index(commit.history),
        history_parallel=1 if commit.history_io == "serial" else config.storage.max_parallel,
        merging=protocol.MERGINGS.index(commit.merging),
        merge_count_min=commit.min_count_to_merge,
        merge_per_commit_millionths=round(commit.manifests_per_concurrent_commit * protocol.MILLIONTHS),
        real_conflict=protocol.REAL_CONFLICTS.index(commit.real_conflict),
        after_success=protocol.AFTER_SUCCESSES.index(commit.after_success),
        release=RELEASES.index(commit.release) if commit.protocol == "iceberg" else protocol.RELEASE_1_9,
        is_list_headed=int(is_headed),
        is_written_headed=int(commit.head == "written"),
        is_inlined=int(catalog.table_metadata_inlined),
        is_list_appended=int(config.transaction.manifest_list_mode == "append"),
        parallel_max=config.storage.max_parallel,
        is_metadata_servers=int(catalog.type == "service" and catalog.service.flavour == "rest"),
        is_metadata_always_read=int(commit.metadata_read == "each_attempt"),
        reads_root=int(commit.metadata == "per_conflict" and catalog.type == "cas"),
        server_reads=protocol.SERVER_READS.index(catalog.service.reads_metadata),
        answer_us_per_mib=us_of(catalog.service.answer_ms_per_mib or 0.0),
        load_answer=protocol.LOAD_ANSWERS.index(catalog.service.load_answer),
    )


def build_failures(config: SimulationConfig) -> Failures:
    """What goes wrong besides refusals."""
    section, has_keys = config.failures, config.catalog.service.idempotency_keys
    return Failures(
        lost_answer_rate=section.lost_answer_rate,
        lost_check_rate=section.lost_check_rate,
        timeout_us=us_of(section.lost_answer_timeout_ms),
        checks_max=RESENT_MAX if has_keys else section.status_checks,
        check_wait_min_ms=section.status_check_wait_ms,
        check_wait_max_ms=section.status_check_wait_max_ms,
        is_absent_refused=int(has_keys or section.absent_commit == "retry"),
    )


def build_slow_down(config: SimulationConfig) -> SlowDown:
    """How often the store throttles, and what the clients' SDK does about it."""
    section = config.failures
    return SlowDown(
        rate=section.throttle_rate,
        wait_ms=section.throttle_wait_ms,
        wait_max_ms=section.throttle_wait_max_ms,
        tries_max=section.throttle_tries,
    )
