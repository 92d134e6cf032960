"""What is settled about a txn before it starts: what it will do, and on which terms it retries.

This file defines those two values. Drawing them belongs to ``endive.workload``; living by them to the txn.
"""

from dataclasses import dataclass

from endive.transaction.counts import CountDistribution
from endive.transaction.retry import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionTerms:
    """How a source's txns retry, wait and validate, as its configuration says."""

    retries_max: int
    total_timeout_us: int  # 0: none
    application_retries: int
    backoff_policy: str
    backoff_base_ms: float
    backoff_multiplier: float
    backoff_max_ms: float
    backoff_jitter: float
    isolation: str
    overwrite: str
    rewritten_manifests: int
    real_conflict_probability: float
    is_referring: bool = True  # a row delta names the data files its deletes belong to
    touched_files: CountDistribution | None = None  # None: not said
    is_by_files: bool = False  # whether it meets others is a matter of the files both touch
    retain_last: int = 1  # newest snapshots that an expiry keeps
    expire_age_us: int = 0  # and those younger than this; 0: however young, the others go
    keeps_table: bool = False  # a client's next txn begins with what its last one knew

    @property
    def backoff(self) -> Backoff:
        """How long its txns wait before a retry."""
        return Backoff(
            policy=self.backoff_policy,
            base_ms=self.backoff_base_ms,
            multiplier=self.backoff_multiplier,
            max_ms=self.backoff_max_ms,
            jitter=self.backoff_jitter,
        )


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
