"""Txns and the workload, called as the refactoring specification calls them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from endive import distributions, transaction, workload
from endive.distributions.sampled import draw, next_key
from endive.errors import EngineError
from endive.first_names.parts import Catalog, InstantCatalog
from endive.rng import uniform
from endive.simulation.build import Parts
from endive.storage import Client, StorageProvider
from endive.storage.caller import CallerClock, in_ms
from endive.transaction import ConflictCost, ConflictDetector, TransactionResult, World
from endive.transaction.conflict_cost import cost_by_kind
from endive.transaction.specified_names import SpecifiedTransaction
from endive.vocabulary import FAST_APPEND, KINDS, MERGE_APPEND, VALIDATED_OVERWRITE
from endive.workload import NEVER_US, Choice, Renewal, Source

Partitions = Mapping[int, frozenset[int]]
_SPECIFIED: Final = (FAST_APPEND, MERGE_APPEND, VALIDATED_OVERWRITE)


def _world(parts: Parts, clock: CallerClock, detector: ConflictDetector) -> World:
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


def _chosen(table: int, read: Partitions, written: Partitions) -> tuple[tuple[int, ...], int]:
    """Return the partitions a transaction touches in a table, the written ones first, and how many these are."""
    own = written.get(table, frozenset())
    return (*sorted(own), *sorted(read.get(table, frozenset()) - own)), len(own)


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
        *,
        manifests_per_concurrent_commit: float = 1.5,
        real_conflict_detector: ConflictDetector | None = None,
    ) -> None:
        self._conflict_detector = real_conflict_detector
        self.submit_time, self.runtime = submit_time_ms, runtime_ms
        partitions_read, partitions_written = partitions_read or {}, partitions_written or {}
        self.manifests_per_concurrent_commit = manifests_per_concurrent_commit
        order = (*sorted(tables_written), *sorted(tables_read - tables_written))
        draft = transaction.TransactionDraft(
            kind=self.kind,
            runtime_us=round(runtime_ms * 1000.0),
            tables_read=order,
            n_tables_written=len(tables_written),
            partitions=tuple(_chosen(table, partitions_read, partitions_written) for table in order),
        )
        terms = _parts_alone(self.kind, self._per_commit, is_appended=False).workload.sources[0].terms
        client = Client(next_key(), txn_id, CallerClock())
        super().__init__(txn_id, round(submit_time_ms * 1000.0), client, draft, terms)

    @property
    def _per_commit(self) -> float | None:
        return self.manifests_per_concurrent_commit if self.kind == MERGE_APPEND else None

    def get_conflict_cost(self, n_snapshots_behind: int, ml_append_mode: bool) -> ConflictCost:
        """Return the I/O of one retry, with lists rewritten or appended to."""
        return cost_by_kind(self.kind, n_snapshots_behind, ml_append_mode, self.manifests_per_concurrent_commit)

    def execute(  # type: ignore[override]
        self,
        sim: Any,
        catalog: Catalog,
        storage: StorageProvider,
        conflict_detector: ConflictDetector,
        max_retries: int,
    ) -> Generator[float, None, TransactionResult]:
        """From the first read to its end, in ms to wait; ``sim`` is whatever has a ``now`` in ms, or None.

        The detector the txn was made with decides, if it was made with one.
        """
        assert storage is catalog.storage or isinstance(catalog, InstantCatalog), "a catalog's own store"
        clock = catalog.clock
        clock.sim = sim
        made = catalog.build(_keys(self.kind, self._per_commit, is_appended=False, retries_max=max_retries))
        self.client.clock, self.terms = clock, made.workload.sources[0].terms
        if not catalog.parts.catalog.state.num_partitions:
            self.partitions = ()
        detector = self._conflict_detector or conflict_detector
        world = _world(replace(catalog.parts, storage=storage, format=made.format), clock, detector)
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


def _made(kind: int, txn_id: int, submit_us: int, runtime_us: int, drawn: Any) -> Transaction:
    """A txn in the specification's words; ``drawn`` has its tables and partitions, the written ones first."""
    tables, n_written, partitions = drawn
    written = tables[:n_written]
    chosen = dict(zip(tables, partitions, strict=False))
    return _CLASSES[kind](
        txn_id=txn_id,
        submit_time_ms=submit_us / 1000.0,
        runtime_ms=runtime_us / 1000.0,
        tables_read=frozenset(tables),
        tables_written=frozenset(written),
        partitions_read={table: frozenset(picked) for table, (picked, _) in chosen.items()},
        partitions_written={table: frozenset(chosen[table][0][: chosen[table][1]]) for table in written if chosen},
    )


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

    def __post_init__(self) -> None:
        """Reject parts that could not be drawn from."""
        for name in ("inter_arrival", "runtime", "tables_per_txn", "partitions_per_txn"):
            latency = getattr(self, name)
            if latency is not None and not isinstance(latency, distributions.LatencyDistribution):
                raise EngineError(f"{name} = {latency!r} is not a LatencyDistribution.")
            if latency is not None and latency.is_sampled:
                draw(latency, latency.sample)
        for name, wanted in (
            ("table_selection", workload.TableSelector),
            ("partition_selection", workload.PartitionSelector),
        ):
            selector = getattr(self, name)
            if selector is not None and not isinstance(selector, wanted):
                raise EngineError(f"{name} = {selector!r} is not a {wanted.__name__}; make its class a subclass of it.")


@dataclass(frozen=True)
class _WholeNumber(transaction.CountDistribution):
    """``int(sample())`` of a latency, as the specification draws counts."""

    latency: distributions.LatencyDistribution | None = None

    def weights(self, total: int) -> tuple[float, ...]:
        assert self.latency is not None
        below = [0.0, *(self.latency.cdf(number) for number in range(2, total + 1)), 1.0]
        return tuple(after - before for before, after in pairwise(below))


def _choice(total: int, counts: distributions.LatencyDistribution, selector: Any) -> Choice:
    return Choice(total=max(1, total), count=0, count_alpha=0.0, selector=selector, law=_WholeNumber(latency=counts))


class Workload:
    """Transactions by a ``WorkloadConfig``; equal seeds make equal ones.

    ``transaction_types`` names classes of your own by kind of operation, as ``{"fast_append": MyAppend}``.
    """

    def __init__(
        self,
        config: WorkloadConfig,
        seed: int | None = None,
        transaction_types: Mapping[str, type[transaction.Transaction]] | None = None,
    ) -> None:
        if type(self).generate is not Workload.generate:
            raise EngineError(
                f"{type(self).__name__} overrides generate, which an engine does not call. Give its distributions and "
                "selectors in a WorkloadConfig, and its classes of transactions in transaction_types."
            )
        self._config = config
        self.seed = 0 if seed is None else seed
        self.transaction_types = dict(transaction_types or {})

    @property
    def chooses_partitions(self) -> bool:
        """Whether its txns say which partitions they touch; those that do not touch none."""
        return self._config.partitions_per_txn is not None

    @property
    def section(self) -> dict[str, Any]:
        """The keys of [transaction] that the configuration means."""
        weights = (getattr(self._config, f"{KINDS[kind]}_weight") for kind in _SPECIFIED)
        return {
            "operation_types": {KINDS[kind]: weight for kind, weight in zip(_SPECIFIED, weights, strict=True)},
            "real_conflict_probability": self._config.real_conflict_probability
            or self._config.data_overlap_probability,
        }

    @property
    def catalog_section(self) -> dict[str, Any]:
        """The keys of [catalog] for a catalog of the user's own."""
        largest = max(self._config.partitions_per_table, default=0)
        partitions = {"partitions": {"enabled": True, "num_partitions": largest}} if largest else {}
        return {"type": "instant", "scope": "catalog", "num_tables": self._config.num_tables, **partitions}

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
        counts = self._config.partitions_per_table if self.chooses_partitions else ()
        catalog = InstantCatalog(self._config.num_tables, counts)
        made = self.fill(catalog.build({"transaction": self.section}).workload.config)
        for submit_us, source, index in made.generate(NEVER_US):
            draft = made.draft(source, index)
            drawn = (draft.tables_read, draft.n_tables_written, draft.partitions)
            yield _made(draft.kind, index + 1, submit_us, draft.runtime_us, drawn)


# ---- detectors (5) -----------------------------------------------------------------------------------

RealConflictDetector = transaction.ConflictDetector  # what an overwrite of specification 946 is made with


class ProbabilisticConflictDetector(transaction.ConflictDetector):
    """A conflict of an operation that can have one is real with this probability."""

    def __init__(self, real_conflict_probability: float) -> None:
        self.real_conflict_probability = real_conflict_probability

    def is_real_conflict(self, txn: transaction.Transaction, current_snapshot: Any, start_snapshot: Any) -> bool:
        """By the next draw."""
        return txn.can_have_real_conflict() and bool(uniform(next_key(), 0) < self.real_conflict_probability)


class PartitionOverlapConflictDetector(transaction.PartitionOverlapConflictDetector):
    """A conflict is real if a partition the txn writes has moved."""

    def is_real_conflict(self, txn: Any, current_snapshot: Any, start_snapshot: Any) -> bool:
        """By versions; an append has none."""
        return txn.can_have_real_conflict() and any(
            current_snapshot.get_partition_version(table, partition)
            != start_snapshot.get_partition_version(table, partition)
            for table, partitions in txn.partitions_written.items()
            for partition in partitions
        )
