"""What Delta keeps of a table: commits by what they did, the last checkpoint, and how far the log is cleaned up.

Counters only ever grow, so that the history between two versions is a subtraction and never a walk.
"""

from endive.kernel import rule
from endive.record import Int64, Record, record


@record
class DeltaTable(Record):
    """Delta's own part of a table's state. Blind appends are the table's ``appends``."""

    added: Int64  # commits that added files and had read something
    removed: Int64  # commits that changed data and removed files
    rearranged: Int64  # commits that removed files and changed no data
    checkpoint: Int64  # the version that the last checkpoint holds
    cleaned: Int64  # the newest version whose commit file is deleted


@record
class LogSizes(Record):
    """Sizes of the files of a log, and how they grow."""

    commit_bytes: Int64 = 2_000
    checkpoint_base_bytes: Int64 = 15_000
    checkpoint_bytes_per_commit: Int64 = 100
    hint_bytes: Int64 = 500
    checksum_bytes: Int64 = 1_000


@rule
def checkpoint_bytes(sizes: LogSizes, version: int) -> int:
    """Size of a checkpoint of this version."""
    return sizes.checkpoint_base_bytes + version * sizes.checkpoint_bytes_per_commit
