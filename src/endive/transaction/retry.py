"""How long a txn waits before it tries again.

The arithmetic of every backoff policy, once, the names of the policies, and when a txn stops trying.
"""

from dataclasses import dataclass

from endive.kernel import rule
from endive.vocabulary import (
    CONCURRENT_APPEND,
    HISTORY_EXPIRED,
    LOG_CLEANED_UP,
    NO_REASON,
    RETRIES_EXHAUSTED,
    TIMEOUT,
    VALIDATION_EXCEPTION,
)

BACKOFF_NONE = 0
BACKOFF_FIXED = 1  # base, plus or minus jitter
BACKOFF_EXPONENTIAL = 2  # base x multiplier^(retry - 1), capped, plus or minus jitter
BACKOFF_ICEBERG = 3  # the same, plus up to jitter and never minus (Iceberg: Tasks.runTaskWithRetry)
BACKOFF_FULL_JITTER = 4  # anything from nothing to the capped exponential
BACKOFF_DECORRELATED = 5  # anything from base to multiplier x the wait before, capped

# The four strategies of the six classic studies are exponential ones with figures of their own.
POLICIES = {
    "none": BACKOFF_NONE,
    "fixed": BACKOFF_FIXED,
    "exponential": BACKOFF_EXPONENTIAL,
    "conservative": BACKOFF_EXPONENTIAL,
    "moderate": BACKOFF_EXPONENTIAL,
    "aggressive": BACKOFF_EXPONENTIAL,
    "iceberg": BACKOFF_ICEBERG,
    "full_jitter": BACKOFF_FULL_JITTER,
    "decorrelated_jitter": BACKOFF_DECORRELATED,
}


@rule
def backoff_us(
    policy: int,
    base_ms: float,
    multiplier: float,
    max_ms: float,
    jitter: float,
    retry: int,
    previous_us: int,
    u: float,
) -> int:
    """The wait before retry number ``retry`` (1 for the first), ``u`` uniform in (0, 1)."""
    if policy == BACKOFF_NONE:
        return 0
    wait_ms = base_ms
    if policy == BACKOFF_DECORRELATED:
        longest_ms = base_ms if previous_us == 0 else previous_us / 1000.0
        longest_ms *= multiplier
        wait_ms = base_ms + u * (longest_ms - base_ms)
        if wait_ms > max_ms:
            wait_ms = max_ms
    elif policy == BACKOFF_FIXED:
        wait_ms = base_ms * (1.0 + jitter * (2.0 * u - 1.0))
    else:
        for _ in range(retry - 1):
            wait_ms *= multiplier
            if wait_ms >= max_ms:
                break
        if wait_ms > max_ms:
            wait_ms = max_ms
        if policy == BACKOFF_EXPONENTIAL:
            wait_ms *= 1.0 + jitter * (2.0 * u - 1.0)
        elif policy == BACKOFF_ICEBERG:
            wait_ms *= 1.0 + jitter * u
        else:
            wait_ms *= u
    return int(wait_ms * 1000.0 + 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """One policy with its figures."""

    policy: str
    base_ms: float = 0.0
    multiplier: float = 2.0
    max_ms: float = 0.0
    jitter: float = 0.0

    def wait_us(self, retry: int, previous_us: int, u: float) -> int:
        """The wait before retry number ``retry``, ``previous_us`` being the wait before that one."""
        return backoff_us(
            POLICIES[self.policy],
            self.base_ms,
            self.multiplier,
            self.max_ms,
            self.jitter,
            retry,
            previous_us,
            u,
        )


@rule
def reason_to_stop(attempt: int, retries_max: int, elapsed_us: int, timeout_us: int) -> int:
    """After a refusal: NO_REASON to try again, or why not (Iceberg: ``Tasks.runTaskWithRetry``)."""
    if attempt > retries_max:
        return RETRIES_EXHAUSTED
    if timeout_us > 0 and elapsed_us > timeout_us and attempt > 1:
        return TIMEOUT
    return NO_REASON


@rule
def may_start_over(reason: int) -> bool:
    """Whether an application that runs the whole txn again may succeed."""
    return reason == VALIDATION_EXCEPTION or reason == HISTORY_EXPIRED or CONCURRENT_APPEND <= reason <= LOG_CLEANED_UP
