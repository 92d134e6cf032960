"""Crowding: a success is acknowledged the later, the more rivals came to its object shortly before."""

from __future__ import annotations

import pytest

from endive.distributions import FixedLatency
from endive.storage import CAS, Crowding, CrowdTable
from endive.storage.contention import CROWD, NO_TABLE, ObjectState, crowd_table, meet_crowd
from endive.vocabulary import N_OPERATIONS

TABLES = [0] * (N_OPERATIONS * 4)
TABLES[CAS * 4 : CAS * 4 + 2] = [1, 5]


def met(*arrivals, txn_id=0, window_us=100):
    """Rivals of the last of these (time, txn)."""
    state = ObjectState()
    for now_us, other in arrivals:
        meet_crowd(state, now_us, other, window_us)
    return state.rivals


def test_rivals_are_the_requests_of_others_within_the_window():
    assert met((0, 1), (50, 2), (100, 3)) == 2
    assert met((0, 1), (50, 2), (101, 3)) == 1
    assert met((0, 3), (50, 2), (100, 3)) == 1
    assert met((0, 0)) == 0


def test_an_object_remembers_fifteen_rivals():
    assert met(*((time, time + 1) for time in range(40)), window_us=1_000) == CROWD - 1


@pytest.mark.parametrize(
    ("rivals", "chance", "table"),
    [(1, 0.0, 0), (1, 0.999, 0), (3, 0.49, 1), (3, 0.51, 0), (5, 0.999, 1), (15, 0.999, 1)],
)
def test_between_two_numbers_of_rivals_both_tables_take_part_in_proportion(rivals, chance, table):
    assert crowd_table(TABLES, CAS, rivals, chance) == table


def test_below_the_first_number_of_rivals_a_success_is_late_in_proportion():
    one = [0] * len(TABLES)
    one[CAS * 4] = 15

    assert [crowd_table(one, CAS, 3, chance) for chance in (0.19, 0.21)] == [0, NO_TABLE]


@pytest.fixture
def crowded_store(new_store):
    """Requests take 10 ms, half of it to the server; among one rival a success takes 7 ms more, among three 20."""
    tables = (
        CrowdTable(rivals=1, penalty=FixedLatency(7.0), text="made up"),
        CrowdTable(rivals=3, penalty=FixedLatency(20.0), text="made up"),
    )
    crowding = Crowding(window_ms=3.0, tables=tables, source="a test")
    return new_store(latency_ms=10.0, refusal_ms=10.0, crowding={CAS: crowding})


def swap(store, client, *, succeeds, counter=0):
    return store.cas("object", 0, 100, client=client, counter=counter, evaluate=lambda: succeeds)


def test_a_success_among_rivals_is_late_and_a_refusal_and_a_lone_success_are_not(clock, new_client, crowded_store):
    tasks = [
        clock.start(swap(crowded_store, new_client(txn), succeeds=succeeds), at_us=at_us)
        for txn, at_us, succeeds in ((1, 0, True), (2, 1_000, True), (3, 2_000, False), (4, 3_000, True))
    ]
    clock.run()

    # the last one meets three rivals, the second one; refusals keep their latency
    assert [10.0, 17.0, 10.0, 30.0] == [task.value.latency_ms for task in tasks]


def test_the_rivals_of_long_ago_are_no_crowd(clock, new_client, crowded_store):
    tasks = [
        clock.start(swap(crowded_store, new_client(txn), succeeds=True), at_us=at_us)
        for txn, at_us in ((1, 0), (2, 3_001))
    ]
    clock.run()

    assert [10.0, 10.0] == [task.value.latency_ms for task in tasks]


def test_two_rivals_are_drawn_from_one_table_or_the_other(clock, new_client, crowded_store):
    """Half of the successes among two rivals take 7 ms more and half 20."""
    found = set()
    for round_us in range(0, 400_000, 20_000):
        clock.start(swap(crowded_store, new_client(1), succeeds=False, counter=round_us), at_us=round_us)
        clock.start(swap(crowded_store, new_client(2), succeeds=False, counter=round_us), at_us=round_us)
        found.add(clock.start(swap(crowded_store, new_client(3), succeeds=True, counter=round_us), at_us=round_us))
    clock.run()

    assert {17.0, 30.0} == {task.value.latency_ms for task in found}
