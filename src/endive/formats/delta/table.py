"""What Delta keeps of a table: commits by what they did, checkpoint and checksums, and how far the log is cleaned up.

Counters only ever grow, so that the history between two versions is a subtraction and never a walk.
"""

from typing import Final

from endive.kernel import rule
from endive.record import Int64, Record, record

CHECKSUMS: Final = 62  # of so many of the newest versions it is known whether they have one; older ones have
ALL_CHECKSUMS: Final = (1 << CHECKSUMS) - 1


@record
class DeltaTable(Record):
    """Delta's own part of a table's state. Blind appends are the table's ``appends``."""

    added: Int64  # commits that added files and had read something
    removed: Int64  # commits that changed data and removed files
    rearranged: Int64  # commits that removed files and changed no data
    checkpoint: Int64  # the version that the last checkpoint holds
    cleaned: Int64  # the newest version whose commit file is deleted
    checksums: Int64  # a bit for each of the newest versions, the newest one's lowest: whether its checksum is there


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


@rule
def has_checksum(table: DeltaTable) -> bool:
    """Whether the checksum of the newest version is there."""
    return (table.checksums & 1) == 1
