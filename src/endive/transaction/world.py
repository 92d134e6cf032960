"""What a txn finds around it: a clock, a store, a catalog, and the protocol it commits by.

This file defines nothing of its own; it is the one argument a txn's life takes.
"""

from dataclasses import dataclass

from endive.catalog.catalog import Catalog
from endive.catalog.rules import ObjectSizes
from endive.storage.client import Clock
from endive.storage.provider import StorageProvider
from endive.transaction.counts import CountDistribution
from endive.transaction.detectors import ConflictDetector
from endive.transaction.failures import Failures
from endive.transaction.protocol import CommitProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything a txn may use; it shares nothing else with other txns."""

    clock: Clock
    storage: StorageProvider
    catalog: Catalog
    detector: ConflictDetector
    protocol: CommitProtocol
    sizes: ObjectSizes
    failures: Failures
    conflicting: CountDistribution
    list_entry_bytes: int
    list_seal_threshold_bytes: int
    is_pointer_checked: bool  # a commit reads the pointer once more before it swaps (JDBC, Hive, Glue)
    is_partition_scoped: bool
