"""What follows a failed txn: nothing, its data in the next commit, a restart of its job, or the same statement again.

Rules for both engines. ``carried`` changes no time: which commit makes whose data visible is told after the run
(``endive.results.freshness``).
"""

from typing import Final

from endive.kernel import rule
from endive.record import Int8, Int32, Int64, Record, record
from endive.rng import substream
from endive.vocabulary import COMMIT_STATE_UNKNOWN, NO_REASON

AFTERMATHS: Final = ("lost", "carried", "restart", "rerun")
LOST, CARRIED, RESTART, RERUN = range(len(AFTERMATHS))

RERUN_STREAM: Final = 1 << 40  # status checks have the streams before it


@record
class Aftermath(Record):
    """What a source does about its failed txns."""

    pause_us: Int64  # before a job that restarts submits again, or a statement is run again
    reruns_max: Int32
    kind: Int8


@rule
def runs_again(aftermath: Aftermath, reason: int, reruns: int) -> bool:
    """Whether whoever scheduled the txn runs it once more; not if it may have committed."""
    if aftermath.kind != RERUN or reason == NO_REASON or reason == COMMIT_STATE_UNKNOWN:
        return False
    return reruns < aftermath.reruns_max


@rule
def rerun_key(key: int, rerun: int) -> int:
    """The key of what is drawn for a rerun: it meets another fate than the run before."""
    return substream(key, RERUN_STREAM + rerun)


@rule
def restarts_client(aftermath: Aftermath, is_committed: bool) -> bool:
    """Whether the txn's failure takes its client down, and what it kept of the table with it."""
    return aftermath.kind == RESTART and not is_committed


@rule
def restarted_us(aftermath: Aftermath, failed_us: int, stop_us: int, never: int) -> int:
    """When a client that went down submits again; ``never`` if its source has ended by then."""
    due_us = failed_us + aftermath.pause_us
    if due_us >= stop_us:
        return never
    return due_us
