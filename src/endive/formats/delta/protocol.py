"""How a client of Delta commits: what Delta Spark does and what delta-rs does, as one record of choices.

Delta Spark: ``OptimisticTransaction.doCommitRetryIteratively``, ``SnapshotManagement.updateAfterCommit``. delta-rs:
``PreparedCommit::into_future``. What a choice costs is in ``endive.formats.delta.plan``.
"""

from typing import Final

from endive.formats.delta.table import LogSizes
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
    file_reads: Int32 = 1  # how often each commit file is read to load or update a table, one round after another
    checkpoint_reads: Int32 = 1  # ranges of a checkpoint that are read one after another
    protocol_reads: Int32  # the same, where protocol and metadata alone are looked for
    schema_reads: Int32  # and how many more, where no hint has told what the checkpoint looks like
    after_lists: Int32  # listings after a commit that tell nothing new
    own_reads: Int32  # how often it reads its own commit afterwards
    checkpoint_lists: Int32  # listings that go with a checkpoint
    files_per_delete: Int32 = 1  # of the log, where expired ones are deleted
    client: Int8
    log_store: Int8
    looks_first: Int8  # it lists the log before its first attempt
    updates_to_retry: Int8  # it brings its table up to date before it tries again
    lists_again: Int8  # it lists the log once more when it has loaded its table, and goes on from that
    is_lazy: Int8  # files are listed from the checkpoint and all behind it, and only by a txn that has to know them
    is_checksummed: Int8  # it writes a checksum file beside its commit, and begins with the newest
    looks_at_kept: Int8  # a table that is kept is brought up to date when a txn begins
    cleans_log: Int8  # commits older than the retention are deleted after a checkpoint
    replay_us: Int64  # of work, each time it has read the log


@record
class DeltaSettings(Record):
    """All that Delta's rules are told about a simulation."""

    protocol: DeltaProtocol
    sizes: LogSizes


PRESETS: Final[dict[str, dict[str, int]]] = {
    "spark": {
        "checkpoint_reads": 3,
        "protocol_reads": 5,
        "schema_reads": 2,
        "looks_at_kept": 1,
        "lists_again": 1,
        "is_lazy": 1,
        "is_checksummed": 1,
        "checkpoint_lists": 2,
    },
    "delta_rs": {
        "file_reads": 2,
        "checkpoint_reads": 11,
        "looks_first": 1,
        "updates_to_retry": 1,
        "after_lists": 2,
        "own_reads": 2,
        "checkpoint_lists": 1,
        "files_per_delete": 1000,
    },
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
    return last_checkpoint(protocol, version) == version


@rule
def last_checkpoint(protocol: DeltaProtocol, version: int) -> int:
    """The newest version up to ``version`` that has a checkpoint, or 0.

    A version counts commits; the number in a commit file's name is one less. Delta Spark goes by that number, and makes
    none of its first commit; delta-rs goes by the count.
    """
    interval = protocol.checkpoint_interval
    if protocol.client == DELTA_RS:
        return version // interval * interval
    number = (version - 1) // interval * interval
    return number + 1 if number > 0 else 0
