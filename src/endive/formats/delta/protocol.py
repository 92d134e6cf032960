"""How a client of Delta commits: what Delta Spark does and what delta-rs does, as one record of choices.

Delta Spark: ``OptimisticTransaction.doCommitRetryIteratively``, ``SnapshotManagement.updateAfterCommit``. delta-rs:
``PreparedCommit::into_future``. What a choice costs is in ``endive.formats.delta.plan``.
"""

from typing import Final

from endive.kernel import rule
from endive.record import Int8, Int32, Int64, Record, record
from endive.vocabulary import CLIENTS, LOG_STORES

SPARK, DELTA_RS = range(len(CLIENTS))
PUT_IF_ABSENT, DYNAMODB, SINGLE_DRIVER, CATALOG_MANAGED = range(len(LOG_STORES))


@record
class DeltaProtocol(Record):
    """Every choice of a client, and where it commits."""

    checkpoint_interval: Int32 = 10  # commits from one checkpoint to the next
    parallel_max: Int32 = 1  # files of the log that are read at a time when a table is loaded
    file_reads: Int32 = 1  # how often each commit file is read to load or update a table
    after_lists: Int32  # listings after a commit that tell nothing new
    client: Int8
    log_store: Int8
    looks_first: Int8  # it lists the log before its first attempt
    updates_to_retry: Int8  # it brings its table up to date before it tries again
    rereads: Int8  # it lists the log after its commit, and builds its next table on what it sees
    is_checksummed: Int8  # it writes a checksum file beside its commit
    looks_at_kept: Int8  # a table that is kept is brought up to date when a txn begins
    cleans_log: Int8  # commits older than the retention are deleted after a checkpoint
    retention_us: Int64


PRESETS: Final[dict[str, dict[str, int]]] = {
    "spark": {"file_reads": 1, "rereads": 1, "is_checksummed": 1, "looks_at_kept": 1},
    "delta_rs": {"file_reads": 2, "looks_first": 1, "updates_to_retry": 1, "after_lists": 2},
}


@rule
def must_read_log(protocol: DeltaProtocol, attempt: int) -> bool:
    """Whether an attempt lists the log before it builds."""
    return protocol.looks_first == 1 or attempt > 1


@rule
def lists_beside(protocol: DeltaProtocol) -> bool:
    """Whether the commit point is asked first, and the folder of the log is listed besides."""
    return protocol.log_store == DYNAMODB or protocol.log_store == CATALOG_MANAGED


@rule
def makes_checkpoint(protocol: DeltaProtocol, version: int) -> bool:
    """Whether the commit that makes ``version`` writes a checkpoint."""
    return version % protocol.checkpoint_interval == 0
