"""Conditional requests: who is evaluated when, what an answer costs, and what writers do to each other."""

from dataclasses import replace

import pytest

from endive.distributions import LognormalLatency
from endive.errors import EngineError
from endive.storage import ExtraTime, ObjectStore, contention, load_profile
from endive.storage.contention import NO_TXN
from endive.vocabulary import CAS, CATALOG


class Register:
    """An object with a version; remembers when each attempt was evaluated."""

    def __init__(self, clock):
        self.clock = clock
        self.version = 0
        self.evaluated = []

    def swap(self, expected):
        def evaluate():
            is_current = self.version == expected
            self.version += is_current
            self.evaluated.append((self.clock.now_us, is_current))
            return is_current

        return evaluate


@pytest.fixture
def register(clock):
    return Register(clock)


def cas(store, client, register, expected=0, counter=0, key="k"):
    return store.cas(key, expected, 100, client=client, counter=counter, evaluate=register.swap(expected))


def test_the_server_evaluates_after_the_request_leg(clock, client, new_store, register):
    task = clock.start(cas(new_store(latency_ms=10.0, share=0.7), client, register), at_us=500)
    clock.run()

    assert register.evaluated == [(7_500, True)]
    assert task.waits_us == [7_000, 3_000]
    assert task.value == (True, 10.0, 100, True)


def test_only_one_of_two_attempts_on_the_same_version_succeeds(clock, new_client, new_store, register):
    store = new_store(latency_ms=10.0, refusal_ms=30.0)

    first = clock.start(cas(store, new_client(1), register))
    second = clock.start(cas(store, new_client(2), register))
    clock.run()

    assert first.value.success is True
    assert second.value.success is False
    assert register.version == 1


@pytest.mark.parametrize(("refusal_ms", "waits_us"), [(30.0, [5_000, 25_000]), (2.0, [5_000, 0])])
def test_a_refusal_takes_its_own_latency_from_sending_to_answer(
    clock, client, new_store, register, refusal_ms, waits_us
):
    task = clock.start(cas(new_store(latency_ms=10.0, refusal_ms=refusal_ms), client, register, expected=5))
    clock.run()

    assert (task.waits_us, task.value.latency_ms) == (waits_us, max(refusal_ms, 5.0))


def test_success_refusal_and_penalty_are_drawn_at_counter_and_the_two_after_it(clock, new_client, register):
    late = ExtraTime(window_ms=5.8, extra=LognormalLatency.by_median(6.1, 0.05), text="made up", source="a test")
    store = ObjectStore(replace(load_profile("s3x"), contention={CAS: late}, crowding={}))
    store.attach(clock)
    rival, client = new_client(1), new_client(2)
    success_us = store.latency(CATALOG, CAS).sample_us(client.key, 40, 100)
    refusal_us = store.latency(CATALOG, CAS, success=False).sample_us(client.key, 41, 100)
    penalty_us = store.penalty(CAS).sample_us(client.key, 42)
    leg_us = int(success_us * store.leg_share(CAS))

    clock.start(cas(store, rival, register, expected=9))
    task = clock.start(cas(store, client, register, expected=9, counter=40), at_us=3_000)
    clock.run()

    assert register.evaluated[1] == (3_000 + leg_us, False)
    assert task.waits_us == [leg_us, refusal_us - leg_us + penalty_us]


def test_a_contended_answer_is_late_but_its_evaluation_is_not(clock, new_client, new_store, register):
    store = new_store(latency_ms=10.0, refusal_ms=10.0, window_ms=3.0, penalty_ms=7.0)

    starts_us = (0, 3_000, 6_001)
    tasks = [clock.start(cas(store, new_client(txn), register), at_us=at) for txn, at in enumerate(starts_us, start=1)]
    clock.run()

    assert [task.value.latency_ms for task in tasks] == [10.0, 17.0, 10.0]
    assert [at for at, _ in register.evaluated] == [5_000, 8_000, 11_001]


def test_writers_of_different_objects_do_not_meet(clock, new_client, new_store, register):
    store = new_store(window_ms=20.0, penalty_ms=7.0, writes_per_s_max=1.0)

    one = clock.start(cas(store, new_client(1), register, key="a"))
    other = clock.start(cas(store, new_client(2), register, expected=1, key="b"))
    clock.run()

    assert [one.value.latency_ms, other.value.latency_ms] == [10.0, 10.0]


def test_a_write_that_comes_too_soon_waits_until_the_object_is_free(clock, new_client, new_store, register):
    store = new_store(latency_ms=10.0, writes_per_s_max=10.0)

    clock.start(cas(store, new_client(1), register))
    second = clock.start(cas(store, new_client(2), register, expected=1), at_us=20_000)
    clock.run()

    assert register.evaluated == [(5_000, True), (105_000, True)]
    assert second.waits_us == [5_000, 80_000, 5_000]
    assert second.value.latency_ms == 90.0


@pytest.mark.parametrize(
    ("expected", "evaluated", "waits_us"),
    [
        ((1, 2), [(105_000, True), (205_000, True)], [5_000, 70_000, 100_000, 5_000]),
        ((7, 1), [(105_000, False), (105_000, True)], [5_000, 70_000, 5_000]),  # a refusal uses up nothing
    ],
)
def test_of_two_waiters_that_wake_together_the_second_waits_again_after_a_success(
    clock, new_client, new_store, register, expected, evaluated, waits_us
):
    store = new_store(latency_ms=10.0, writes_per_s_max=10.0)

    clock.start(cas(store, new_client(1), register))
    clock.start(cas(store, new_client(2), register, expected=expected[0]), at_us=20_000)
    third = clock.start(cas(store, new_client(3), register, expected=expected[1]), at_us=30_000)
    clock.run()

    assert register.evaluated == [(5_000, True), *evaluated]
    assert third.waits_us == waits_us


@pytest.mark.parametrize("is_reset", [True, False])
def test_reset_and_a_new_clock_forget_limits_and_rivals(clock, new_client, new_store, register, is_reset):
    store = new_store(latency_ms=10.0, window_ms=50.0, penalty_ms=7.0, writes_per_s_max=1.0)
    clock.start(cas(store, new_client(1), register))
    clock.run()

    if is_reset:
        store.reset()
    else:
        clock = type(clock)()
        store.attach(clock)
    task = clock.start(cas(store, new_client(2), register, expected=1), at_us=clock.now_us)
    clock.run()

    assert task.waits_us == [5_000, 5_000]


def test_a_tail_append_is_never_refused_and_lands_when_evaluated(clock, client, new_store):
    landed_us = []
    store = new_store(latency_ms=10.0, share=0.2)

    def land():
        landed_us.append(clock.now_us)
        return False

    task = clock.start(store.tail_append("k", 10, client=client, counter=0, evaluate=land))
    clock.run()

    assert landed_us == [2_000]
    assert task.value.success is True


def test_an_ordered_request_without_a_clock_says_what_to_do(client, new_store, register):
    store = ObjectStore(new_store().profile)

    with pytest.raises(EngineError, match=r"Call attach\(clock\) first"):
        next(cas(store, client, register))


def test_the_answer_takes_what_the_request_leg_left_of_the_latency():
    assert contention.answer_leg_us(10_000, 4_000, 0) == 6_000
    assert contention.answer_leg_us(10_000, 4_000, 250) == 6_250


@pytest.mark.parametrize(
    ("now_us", "last_us", "last_txn", "txn_id", "window_us", "expected"),
    [
        (100, 90, 1, 2, 10, True),  # at the edge of the window
        (100, 89, 1, 2, 10, False),  # beyond it
        (100, 100, 1, 2, 10, True),  # at the same instant
        (100, 90, 2, 2, 10, False),  # its own request
        (5, 0, NO_TXN, 2, 10, False),  # the first request of all
        (100, 100, 1, 2, 0, False),  # no window
    ],
)
def test_a_request_is_contended_only_by_a_rival_within_the_window(
    now_us, last_us, last_txn, txn_id, window_us, expected
):
    assert contention.is_contended(now_us, last_us, last_txn, txn_id, window_us) is expected


def test_the_spacing_is_the_inverse_of_the_limit_and_zero_without_one():
    assert contention.write_spacing_us(1.0) == 1_000_000
    assert contention.write_spacing_us(125.0) == 8_000
    assert contention.write_spacing_us(3.0) == 333_333
    assert contention.write_spacing_us(0.0) == 0
