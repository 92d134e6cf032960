"""The values of a txn: the terms it retries on, what it will do, the world it finds.

Terms and drafts are drawn by ``endive.workload``, costs are counted by ``endive.formats``, and
``endive.transaction.transaction`` lives by them. The row of a txn in the results is ``endive.results.schema``'s.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from endive.catalog.catalog import Catalog
from endive.catalog.rules import LockTerms
from endive.distributions.counts import CountDistribution
from endive.formats.content import Tables
from endive.formats.nesting import FormatSettings
from endive.formats.operation import Operation
from endive.storage.client import Clock
from endive.storage.provider import StorageProvider
from endive.transaction.aftermath import Aftermath
from endive.transaction.failures import Failures
from endive.transaction.ordering import CommitQueue
from endive.transaction.retry import Backoff

if TYPE_CHECKING:  # a detector judges by rules, and those fill in the costs defined here
    from endive.transaction.detectors import ConflictDetector


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionTerms:
    """How a source's txns retry, wait and validate, as its configuration says."""

    retries_max: int
    total_timeout_us: int  # 0: none
    application_retries: int
    backoff: Backoff  # before a retry
    operation: Operation  # what its txns do, but for the kind
    real_conflict_probability: float
    touched_files: CountDistribution | None = None  # None: not said
    is_by_files: bool = False  # whether it meets others is a matter of the files both touch
    keeps_table: bool = False  # a client's next txn begins with what its last one knew
    queue: int = -1  # in which its txns wait for their turn to commit; -1: they do not
    aftermath: Aftermath = field(default_factory=Aftermath)  # what follows a failure


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionDraft:
    """All that is decided about a txn when it is submitted."""

    kind: int
    runtime_us: int
    tables_read: tuple[int, ...]  # the written ones first, both parts ascending
    n_tables_written: int
    partitions: tuple[tuple[tuple[int, ...], int], ...]  # per table read: (partitions, n_written); () if off
    touched_files: int = 0  # of every table it writes, by all commits of its job together
    job_key: int | None = None  # of what all commits of its job share; None: it is the only one
    group: int = 0  # which of the job's groups of files it commits
    groups: int = 1

    @property
    def tables_written(self) -> tuple[int, ...]:
        """The write set, ascending."""
        return self.tables_read[: self.n_tables_written]


def _wake_nobody(txn_id: int) -> None:
    raise AssertionError(f"txn {txn_id} waits, and this world has no queue")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything a txn may use; it shares nothing else with other txns."""

    clock: Clock
    storage: StorageProvider
    catalog: Catalog
    tables: Tables
    detector: "ConflictDetector"
    format: FormatSettings
    failures: Failures
    is_pointer_checked: bool  # a commit reads the pointer once more before it swaps (JDBC, Hive, Glue)
    is_partition_scoped: bool
    lock: LockTerms = field(default_factory=LockTerms)  # before the pointer is looked at and swapped
    queues: tuple[CommitQueue, ...] = ()
    wake: Callable[[int], None] = _wake_nobody  # the txn with this id goes on at this instant


class TransactionStatus(Enum):
    """Where a txn stands."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMMITTING = "committing"
    COMMITTED = "committed"
    ABORTED = "aborted"
