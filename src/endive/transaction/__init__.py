"""Transactions: what an attempt costs, what a refusal means, when to give up."""

from endive.distributions.counts import CountDistribution
from endive.formats.iceberg.attempt import AttemptCost, ConflictCost
from endive.formats.iceberg.protocol import CommitProtocol
from endive.transaction.detectors import (
    ConflictDetector,
    FilesConflictDetector,
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
)
from endive.transaction.kinds import (
    TRANSACTION_TYPES,
    FastAppendTransaction,
    MergeAppendTransaction,
    RewriteFilesTransaction,
    ValidatedOverwriteTransaction,
)
from endive.transaction.retry import Backoff
from endive.transaction.transaction import Transaction
from endive.transaction.transaction_values import (
    TransactionDraft,
    TransactionResult,
    TransactionStatus,
    TransactionTerms,
    World,
)

__all__ = [
    "TRANSACTION_TYPES",
    "AttemptCost",
    "Backoff",
    "CommitProtocol",
    "ConflictCost",
    "ConflictDetector",
    "CountDistribution",
    "FastAppendTransaction",
    "FilesConflictDetector",
    "MergeAppendTransaction",
    "PartitionOverlapConflictDetector",
    "ProbabilisticConflictDetector",
    "RewriteFilesTransaction",
    "Transaction",
    "TransactionDraft",
    "TransactionResult",
    "TransactionStatus",
    "TransactionTerms",
    "ValidatedOverwriteTransaction",
    "World",
]
