"""Txns, the workload and the simulation, called as the refactoring specification calls them.

A ``SimulationConfig`` of parts becomes a configuration and parts of the simulator's own. With parts from here it runs
on the compiled engine.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import endive.simulation
from endive import config as configs
from endive import distributions, transaction, workload
from endive.first_names.parts import (
    Catalog,
    Clock,
    InstantCatalog,
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
    StorageProvider,
    in_ms,
    next_key,
)
from endive.results import SimulationResult
from endive.simulation.build import Parts
from endive.storage import Client
from endive.transaction import ConflictCost, ConflictDetector, TransactionResult, TransactionStatus, World
from endive.transaction.specified_names import SpecifiedTransaction
from endive.vocabulary import FAST_APPEND, KINDS, MERGE_APPEND, VALIDATED_OVERWRITE
from endive.workload import NEVER_US, Choice, Renewal, Source

Partitions = Mapping[int, frozenset[int]]
_SPECIFIED: Final = (FAST_APPEND, MERGE_APPEND, VALIDATED_OVERWRITE)


def _world(parts: Parts, clock: Clock, detector: ConflictDetector) -> World:
    return World(
        clock=clock,
        storage=parts.storage,
        catalog=parts.catalog,
        tables=parts.tables,
        detector=detector,
        format=parts.format,
        failures=parts.failures,
        is_pointer_checked=parts.is_pointer_checked,
        is_partition_scoped=parts.is_partition_scoped,
    )


def _keys(kind: int, per_commit: float | None, *, is_appended: bool, retries_max: int = 10) -> dict[str, Any]:
    """What a txn of this kind means in a configuration."""
    merging = {} if per_commit is None else {"manifests_per_concurrent_commit": per_commit}
    return {
        "commit": {"protocol": "spec", **merging},
        "transaction": {
            "operation_types": {KINDS[kind]: 1.0},
            "manifest_list_mode": "append" if is_appended else "rewrite",
            "retry": retries_max,
        },
    }


@lru_cache
def _parts_alone(kind: int, per_commit: float | None, *, is_appended: bool) -> Parts:
    """Around a txn that nobody runs: one table, whose metadata are read apart."""
    catalog = InstantCatalog(1, ())
    catalog.section["table_metadata_inlined"] = False
    return catalog.build(_keys(kind, per_commit, is_appended=is_appended))


# ---- txns (3) ----------------------------------------------------------------------------------------


class Transaction(SpecifiedTransaction):
    """A txn by its tables and partitions, which runs by the specification's protocol."""

    def __init__(
        self,
        txn_id: int,
        submit_time_ms: float,
        runtime_ms: float,
        tables_read: frozenset[int],
        tables_written: frozenset[int],
        partitions_read: Partitions | None = None,
        partitions_written: Partitions | None = None,
        manifests_per_concurrent_commit: float = 1.5,
    ) -> None:
        self.submit_time, self.runtime = submit_time_ms, runtime_ms
        self.tables_read, self.tables_written = tables_read, tables_written
        self.partitions_read, self.partitions_written = partitions_read or {}, partitions_written or {}
        self.manifests_per_concurrent_commit = manifests_per_concurrent_commit
        order = (*sorted(tables_written), *sorted(tables_read - tables_written))
        draft = transaction.TransactionDraft(
            kind=self.kind,
            runtime_us=round(runtime_ms * 1000.0),
            tables_read=order,
            n_tables_written=len(tables_written),
            partitions=tuple(self._partitions(table) for table in order) if self.partitions_read else (),
        )
        terms = _parts_alone(self.kind, self._per_commit, is_appended=False).workload.sources[0].terms
        client = Client(next_key(), txn_id, Clock())
        super().__init__(txn_id, round(submit_time_ms * 1000.0), client, draft, terms)

    def _partitions(self, table: int) -> tuple[tuple[int, ...], int]:
        written = self.partitions_written.get(table, frozenset())
        return (*sorted(written), *sorted(self.partitions_read.get(table, frozenset()) - written)), len(written)

    @property
    def _per_commit(self) -> float | None:
        return self.manifests_per_concurrent_commit if self.kind == MERGE_APPEND else None

    def get_conflict_cost(  # type: ignore[override]
        self, n_snapshots_behind: int, ml_append_mode: bool
    ) -> ConflictCost:
        """The I/O of one retry, with lists rewritten or appended to."""
        parts = _parts_alone(self.kind, self._per_commit, is_appended=ml_append_mode)
        return super().get_conflict_cost(_world(parts, Clock(), parts.detector), n_snapshots_behind)

    def should_abort_on_real_conflict(self) -> bool:  # type: ignore[override]
        """Whether a real conflict ends it: where it can have one, under the specification's protocol."""
        return self.can_have_real_conflict()

    def execute(  # type: ignore[override]
        self,
        sim: Any,
        catalog: Catalog,
        storage: StorageProvider,
        conflict_detector: ConflictDetector,
        max_retries: int,
    ) -> Generator[float, None, TransactionResult]:
        """From the first read to its end, in ms to wait; ``sim`` is whatever has a ``now`` in ms, or None."""
        assert storage is catalog.storage or isinstance(catalog, InstantCatalog), "a catalog's own store"
        clock = catalog.clock
        clock.sim = sim
        made = catalog.build(_keys(self.kind, self._per_commit, is_appended=False, retries_max=max_retries))
        self.client.clock, self.terms = clock, made.workload.sources[0].terms
        world = _world(replace(catalog.parts, storage=storage.store, format=made.format), clock, conflict_detector)
        return (yield from in_ms(self._end(world), clock))

    def _end(self, world: World) -> Generator[int, None, TransactionResult]:
        yield from super().execute(world)
        return self.result


class FastAppendTransaction(Transaction):
    """Adds files; never in real conflict."""

    kind = FAST_APPEND


class MergeAppendTransaction(Transaction):
    """Adds files and merges again, so many manifests for each commit behind."""

    kind = MERGE_APPEND


class ValidatedOverwriteTransaction(Transaction):
    """Reads a list for each commit behind; a real conflict ends it."""

    kind = VALIDATED_OVERWRITE


_CLASSES: Final = (FastAppendTransaction, MergeAppendTransaction, ValidatedOverwriteTransaction)


# ---- the workload (4) --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class WorkloadConfig:
    """When txns come, what they do, and where."""

    inter_arrival: distributions.LatencyDistribution
    runtime: distributions.LatencyDistribution
    fast_append_weight: float = 0.7
    merge_append_weight: float = 0.2
    validated_overwrite_weight: float = 0.1
    num_tables: int
    partitions_per_table: tuple[int, ...]
    tables_per_txn: distributions.LatencyDistribution
    table_selection: workload.TableSelector
    partitions_per_txn: distributions.LatencyDistribution | None = None
    partition_selection: workload.PartitionSelector | None = None
    real_conflict_probability: float = 0.0
    data_overlap_probability: float = 0.0


@dataclass(frozen=True)
class _WholeNumber(transaction.CountDistribution):
    """``int(sample())`` of a latency, as the specification draws counts."""

    latency: distributions.LatencyDistribution | None = None

    def weights(self, total: int) -> tuple[float, ...]:
        assert self.latency is not None
        below = [0.0, *(self.latency.cdf(number) for number in range(2, total + 1)), 1.0]
        return tuple(after - before for before, after in pairwise(below))


def _choice(total: int, counts: distributions.LatencyDistribution, selector: Any) -> Choice:
    return Choice(total=total, count=0, count_alpha=0.0, selector=selector, law=_WholeNumber(latency=counts))


class Workload:
    """Txns by a ``WorkloadConfig``; equal seeds make equal txns."""

    def __init__(self, config: WorkloadConfig, seed: int | None = None) -> None:
        self._config = config
        self.seed = 0 if seed is None else seed

    @property
    def section(self) -> dict[str, Any]:
        """The keys of [transaction] that the configuration means."""
        weights = (getattr(self._config, f"{KINDS[kind]}_weight") for kind in _SPECIFIED)
        return {
            "operation_types": {KINDS[kind]: weight for kind, weight in zip(_SPECIFIED, weights, strict=True)},
            "real_conflict_probability": self._config.real_conflict_probability
            or self._config.data_overlap_probability,
        }

    def fill(self, made: workload.WorkloadConfig) -> workload.Workload:
        """The simulator's workload, its source drawing from these distributions."""
        config, source = self._config, made.sources[0]
        assert config.num_tables == made.num_tables, "catalog and workload see the same tables"
        by_table: tuple[Choice, ...] = ()
        if config.partitions_per_txn is not None and made.num_partitions:
            by_table = tuple(
                _choice(count, config.partitions_per_txn, config.partition_selection)
                for count in config.partitions_per_table
            )
        drawn: Source = replace(
            source,
            seed=self.seed,
            arrivals=Renewal(start_us=0, stop_us=NEVER_US, gap=config.inter_arrival),
            runtime=config.runtime,
            tables=_choice(config.num_tables, config.tables_per_txn, config.table_selection),
            partitions_by_table=by_table or source.partitions_by_table,
        )
        return workload.Workload(replace(made, sources=(drawn,)))

    def generate(self, sim: Any = None) -> Iterator[Transaction]:
        """Txns in the order of their submission, without end; each knows when it is submitted."""
        counts = self._config.partitions_per_table if self._config.partitions_per_txn is not None else ()
        catalog = InstantCatalog(self._config.num_tables, counts)
        made = self.fill(catalog.build({"transaction": self.section}).workload.config)
        for submit_us, source, index in made.generate(NEVER_US):
            draft = made.draft(source, index)
            read, written = draft.tables_read, draft.n_tables_written
            chosen = dict(zip(read, draft.partitions, strict=False))
            yield _CLASSES[draft.kind](
                txn_id=index + 1,
                submit_time_ms=submit_us / 1000.0,
                runtime_ms=draft.runtime_us / 1000.0,
                tables_read=frozenset(read),
                tables_written=frozenset(read[:written]),
                partitions_read={table: frozenset(picked[0]) for table, picked in chosen.items()},
                partitions_written={
                    table: frozenset(chosen[table][0][: chosen[table][1]]) for table in read[:written] if chosen
                },
            )


# ---- the simulation (6) ------------------------------------------------------------------------------


@dataclass(kw_only=True)
class SimulationConfig:
    """A simulation by its parts."""

    duration_ms: float
    seed: int | None
    storage_provider: StorageProvider
    catalog: Catalog
    workload: Workload
    conflict_detector: ConflictDetector
    max_retries: int = 10
    backoff_enabled: bool = False
    backoff_base_ms: float = 10.0
    backoff_multiplier: float = 2.0
    backoff_max_ms: float = 5000.0
    backoff_jitter: float = 0.1

    def simulation(self) -> endive.simulation.Simulation:
        """The simulator's own, with these parts."""
        detector = self.conflict_detector
        section = self.workload.section
        conflict = {}
        if isinstance(detector, ProbabilisticConflictDetector):
            section["real_conflict_probability"] = detector.real_conflict_probability
        elif isinstance(detector, PartitionOverlapConflictDetector):
            del section["real_conflict_probability"]
            conflict = {"conflict": {"detector": "partition_overlap"}}
        backoff = {"base_ms": self.backoff_base_ms, "multiplier": self.backoff_multiplier}
        backoff |= {"max_ms": self.backoff_max_ms, "jitter": self.backoff_jitter}
        section["retry_backoff"] = {"enabled": True, **backoff} if self.backoff_enabled else {"enabled": False}
        self.workload.seed = self.workload.seed if self.seed is None else self.seed
        keys = {
            "simulation": {"duration_ms": self.duration_ms, "seed": self.workload.seed},
            "commit": {"protocol": "spec"},
            "catalog": self.catalog.section,
            "transaction": {**section, "retry": self.max_retries},
            **conflict,
        }
        is_ours = isinstance(detector, ProbabilisticConflictDetector | PartitionOverlapConflictDetector)
        return endive.simulation.Simulation(
            keys,
            storage=self.storage_provider.store,
            workload=self.workload.fill,
            conflict_detector=None if is_ours else detector,
        )


class Simulation:
    """Runs a ``SimulationConfig`` of parts, or whatever ``load_simulation_config`` returns."""

    def __init__(self, config: SimulationConfig | configs.SimulationConfig) -> None:
        self._made = (
            config.simulation() if isinstance(config, SimulationConfig) else endive.simulation.Simulation(config)
        )

    def run(self) -> Statistics:
        """Simulate."""
        return Statistics(self._made.run())


class Statistics:
    """What a run counted, by the specification's names: ``committed``, ``false_conflicts``, ``manifest_list_reads``."""

    def __init__(self, result: SimulationResult) -> None:
        self.result = result
        self.to_dataframe = result.to_dataframe
        self.export_parquet = result.export_parquet

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        count: int = getattr(self.result.statistics.counters, name)
        return count

    @property
    def transactions(self) -> list[TransactionResult]:
        """Every txn that ended."""
        return [_result_of(row) for row in self.result.transactions.to_pylist() if row["status"] != "in_flight"]


def _result_of(row: Mapping[str, Any]) -> TransactionResult:
    is_committed = row["status"] == "committed"
    return TransactionResult(
        status=TransactionStatus.COMMITTED if is_committed else TransactionStatus.ABORTED,
        commit_time_ms=row["end_ms"] if is_committed else -1.0,
        abort_time_ms=-1.0 if is_committed else row["end_ms"],
        abort_reason=row["reason"],
        total_retries=max(0, row["attempts"] - 1),
        commit_latency_ms=row["commit_latency_ms"],
        total_latency_ms=row["total_latency_ms"],
        manifest_list_reads=row["requests_manifest_list_read"],
        manifest_list_writes=row["requests_manifest_list_write"],
        manifest_file_reads=row["requests_manifest_read"],
        manifest_file_writes=row["requests_manifest_write"],
    )
