"""Names that the refactoring specification fixes and the simulator does not use: thin adapters for its readers.

A kind of operation is a number here, and what it costs is a rule of the table's format. The specification has a class
for each kind instead, which says what a conflict costs and whether a real one ends the txn.
"""

from dataclasses import dataclass

from endive.storage.client import count_sent
from endive.transaction.transaction import Transaction
from endive.transaction.transaction_values import TransactionStatus
from endive.vocabulary import (
    FAST_APPEND,
    MANIFEST,
    MANIFEST_LIST,
    MERGE_APPEND,
    NO_REASON,
    READ,
    REASONS,
    VALIDATED_OVERWRITE,
    WRITE,
)


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


class SpecifiedTransaction(Transaction):
    """A txn with the result that the specification describes."""

    kind: int

    @property
    def result(self) -> TransactionResult:
        """How it ended; ask when it has."""
        row, is_committed = self.row, self.status is TransactionStatus.COMMITTED
        end_ms = row.end_us / 1000.0
        return TransactionResult(
            status=self.status,
            commit_time_ms=end_ms if is_committed else -1.0,
            abort_time_ms=end_ms if self.status is TransactionStatus.ABORTED else -1.0,
            abort_reason=None if row.reason == NO_REASON else REASONS[row.reason],
            total_retries=max(0, row.attempts - 1),
            commit_latency_ms=(row.end_us - row.commit_start_us) / 1000.0,
            total_latency_ms=(row.end_us - row.submit_us) / 1000.0,
            manifest_list_reads=count_sent(row, MANIFEST_LIST, READ),
            manifest_list_writes=count_sent(row, MANIFEST_LIST, WRITE),
            manifest_file_reads=count_sent(row, MANIFEST, READ),
            manifest_file_writes=count_sent(row, MANIFEST, WRITE),
        )


class FastAppendTransaction(SpecifiedTransaction):
    """Adds files and looks at nothing: never in real conflict (Iceberg: ``FastAppend``)."""

    kind = FAST_APPEND


class MergeAppendTransaction(SpecifiedTransaction):
    """Adds files and merges small manifests on the way (Iceberg: ``MergeAppend``)."""

    kind = MERGE_APPEND


class ValidatedOverwriteTransaction(SpecifiedTransaction):
    """Replaces rows it has read: validates against all that happened since (``RowDelta``, ``OverwriteFiles``)."""

    kind = VALIDATED_OVERWRITE
