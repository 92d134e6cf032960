"""The names of the first documents, to be called as the documents call them.

Every name of the refactoring specification is here, and those of the experiment plan. What the simulator has with the
same signature is its own; the others are thin adapters. ``python -m endive.first_names`` prints the list, with what is
not as written and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from endive.catalog.snapshot import AppendResult
from endive.config import load_simulation_config, parse_config
from endive.config.sections.simulation import margin_ms
from endive.config.unsaid import overlap_unsaid
from endive.distributions import LatencyDistribution
from endive.distributions.sampled import seed
from endive.errors import ConfigError, ConfigurationError, UnsupportedOperationError
from endive.first_names.parts import (
    AppendCatalog,
    CASCatalog,
    CASResult,
    Catalog,
    CatalogSnapshot,
    CommitResult,
    InstantCatalog,
    IntentionRecord,
    LognormalLatency,
    SizeBasedLatency,
    TableMetadata,
    UniformPartitionSelector,
    ZipfPartitionSelector,
    ZipfTableSelector,
)
from endive.first_names.simulation_of_parts import Simulation, SimulationConfig, Statistics
from endive.first_names.txns import (
    FastAppendTransaction,
    MergeAppendTransaction,
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
    RealConflictDetector,
    Transaction,
    ValidatedOverwriteTransaction,
    Workload,
    WorkloadConfig,
)
from endive.storage import (
    AzureBlobStorageProvider,
    GCPStorageProvider,
    InstantStorageProvider,
    S3ExpressStorageProvider,
    S3StorageProvider,
    StorageProvider,
    StorageResult,
)
from endive.transaction import ConflictCost, ConflictDetector, TransactionResult, TransactionStatus
from endive.workload import PartitionSelector, TableSelector, truncated_zipf_pmf

__all__ = [
    "AppendCatalog",
    "AppendResult",
    "AzureBlobStorageProvider",
    "CASCatalog",
    "CASResult",
    "Catalog",
    "CatalogSnapshot",
    "CommitResult",
    "ConfigurationError",
    "ConflictCost",
    "ConflictDetector",
    "FastAppendTransaction",
    "GCPStorageProvider",
    "InstantCatalog",
    "InstantStorageProvider",
    "IntentionRecord",
    "LatencyDistribution",
    "LognormalLatency",
    "MergeAppendTransaction",
    "PartitionOverlapConflictDetector",
    "PartitionSelector",
    "ProbabilisticConflictDetector",
    "RealConflictDetector",
    "S3ExpressStorageProvider",
    "S3StorageProvider",
    "Simulation",
    "SimulationConfig",
    "SizeBasedLatency",
    "Statistics",
    "StorageProvider",
    "StorageResult",
    "TableMetadata",
    "TableSelector",
    "Transaction",
    "TransactionResult",
    "TransactionStatus",
    "UniformPartitionSelector",
    "UnsupportedOperationError",
    "ValidatedOverwriteTransaction",
    "Workload",
    "WorkloadConfig",
    "ZipfPartitionSelector",
    "ZipfTableSelector",
    "compute_warmup_duration",
    "load_simulation_config",
    "seed",
    "truncated_zipf_pmf",
    "validate_config",
]


def validate_config(raw: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Errors and warnings of a configuration (refactoring specification, section 7)."""
    try:
        config = parse_config(raw)
    except ConfigError as error:
        return list(error.problems), []
    warning = overlap_unsaid(config.to_dict())
    return [], [] if warning is None else [warning]


def compute_warmup_duration(duration_ms: float) -> float:
    """What is not measured at either end, in ms: min(900 s, T / 4) (experiment plan)."""
    return margin_ms(duration_ms)
