"""A commit protocol: a small set of named choices, written once and executed by every engine.

Owns the names of the choices, their integer codes and the vector both engines hand to the rules.
Does not own what a choice costs; see ``endive.transaction.rules``.
"""

from dataclasses import dataclass

# Places in the protocol vector.
BASE = 0
IO = 1
OWN_MANIFEST = 2
METADATA = 3
HISTORY = 4
HISTORY_PARALLEL = 5
MERGING = 6
MERGE_COUNT_MIN = 7
REAL_CONFLICT = 8
AFTER_SUCCESS = 9
LIST_HEAD = 10
IS_INLINED = 11
IS_LIST_APPENDED = 12
PARALLEL_MAX = 13
SERVER_WRITES_METADATA = 14
MERGE_PER_COMMIT_MILLIONTHS = 15
IS_WRITTEN_HEADED = 16
N_PROTOCOL = 17

# Codes, in the order of the names below.
BASE_REFRESH, BASE_START = 0, 1
IO_BEFORE_SWAP, IO_AFTER_FAILURE = 0, 1
OWN_ONCE, OWN_EACH_ATTEMPT, OWN_NONE = 0, 1, 2
METADATA_EACH_ATTEMPT, METADATA_IF_CURRENT, METADATA_PER_CONFLICT, METADATA_PER_FALSE_CONFLICT = 0, 1, 2, 3
HISTORY_FIXED_START, HISTORY_FIXED_START_ON_RETRY, HISTORY_SINCE_LAST, HISTORY_EVERY_KIND, HISTORY_NONE = range(5)
MERGING_BINS, MERGING_OFF, MERGING_N_BEHIND = 0, 1, 2
REAL_ABORT, REAL_MERGE = 0, 1
AFTER_RELOAD, AFTER_NONE, AFTER_CLEAN_UP = 0, 1, 2

BASES = ("refresh", "start")
IO_PLACEMENTS = ("before_swap", "after_failure")
OWN_MANIFESTS = ("once", "each_attempt", "none")
METADATA_CHOICES = ("each_attempt", "if_current", "per_conflict", "per_false_conflict")
HISTORIES = ("fixed_start", "fixed_start_on_retry", "since_last_attempt", "every_kind", "none")
MERGINGS = ("bins", "off", "n_behind")
REAL_CONFLICTS = ("abort", "merge")
AFTER_SUCCESSES = ("reload", "none", "clean_up")

MILLIONTHS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitProtocol:
    """Every choice of one protocol, by name; ``vector()`` is what the rules read."""

    base: str
    io: str
    own_manifest: str
    metadata: str
    history: str
    is_history_serial: bool
    merging: str
    merge_count_min: int
    real_conflict: str
    after_success: str
    is_list_read_after_head: bool
    is_metadata_inlined: bool
    is_list_appended: bool
    parallel_max: int
    is_metadata_written_by_server: bool
    merged_manifests_per_commit: float
    is_written_headed: bool

    def vector(self) -> tuple[int, ...]:
        """The choices as integers, in the order of the place constants above."""
        return (
            BASES.index(self.base),
            IO_PLACEMENTS.index(self.io),
            OWN_MANIFESTS.index(self.own_manifest),
            METADATA_CHOICES.index(self.metadata),
            HISTORIES.index(self.history),
            1 if self.is_history_serial else self.parallel_max,
            MERGINGS.index(self.merging),
            self.merge_count_min,
            REAL_CONFLICTS.index(self.real_conflict),
            AFTER_SUCCESSES.index(self.after_success),
            int(self.is_list_read_after_head),
            int(self.is_metadata_inlined),
            int(self.is_list_appended),
            self.parallel_max,
            int(self.is_metadata_written_by_server),
            round(self.merged_manifests_per_commit * MILLIONTHS),
            int(self.is_written_headed),
        )
