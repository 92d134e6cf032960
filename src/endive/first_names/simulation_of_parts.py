"""The simulation and its statistics, called as the refactoring specification calls them (6).

A ``SimulationConfig`` of parts becomes a configuration and parts of the simulator's own. With parts from here it runs
on the compiled engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import endive.simulation
from endive import config as configs
from endive.first_names.parts import Catalog
from endive.first_names.txns import (
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
    Transaction,
    Workload,
)
from endive.results import SimulationResult
from endive.storage import StorageProvider
from endive.transaction import ConflictDetector, TransactionResult, TransactionStatus


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
        own_catalog = None if isinstance(self.catalog, Catalog) else self.catalog
        section = self.workload.section
        catalog = dict(self.catalog.section) if own_catalog is None else self.workload.catalog_section
        conflict = {}
        if not self.workload.chooses_partitions:
            catalog.pop("partitions", None)
        if isinstance(detector, ProbabilisticConflictDetector):
            section["real_conflict_probability"] = detector.real_conflict_probability
        elif isinstance(detector, PartitionOverlapConflictDetector) and not self.workload.chooses_partitions:
            section["real_conflict_probability"] = 0.0
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
            "catalog": catalog,
            "transaction": {**section, "retry": self.max_retries},
            **conflict,
        }
        is_ours = isinstance(detector, ProbabilisticConflictDetector | PartitionOverlapConflictDetector)
        return endive.simulation.Simulation(
            keys,
            storage=self.storage_provider,
            catalog=own_catalog,
            workload=self.workload.fill,
            conflict_detector=None if is_ours else detector,
            transaction_types=self.workload.transaction_types or None,
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
    """What was counted, by the specification's names: of a run, or of the txns that were recorded."""

    def __init__(self, result: SimulationResult | None = None) -> None:
        self.result = result
        self.transactions: list[TransactionResult] = []
        self.committed = self.aborted = self.false_conflicts = self.real_conflicts = self.validation_exceptions = 0
        self.manifest_list_reads = self.manifest_list_writes = 0
        self.manifest_file_reads = self.manifest_file_writes = 0
        for row in () if result is None else result.transactions.to_pylist():
            if row["status"] != "in_flight":
                self._count(_result_of(row), row["false_conflicts"], row["real_conflicts"])

    def __getattr__(self, name: str) -> int:
        if name.startswith("_") or self.result is None:
            raise AttributeError(name)
        count: int = getattr(self.result.statistics.counters, name)  # those of the append design
        return count

    def record_transaction(self, txn: Transaction, result: TransactionResult) -> None:
        """Count a txn that has ended."""
        self._count(result, txn.row.false_conflicts, txn.row.real_conflicts)

    def _count(self, result: TransactionResult, false_conflicts: int, real_conflicts: int) -> None:
        self.transactions.append(result)
        self.committed += result.status is TransactionStatus.COMMITTED
        self.aborted += result.status is TransactionStatus.ABORTED
        self.validation_exceptions += result.abort_reason == "validation_exception"
        self.false_conflicts += false_conflicts
        self.real_conflicts += real_conflicts
        self.manifest_list_reads += result.manifest_list_reads
        self.manifest_list_writes += result.manifest_list_writes
        self.manifest_file_reads += result.manifest_file_reads
        self.manifest_file_writes += result.manifest_file_writes

    def to_dataframe(self) -> Any:
        """Every txn of the run as a pandas frame, with the columns of a result; else what was recorded."""
        return self._table().to_pandas() if self.result is None else self.result.to_dataframe()

    def export_parquet(self, path: str) -> None:
        """The same as a Parquet file."""
        if self.result is None:
            pq.write_table(self._table(), path)
        else:
            self.result.export_parquet(path)

    def _table(self) -> pa.Table:
        return pa.Table.from_pylist([{**asdict(txn), "status": txn.status.value} for txn in self.transactions])


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
