"""Crowding: a success is acknowledged the later, the more rivals came to its object shortly before."""

import pytest

from endive.distributions import FixedLatency, MixtureLatency
from endive.storage import CAS, Crowding, CrowdTable
from endive.storage.contention import CROWD, ObjectState, crowd_table, meet_crowd
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


@pytest.mark.parametrize(("rivals", "table"), [(1, 0), (2, 1), (5, 1), (6, 1), (15, 1)])
def test_the_table_is_the_first_for_at_least_so_many_rivals_or_the_last(rivals, table):
    assert table == crowd_table(TABLES, CAS, rivals)


def crowded(new_store, tables):
    """Requests take 10 ms, half of it to the server; among so many rivals a success takes longer by its table."""
    crowd = tuple(CrowdTable(rivals=rivals, penalty=penalty, text="made up") for rivals, penalty in tables.items())
    return new_store(
        latency_ms=10.0,
        refusal_ms=10.0,
        crowding={CAS: Crowding(window_ms=3.0, tables=crowd, source="a test")},
    )


@pytest.fixture
def crowded_store(new_store):
    """Among one rival a success takes 7 ms more, among three 20."""
    return crowded(new_store, {1: FixedLatency(7.0), 3: FixedLatency(20.0)})


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


def late_ms(clock, new_client, store, *, rivals, successes=400):
    """How much later than alone successes among so many rivals are acknowledged."""
    tasks = []
    for round_us in range(0, successes * 20_000, 20_000):
        for txn in range(1, rivals + 1):
            clock.start(swap(store, new_client(txn), succeeds=False, counter=round_us), at_us=round_us)
        tasks.append(clock.start(swap(store, new_client(0), succeeds=True, counter=round_us), at_us=round_us + 1))
    clock.run()
    return [task.value.latency_ms - 10.0 for task in tasks]


def test_between_two_numbers_of_rivals_a_success_is_late_by_what_lies_between(clock, new_client, crowded_store):
    """Seven ms among one rival, 20 among three, so 13.5 among two."""
    assert {13.5} == set(late_ms(clock, new_client, crowded_store, rivals=2, successes=20))


def test_one_draw_is_read_in_both_tables(clock, new_client, new_store):
    """Quantiles lie on a line between the tables': a tail that one table lacks is shared out in size, not in number."""
    tail = MixtureLatency(((0.9, FixedLatency(0.0)), (0.1, FixedLatency(60.0))))
    store = crowded(new_store, {1: FixedLatency(0.0), 4: tail})

    late = late_ms(clock, new_client, store, rivals=2)

    assert {0.0, 20.0} == {round(ms, 3) for ms in late}
    assert 0.1 == pytest.approx(sum(ms > 1.0 for ms in late) / len(late), abs=0.045)  # three standard errors


def test_below_the_first_number_of_rivals_a_success_is_late_in_proportion(clock, new_client, new_store):
    """By as much as the table says, but so many times as seldom."""
    late = late_ms(clock, new_client, crowded(new_store, {5: FixedLatency(60.0)}), rivals=1)

    assert {0.0, 60.0} == {round(ms, 3) for ms in late}
    assert 0.2 == pytest.approx(sum(ms > 1.0 for ms in late) / len(late), abs=0.06)
