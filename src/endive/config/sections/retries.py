"""How a txn tries again: the pause before a retry, and what its source does once it has failed."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from endive.config.values import Flag, Milliseconds, Number, Probability, Table, Whole, key

RERUNS_MAX = 1_000

BackoffPolicy = Literal[
    "iceberg",
    "exponential",
    "conservative",
    "moderate",
    "aggressive",
    "fixed",
    "full_jitter",
    "decorrelated_jitter",
    "none",
]
FIGURES = ("base_ms", "multiplier", "max_ms", "jitter")


class Backoff(NamedTuple):
    """What a policy does unless told otherwise; figures that are not among ``keys`` are part of its name."""

    base_ms: float
    multiplier: float
    max_ms: float
    jitter: float
    keys: tuple[str, ...] = ()  # that may be changed


# The three without keys are the experiment plan's (experiment 4.1).
BACKOFFS = {
    "iceberg": Backoff(100.0, 2.0, 60_000.0, 0.1, FIGURES),
    "exponential": Backoff(10.0, 2.0, 5000.0, 0.1, FIGURES),
    "conservative": Backoff(100.0, 1.5, 5000.0, 0.1),
    "moderate": Backoff(50.0, 2.0, 2000.0, 0.1),
    "aggressive": Backoff(10.0, 2.0, 1000.0, 0.1),
    "fixed": Backoff(100.0, 1.0, 100.0, 0.0, ("base_ms", "jitter")),
    "full_jitter": Backoff(100.0, 2.0, 60_000.0, 1.0, FIGURES[:3]),
    "decorrelated_jitter": Backoff(100.0, 3.0, 60_000.0, 1.0, FIGURES[:3]),
    "none": Backoff(0.0, 1.0, 0.0, 0.0),
}


def _takes(figure: str) -> tuple[str, ...]:
    """Return the policies that let a figure be changed."""
    return tuple(policy for policy, backoff in BACKOFFS.items() if figure in backoff.keys)


class RetryBackoff(Table):
    """The pause before a retry."""

    enabled: Flag = key(
        True, "Whether a txn pauses before it tries again.", "true; false with protocol spec or merge, or format delta"
    )
    policy: BackoffPolicy = key(
        "iceberg",
        "iceberg: the pause plus up to jitter of it; exponential: plus or minus jitter; "
        "conservative, moderate, aggressive: exponential with figures of their own; fixed: base_ms each "
        "time; full_jitter: uniform from 0 to the pause; decorrelated_jitter: uniform from base_ms to "
        "multiplier times the last pause; none: no pause.",
        "iceberg; exponential if a figure below is given or the protocol is spec or merge",
    )
    base_ms: Milliseconds = key(100.0, "First pause.", "by policy", {"retry_backoff.policy": _takes("base_ms")})
    multiplier: Annotated[float, Number(1, 1000)] = key(
        2.0, "Growth per retry.", "by policy", {"retry_backoff.policy": _takes("multiplier")}
    )
    max_ms: Milliseconds = key(
        60_000.0, "Longest pause, before jitter.", "by policy", {"retry_backoff.policy": _takes("max_ms")}
    )
    jitter: Probability = key(
        0.1, "Random share of the pause.", "by policy", {"retry_backoff.policy": _takes("jitter")}
    )


class AfterFailure(Table):
    """What follows a txn that did not commit."""

    kind: Literal["lost", "carried", "restart", "rerun"] = key(
        "lost",
        "lost: nothing, and what it wrote is gone; carried: its files go with the next commit (Kafka "
        "Connect up to 1.11); restart: the client goes down, loads its table anew and submits what was not committed "
        "after delay_ms (Flink); rerun: whoever scheduled it runs it again, up to `times` times, pause_ms after each "
        "failure (dbt, Airflow).",
        implied="lost",
    )
    delay_ms: Milliseconds | None = key(
        None,
        "From the failure until the client that restarts submits again.",
        "none: it must be given",
        {"after_failure.kind": ("restart",)},
    )
    times: Annotated[int, Whole(1, RERUNS_MAX)] = key(
        3, "Most reruns of one txn.", None, {"after_failure.kind": ("rerun",)}
    )
    pause_ms: Milliseconds = key(
        300_000.0, "From the failure until it is run again.", None, {"after_failure.kind": ("rerun",)}
    )
    unknown: Literal["checked", "again"] = key(
        "checked",
        "After commit_state_unknown: the next commit looks whether the one before is in the table's "
        "history and leaves out what is there (Flink by checkpoint, Kafka Connect by offsets), or writes it again.",
        None,
        {"after_failure.kind": ("carried", "restart")},
    )


Aftermath = Annotated[AfterFailure, BeforeValidator(lambda value: {"kind": value} if isinstance(value, str) else value)]
