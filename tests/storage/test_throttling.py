"""Throttling: a conditional request that reaches an object too soon after a rival's is evaluated late, once."""

import pytest

from endive.distributions import FixedLatency
from endive.storage import CAS, ExtraTime
from endive.storage.contention import DRAW_DELAY


@pytest.fixture
def throttling_store(new_store):
    """Requests take 10 ms, half of it to the server; within 3 ms of a rival's they wait 20 ms more."""

    def make(**rest):
        held = ExtraTime(window_ms=3.0, extra=FixedLatency(20.0), text="made up", source="a test")
        return new_store(latency_ms=10.0, refusal_ms=10.0, throttling={CAS: held}, **rest)

    return make


def swap(store, client, versions, expected, counter=0):
    """A swap that notes when it was evaluated, and succeeds if the version is still the expected one."""

    def evaluate():
        versions.append((client.clock.now_us, client.txn_id))
        return expected == sum(1 for _ in versions) - 1

    return store.cas("object", expected, 100, client=client, counter=counter, evaluate=evaluate)


def test_a_throttled_request_is_evaluated_late_and_answered_later_still(clock, new_client, throttling_store):
    store, evaluated = throttling_store(), []

    lone = clock.start(swap(store, new_client(1), evaluated, 0))
    near = clock.start(swap(store, new_client(2), evaluated, 9), at_us=3_000)
    far = clock.start(swap(store, new_client(3), evaluated, 9), at_us=6_001)
    clock.run()

    assert [(5_000, 1), (11_001, 3), (28_000, 2)] == evaluated
    assert [5_000, 20_000, 5_000] == near.waits_us
    assert [10.0, 30.0, 10.0] == [task.value.latency_ms for task in (lone, near, far)]


def test_what_counts_is_who_reached_the_object_last_not_who_was_evaluated_last(clock, new_client, throttling_store):
    """The second request waits at the object; the third follows it by 2 ms, though nobody was evaluated meanwhile."""
    store, evaluated = throttling_store(), []

    for txn, at_us in ((1, 0), (2, 2_000), (3, 4_000)):
        clock.start(swap(store, new_client(txn), evaluated, 9), at_us=at_us)
    clock.run()

    assert [(5_000, 1), (27_000, 2), (29_000, 3)] == evaluated


def test_a_throttled_request_then_waits_for_the_write_limit_like_any_other(clock, new_client, throttling_store):
    store, evaluated = throttling_store(writes_per_s_max=20.0), []

    clock.start(swap(store, new_client(1), evaluated, 0))
    task = clock.start(swap(store, new_client(2), evaluated, 1), at_us=2_000)
    clock.run()

    assert [5_000, 20_000, 28_000, 5_000] == task.waits_us  # free again 50 ms after the first success
    assert [(5_000, 1), (55_000, 2)] == evaluated


def test_the_delay_is_drawn_far_from_the_draws_of_other_requests(clock, new_client, new_store):
    class Recorded(FixedLatency):
        drawn: list[int] = []  # noqa: RUF012

        def sample_us(self, key, counter, size_bytes=0):
            self.drawn.append(counter)
            return super().sample_us(key, counter, size_bytes)

    held = ExtraTime(window_ms=3.0, extra=Recorded(20.0), text="made up", source="a test")
    store, evaluated = new_store(throttling={CAS: held}), []

    clock.start(swap(store, new_client(1), evaluated, 0, counter=40))
    clock.start(swap(store, new_client(2), evaluated, 0, counter=43), at_us=1_000)
    clock.run()

    assert [43 + DRAW_DELAY] == Recorded.drawn
