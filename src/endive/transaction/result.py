"""What became of one txn, in the words of those who wrote it.

This file defines the value a user's own transaction type or workload may look at when a txn is over. The row that
goes into the results is ``endive.results.schema``'s.
"""

from dataclasses import dataclass
from enum import Enum


class TransactionStatus(Enum):
    """Where a txn stands."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMMITTING = "committing"
    COMMITTED = "committed"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionResult:
    """The end of a txn; times that never came are -1."""

    status: TransactionStatus
    commit_time_ms: float
    abort_time_ms: float
    abort_reason: str | None
    total_retries: int
    commit_latency_ms: float
    total_latency_ms: float
    manifest_list_reads: int
    manifest_list_writes: int
    manifest_file_reads: int
    manifest_file_writes: int
