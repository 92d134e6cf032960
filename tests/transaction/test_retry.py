"""How long a txn waits before it tries again: every policy, to the microsecond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from endive.config.sections.retries import BACKOFFS
from endive.transaction.retry import Backoff, reason_to_stop
from endive.vocabulary import NO_REASON, RETRIES_EXHAUSTED, TIMEOUT

MIDDLE, NEARLY_ONE, NEARLY_ZERO = 0.5, 1.0 - 2**-53, 2**-53


def policy(name: str, **changes: float) -> Backoff:
    base_ms, multiplier, max_ms, jitter, _ = BACKOFFS[name]
    figures = {"base_ms": base_ms, "multiplier": multiplier, "max_ms": max_ms, "jitter": jitter}
    return Backoff(policy=name, **(figures | changes))


def waits_ms(backoff: Backoff, u: float, retries: int) -> list[float]:
    waits, previous_us = [], 0
    for retry in range(1, retries + 1):
        previous_us = backoff.wait_us(retry, previous_us, u)
        waits.append(previous_us / 1000.0)
    return waits


@pytest.mark.parametrize(
    ("name", "expected_ms"),
    [
        ("conservative", [100.0, 150.0, 225.0, 337.5]),
        ("moderate", [50.0, 100.0, 200.0, 400.0]),
        ("aggressive", [10.0, 20.0, 40.0, 80.0]),
        ("exponential", [10.0, 20.0, 40.0, 80.0]),
        ("fixed", [100.0, 100.0, 100.0, 100.0]),
        ("none", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_without_jitter_a_policy_is_its_figures(name, expected_ms):
    assert expected_ms == waits_ms(policy(name), MIDDLE, 4)


def test_icebergs_pause_doubles_up_to_a_minute_and_grows_by_at_most_a_tenth():
    assert [100.0 * 2**i for i in range(10)] + [60_000.0] == waits_ms(policy("iceberg"), NEARLY_ZERO, 11)
    assert [110.0, 220.0, 440.0] == waits_ms(policy("iceberg"), NEARLY_ONE, 3)


@pytest.mark.parametrize("name", ["conservative", "moderate", "aggressive", "exponential"])
def test_the_older_strategies_jitter_both_ways(name):
    middle = waits_ms(policy(name), MIDDLE, 5)

    assert [round(0.9 * wait, 3) for wait in middle] == waits_ms(policy(name), NEARLY_ZERO, 5)
    assert [round(1.1 * wait, 3) for wait in middle] == waits_ms(policy(name), NEARLY_ONE, 5)


@given(u=st.floats(NEARLY_ZERO, NEARLY_ONE), retry=st.integers(1, 200), name=st.sampled_from(list(BACKOFFS)))
def test_no_pause_exceeds_its_maximum_and_its_jitter(u, retry, name):
    backoff = policy(name)
    jitter = 0.0 if name in ("full_jitter", "decorrelated_jitter") else backoff.jitter

    assert 0 <= backoff.wait_us(retry, 50_000_000, u) <= (1.0 + jitter) * backoff.max_ms * 1000.0 + 0.5


def test_full_jitter_is_anything_up_to_the_pause():
    assert [25.0, 50.0, 100.0] == waits_ms(policy("full_jitter"), 0.25, 3)


def test_decorrelated_jitter_grows_from_the_pause_before():
    """Uniform from base to three times the last pause: the upper end of it, each time."""
    assert [300.0, 900.0, 2_700.0] == waits_ms(policy("decorrelated_jitter"), NEARLY_ONE, 3)
    assert [100.0, 100.0, 100.0] == waits_ms(policy("decorrelated_jitter"), NEARLY_ZERO, 3)


@pytest.mark.parametrize(
    ("attempt", "elapsed_us", "timeout_us", "reason"),
    [
        (1, 0, 0, NO_REASON),
        (4, 10**12, 0, NO_REASON),  # no budget of time
        (5, 0, 0, RETRIES_EXHAUSTED),
        (2, 1_000, 1_000, NO_REASON),  # at the budget, not beyond
        (2, 1_001, 1_000, TIMEOUT),
        (1, 1_001, 1_000, NO_REASON),  # one retry is always allowed
        (5, 1_001, 1_000, RETRIES_EXHAUSTED),  # one reason, and the count is looked at first
    ],
)
def test_a_txn_stops_for_exactly_one_reason(attempt, elapsed_us, timeout_us, reason):
    assert reason == reason_to_stop(attempt, 4, elapsed_us, timeout_us)
