"""Transactions: the life of one, what a refusal means, when to give up. True of any optimistic format."""

from endive.distributions.counts import CountDistribution
from endive.formats.iceberg.attempt import AttemptCost
from endive.formats.iceberg.protocol import CommitProtocol
from endive.formats.nesting import Plan, Situation
from endive.transaction.conflict_cost import ConflictCost
from endive.transaction.detectors import (
    ConflictDetector,
    FilesConflictDetector,
    PartitionOverlapConflictDetector,
    ProbabilisticConflictDetector,
)
from endive.transaction.retry import Backoff
from endive.transaction.specified_names import (
    FastAppendTransaction,
    MergeAppendTransaction,
    TransactionResult,
    ValidatedOverwriteTransaction,
)
from endive.transaction.transaction import Transaction
from endive.transaction.transaction_values import TransactionDraft, TransactionStatus, TransactionTerms, World

__all__ = [
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
    "Plan",
    "ProbabilisticConflictDetector",
    "Situation",
    "Transaction",
    "TransactionDraft",
    "TransactionResult",
    "TransactionStatus",
    "TransactionTerms",
    "ValidatedOverwriteTransaction",
    "World",
]
