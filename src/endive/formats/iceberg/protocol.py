"""A commit protocol: a small set of named choices, written once and executed by every engine.

The choices, their names, the records that rules read, and questions that a choice answers by itself. What one costs is
in ``endive.formats.iceberg.plan``.
"""

from typing import Final

from endive.distributions.counts import Counting
from endive.formats.iceberg.table import ObjectSizes
from endive.formats.operation import Operation
from endive.kernel import rule
from endive.record import Int8, Int32, Int64, Record, record
from endive.vocabulary import EXPIRE_SNAPSHOTS, FAST_APPEND, MERGE_APPEND, RELEASES, REWRITE_MANIFESTS

# Names of the choices; a code is the place of its name.
BASES: Final = ("refresh", "start")
BASE_REFRESH, BASE_START = range(len(BASES))

IO_PLACEMENTS: Final = ("before_swap", "after_failure")
IO_BEFORE_SWAP, IO_AFTER_FAILURE = range(len(IO_PLACEMENTS))

REPAIRS: Final = ("after_refresh", "before_refresh")
REPAIR_AFTER_REFRESH, REPAIR_BEFORE_REFRESH = range(len(REPAIRS))

OWN_MANIFESTS: Final = ("once", "each_attempt", "none")
OWN_ONCE, OWN_EACH_ATTEMPT, OWN_NONE = range(len(OWN_MANIFESTS))

METADATA_CHOICES: Final = ("each_attempt", "if_current", "per_conflict", "per_false_conflict")
METADATA_EACH_ATTEMPT, METADATA_IF_CURRENT, METADATA_PER_CONFLICT, METADATA_PER_FALSE_CONFLICT = range(
    len(METADATA_CHOICES)
)

HISTORIES: Final = ("fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind", "none")
HISTORY_FIXED_START, HISTORY_FIXED_START_ON_RETRY, HISTORY_SINCE_LAST, HISTORY_EVERY_KIND, HISTORY_NONE = range(
    len(HISTORIES)
)

MERGINGS: Final = ("bins", "off", "n_behind", "flush")
MERGING_BINS, MERGING_OFF, MERGING_N_BEHIND, MERGING_FLUSH = range(len(MERGINGS))

REAL_CONFLICTS: Final = ("abort", "merge")
REAL_ABORT, REAL_MERGE = range(len(REAL_CONFLICTS))

AFTER_SUCCESSES: Final = ("reload", "none", "clean_up")
AFTER_RELOAD, AFTER_NONE, AFTER_CLEAN_UP = range(len(AFTER_SUCCESSES))

LOAD_ANSWERS: Final = ("snapshots", "refs")
LOAD_ANSWER_SNAPSHOTS, LOAD_ANSWER_REFS = range(len(LOAD_ANSWERS))

SERVER_READS: Final = ("never", "load", "load_and_commit")
SERVER_READS_NEVER, SERVER_READS_LOAD, SERVER_READS_BOTH = range(len(SERVER_READS))

RELEASE_1_9, RELEASE_1_10, RELEASE_1_11 = range(len(RELEASES))

MILLIONTHS: Final = 1_000_000


@record
class CommitProtocol(Record):
    """Every choice of one protocol, by code."""

    merge_per_commit_millionths: Int64  # manifests a merge append re-merges per commit it is behind
    answer_us_per_mib: Int64  # that the metadata in a REST server's answer takes; 0: it is not charged
    merge_count_min: Int32  # smallest bin of manifests that is merged
    history_parallel: Int32  # lists of the history read at a time
    parallel_max: Int32  # requests at a time elsewhere
    base: Int8
    io: Int8
    repair: Int8
    own_manifest: Int8
    metadata: Int8
    history: Int8
    merging: Int8
    real_conflict: Int8
    after_success: Int8
    release: Int8
    is_list_headed: Int8  # a HEAD goes before each read of a manifest list
    is_written_headed: Int8  # and after each write of a manifest, before each write of metadata
    is_inlined: Int8  # table metadata lives in the catalog object
    is_list_appended: Int8  # manifest lists are appended to (ML+)
    is_metadata_servers: Int8  # the server writes the metadata object
    is_metadata_always_read: Int8  # by every attempt, the first included
    reads_root: Int8  # a retry reads the metadata once, inlined or not, as the refactoring specification's costs say
    server_reads: Int8  # when a REST server reads the metadata object from the store
    load_answer: Int8  # what its answer to a load carries


@record
class IcebergSettings(Record):
    """All that Iceberg's rules are told about a simulation."""

    protocol: CommitProtocol
    pyiceberg: CommitProtocol  # of the operations that PyIceberg commits beside others
    sizes: ObjectSizes
    conflicting: Counting  # manifests a real conflict has to merge
    list_entry_bytes: Int64  # of manifest lists that are appended to (ML+)
    list_seal_bytes: Int64


@rule
def protocol_of(settings: IcebergSettings, operation: Operation) -> CommitProtocol:
    """The protocol that an operation's client follows."""
    if operation.client == 1:
        return settings.pyiceberg
    return settings.protocol


@rule
def loads_metadata(protocol: CommitProtocol) -> bool:
    """Whether loading a table at the start of a txn reads its metadata object."""
    if protocol.is_inlined == 1:
        return False
    if protocol.is_metadata_servers == 1:
        return protocol.server_reads != SERVER_READS_NEVER
    return True


@rule
def must_read_catalog(protocol: CommitProtocol, attempt: int, is_state_known: bool) -> bool:
    """Whether this attempt pays a catalog read before it builds."""
    if protocol.base == BASE_REFRESH:
        return True
    return attempt > 1 and not is_state_known


@rule
def reads_base_last(protocol: CommitProtocol, operation: Operation, attempt: int) -> bool:
    """Whether a retry repairs what the refusal told and only then reads the version it swaps on.

    Maintenance, which the documents do not have, decides on the version it commits to.
    """
    if operation.kind == EXPIRE_SNAPSHOTS or operation.kind == REWRITE_MANIFESTS:
        return False
    return protocol.repair == REPAIR_BEFORE_REFRESH and attempt > 1


@rule
def checks_before_metadata(protocol: CommitProtocol) -> bool:
    """Whether the attempt asks if its base is still current before it writes the metadata object."""
    return protocol.metadata == METADATA_IF_CURRENT and protocol.is_metadata_servers == 0


@rule
def reloads_after_success(protocol: CommitProtocol) -> bool:
    """Whether a committed operation reads its table back (``SnapshotProducer.commit`` after the swap)."""
    return protocol.after_success == AFTER_RELOAD


@rule
def rereads_catalog(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether a committed operation reads the catalog once more to learn the new state.

    A REST server's answer to a commit carries it, and a fast append is content with that (``FastAppend.updateEvent``
    asks for the current state, ``MergingSnapshotProducer.updateEvent`` refreshes). From 1.11 on all refresh, but for a
    ``BaseTransaction``, which is content with it too.
    """
    is_content = operation.is_in_transaction == 1 or (operation.kind == FAST_APPEND and protocol.release < RELEASE_1_11)
    return reloads_after_success(protocol) and (protocol.is_metadata_servers == 0 or not is_content)


@rule
def reloads_metadata(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether what is read back after a commit is the metadata object too, by the client or by its server."""
    if protocol.is_inlined == 1:
        return False
    if protocol.is_metadata_servers == 0:
        return True
    return protocol.server_reads != SERVER_READS_NEVER and rereads_catalog(protocol, operation)


@rule
def cleans_up(protocol: CommitProtocol) -> bool:
    """Whether what lost attempts wrote is deleted, one request each."""
    return protocol.after_success != AFTER_NONE


@rule
def writes_beside_list(protocol: CommitProtocol, operation: Operation) -> bool:
    """Whether an append writes its own manifest while it reads the current list (``_SnapshotProducer._manifests``)."""
    return protocol.own_manifest == OWN_EACH_ATTEMPT and (
        operation.kind == FAST_APPEND or operation.kind == MERGE_APPEND
    )


@rule
def rewrites_own_manifests(protocol: CommitProtocol) -> bool:
    """Whether each attempt writes the manifests of its own files again, so that a lost one leaves them behind."""
    return protocol.own_manifest == OWN_EACH_ATTEMPT
