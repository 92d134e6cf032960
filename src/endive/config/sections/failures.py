"""The ``[failures]`` section: what goes wrong besides refusals. Nothing does by default.

What a txn does about a failure is ``endive.transaction``'s.
"""

from __future__ import annotations

from typing import Annotated, Literal

from endive.config.values import PositiveLatencyMs, Probability, Table, Whole, key

CHECKS_MAX = 100
TRIES_MAX = 100


class FailuresConfig(Table):
    """Commit requests whose answer is lost after the server has evaluated them, and storage requests that the store
    throttles before it does. Off unless a rate is given.
    """

    lost_answer_rate: Probability = key(
        0.0, "Share of commit requests whose answer never arrives. The server has evaluated them."
    )
    lost_answer_timeout_ms: PositiveLatencyMs = key(
        60_000.0,
        "How long a client waits for an answer before it gives up; the default is the idle timeout of an "
        "AWS load balancer.",
    )
    lost_check_rate: Probability = key(
        0.0, "Share of the status checks after a lost answer whose own answer is lost too."
    )
    status_checks: Annotated[int, Whole(0, CHECKS_MAX)] = key(
        4,
        "Checks whether the commit is in the history, until one is answered: one and Iceberg's three "
        "retries (commit.status-check.num-retries). 0 = none, as PyIceberg and Iceberg's REST client up to 1.10.",
    )
    status_check_wait_ms: PositiveLatencyMs = key(
        1_000.0,
        "Wait before the second check, doubled from one to the next, plus up to 10 % "
        "(commit.status-check.min-wait-ms).",
    )
    status_check_wait_max_ms: PositiveLatencyMs = key(60_000.0, "Longest such wait (commit.status-check.max-wait-ms).")
    absent_commit: Literal["retry", "unknown"] = key(
        "retry",
        "A check that does not find the commit means that it was refused, and the txn retries; or that "
        "its state is unknown, as in recent versions of Iceberg, and the txn ends.",
    )
    throttle_rate: Probability = key(
        0.0,
        "Share of the tries of a storage request that the store answers with 503 Slow Down. The client's "
        "SDK waits and tries again; a catalog service's own requests are not throttled.",
    )
    throttle_tries: Annotated[int, Whole(1, TRIES_MAX)] = key(
        3,
        "Tries of one request, the first included, before the txn fails (storage_failed). 3 is the "
        "standard mode of the AWS SDKs (max_attempts); Iceberg's S3FileIO since 1.7 has 6 (s3.retry.num-retries = 5).",
    )
    throttle_wait_ms: PositiveLatencyMs = key(
        1_000.0,
        "Longest wait before the second try, doubled from one try to the next; the wait is a uniform share "
        "of it. 1 s in the standard mode of the AWS SDKs, 2 s in S3FileIO (s3.retry.min-wait-ms).",
    )
    throttle_wait_max_ms: PositiveLatencyMs = key(
        20_000.0, "Longest such wait at any try: 20 s in the AWS SDKs and in S3FileIO (s3.retry.max-wait-ms)."
    )
