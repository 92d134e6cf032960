"""Failures that are not refusals: commit requests whose answer never arrives.

What the txn does about it is in ``endive.transaction.status_check`` (reference engine) and in
``endive.simulation.compiled.outgoing``.
"""

from endive.kernel import rule
from endive.record import Float, Int8, Int32, Int64, Record, record
from endive.rng import LOST_ANSWER, STATUS_WAIT, slot, uniform
from endive.transaction.retry import BACKOFF_ICEBERG, backoff_us

# How an attempt ends, as its txn knows it.
REFUSED, INSTALLED, UNKNOWN = range(3)

# Between two checks, as between two attempts (Iceberg: Tasks.exponentialBackoff, Tasks.runTaskWithRetry).
WAIT_MULTIPLIER = 2.0
WAIT_JITTER = 0.1


@record
class Failures(Record):
    """What goes wrong, and what a txn does about it; nothing does by default."""

    lost_answer_rate: Float
    lost_check_rate: Float
    check_wait_min_ms: Float
    check_wait_max_ms: Float
    timeout_us: Int64  # after which a client gives up on an answer
    checks_max: Int32
    is_absent_refused: Int8  # a commit that a check does not find counts as refused; else as unknown


@rule
def loses_answer(failures: Failures, key: int, attempt: int) -> bool:
    """Whether the answer to the commit request of an attempt is lost."""
    rate = failures.lost_answer_rate
    return rate > 0.0 and uniform(key, slot(attempt, LOST_ANSWER, 0)) < rate


@rule
def loses_check(failures: Failures, key: int, attempt: int) -> bool:
    """Whether the answer to a status check is lost; ``key`` is the check's own."""
    return uniform(key, slot(attempt, LOST_ANSWER, 1)) < failures.lost_check_rate


@rule
def given_up_us(failures: Failures, sent_us: int, due_us: int) -> int:
    """When a client stops waiting for a lost answer that was due at ``due_us``.

    Never before that: the server has evaluated the request by then, and what a check finds is final.
    """
    return max(due_us, sent_us + failures.timeout_us)


@rule
def check_wait_us(failures: Failures, key: int, attempt: int, checks: int) -> int:
    """The wait after ``checks`` checks that failed; ``key`` is the next one's own."""
    return backoff_us(
        BACKOFF_ICEBERG,
        failures.check_wait_min_ms,
        WAIT_MULTIPLIER,
        failures.check_wait_max_ms,
        WAIT_JITTER,
        checks,
        0,
        uniform(key, slot(attempt, STATUS_WAIT, 0)),
    )


@rule
def outcome_of_check(failures: Failures, is_installed: bool) -> int:
    """What a txn knows once a check was answered: its commit is in the history, or it is not."""
    if is_installed:
        return INSTALLED
    return REFUSED if failures.is_absent_refused == 1 else UNKNOWN
