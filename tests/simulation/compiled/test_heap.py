"""The queue of the compiled engine gives events in the order of time, then of who they belong to."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from endive.kernel import jitted, records
from endive.simulation.compiled import heap
from endive.simulation.compiled.memory import event_at
from endive.simulation.compiled.pack import point_to
from endive.simulation.compiled.records import Event, Seat, TxnRecord, WorldRecord

SEATS = 3
TXNS = 200


@jitted
def order_of(world: WorldRecord, who: int) -> int:
    return heap.order_of(world, who)


@jitted
def push(world: WorldRecord, time_us: int, who: int) -> None:
    heap.push(world, time_us, who)


@jitted
def replace_root(world: WorldRecord, time_us: int, who: int) -> None:
    heap.replace_root(world, time_us, who)


@jitted
def drop_root(world: WorldRecord) -> None:
    heap.drop_root(world)


@jitted
def root(world: WorldRecord) -> tuple[int, int]:
    event = event_at(world, heap.ROOT)
    return event.time_us, event.who


@pytest.fixture
def world() -> Any:
    """A world with an empty heap, and txns whose ids run against their places."""
    events, seats, txns = records(Event, heap.BEYOND + TXNS + SEATS), records(Seat, SEATS), records(TxnRecord, TXNS)
    events["time_us"] = heap.NEVER
    seats["order"] = np.arange(SEATS) - SEATS
    txns["row"]["txn_id"] = np.arange(TXNS)[::-1]
    made = records(WorldRecord, 1)
    for name, array in (("loop.heap", events), ("workload.seats", seats), ("flight.txns", txns)):
        point_to(made[0], name, array)
    yield made[0]
    assert len(events) + len(seats) + len(txns)  # kept alive until here: the world knows addresses only


def everybody() -> list[int]:
    return [-1 - seat for seat in range(SEATS)] + list(range(TXNS))


def test_seats_come_before_txns_and_txns_by_their_number(world: Any) -> None:
    order = sorted(everybody(), key=lambda who: order_of(world, who))
    assert [-1, -2, -3, *reversed(range(TXNS))] == order


@pytest.mark.parametrize("times", [3, 10, 1_000_000])
def test_what_is_pushed_comes_out_in_order(world: Any, times: int) -> None:
    chance = random.Random(times)
    due = [(chance.randrange(times), who) for who in everybody()]
    for time_us, who in chance.sample(due, len(due)):
        push(world, time_us, who)
    found = []
    while world["loop"]["heap_size"]:
        found.append(root(world))
        drop_root(world)
    assert sorted(due, key=lambda entry: (entry[0], order_of(world, entry[1]))) == found
    assert heap.NEVER == root(world)[0]


@pytest.mark.parametrize("gap", [2, 100_000])
def test_a_root_replaced_again_and_again_stays_in_order(world: Any, gap: int) -> None:
    chance = random.Random(gap)
    waiting = {}
    order = {who: order_of(world, who) for who in everybody()}
    for who in everybody():
        waiting[who] = chance.randrange(gap)
        push(world, waiting[who], who)
    for _ in range(3_000):
        expected = min(waiting, key=lambda who: (waiting[who], order[who]))
        assert (waiting[expected], expected) == root(world)
        waiting[expected] += chance.randrange(gap)
        replace_root(world, waiting[expected], expected)
