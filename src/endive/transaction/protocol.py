"""A commit protocol: a small set of named choices, written once and executed by every engine.

This file defines the choices, their names and the record the rules read. What a choice costs is in
``endive.transaction.rules``.
"""

from typing import Final

from endive.record import Int8, Int32, Int64, Record, record

# Names of the choices; a code is the place of its name.
BASES: Final = ("refresh", "start")
BASE_REFRESH, BASE_START = range(len(BASES))

IO_PLACEMENTS: Final = ("before_swap", "after_failure")
IO_BEFORE_SWAP, IO_AFTER_FAILURE = range(len(IO_PLACEMENTS))

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

MERGINGS: Final = ("bins", "off", "n_behind")
MERGING_BINS, MERGING_OFF, MERGING_N_BEHIND = range(len(MERGINGS))

REAL_CONFLICTS: Final = ("abort", "merge")
REAL_ABORT, REAL_MERGE = range(len(REAL_CONFLICTS))

AFTER_SUCCESSES: Final = ("reload", "none", "clean_up")
AFTER_RELOAD, AFTER_NONE, AFTER_CLEAN_UP = range(len(AFTER_SUCCESSES))

MILLIONTHS: Final = 1_000_000


@record
class CommitProtocol(Record):
    """Every choice of one protocol, by code."""

    merge_per_commit_millionths: Int64  # manifests a merge append re-merges per commit it is behind
    merge_count_min: Int32  # smallest bin of manifests that is merged
    history_parallel: Int32  # lists of the history read at a time
    parallel_max: Int32  # requests at a time elsewhere
    base: Int8
    io: Int8
    own_manifest: Int8
    metadata: Int8
    history: Int8
    merging: Int8
    real_conflict: Int8
    after_success: Int8
    is_list_headed: Int8  # a HEAD goes before each read of a manifest list
    is_written_headed: Int8  # and after each write of a manifest, before each write of metadata
    is_inlined: Int8  # table metadata lives in the catalog object
    is_list_appended: Int8  # manifest lists are appended to (ML+)
    is_metadata_servers: Int8  # the server writes the metadata object
    is_metadata_always_read: Int8  # by every attempt, the first included
