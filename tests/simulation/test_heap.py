"""The queue of the compiled engine gives events in the order of time, then of who they belong to."""

from __future__ import annotations

import random

import numpy as np
import pytest

from endive.results.schema import ROW_TXN_ID
from endive.simulation.compiled import layout as at
from endive.simulation.compiled.heap import drop_root, order_of, push, replace_root

SEATS = 3
TXNS = 200
PLACES = at.B


def empty() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A heap, the settings it reads, and records whose txn ids run against their places."""
    heap = np.full(at.H_BEYOND + (TXNS + SEATS) * at.N_H, at.NEVER, dtype=np.int64)
    m = np.zeros(at.FIRST_SOURCE + SEATS * at.N_SEAT, dtype=np.int64)
    m[at.C_SEATS] = at.FIRST_SOURCE
    m[at.FIRST_SOURCE + at.SEAT_ORDER :: at.N_SEAT] = np.arange(SEATS) - SEATS
    x = np.zeros((TXNS, PLACES), dtype=np.int64)
    x[:, at.R + ROW_TXN_ID] = np.arange(TXNS)[::-1]
    return heap, m, x.reshape(-1)


def everybody() -> list[int]:
    return [-1 - seat for seat in range(SEATS)] + [txn * PLACES for txn in range(TXNS)]


def test_seats_come_before_txns_and_txns_by_their_number() -> None:
    _, m, x = empty()
    order = sorted(everybody(), key=lambda who: order_of(m, x, who))
    assert order == [-1, -2, -3] + [txn * PLACES for txn in reversed(range(TXNS))]


@pytest.mark.parametrize("times", [3, 10, 1_000_000])
def test_what_is_pushed_comes_out_in_order(times: int) -> None:
    heap, m, x = empty()
    chance = random.Random(times)
    due = [(chance.randrange(times), who) for who in everybody()]
    for time_us, who in chance.sample(due, len(due)):
        push(heap, m, x, time_us, who)
    found = []
    while m[at.G + at.G_HEAP_SIZE]:
        found.append((int(heap[at.H_ROOT]), int(heap[at.H_ROOT + at.H_WHO])))
        drop_root(heap, m, x)
    assert found == sorted(due, key=lambda entry: (entry[0], order_of(m, x, entry[1])))
    assert heap[at.H_ROOT] == at.NEVER


@pytest.mark.parametrize("gap", [2, 100_000])
def test_a_root_replaced_again_and_again_stays_in_order(gap: int) -> None:
    heap, m, x = empty()
    chance = random.Random(gap)
    waiting = {}
    for who in everybody():
        waiting[who] = chance.randrange(gap)
        push(heap, m, x, waiting[who], who)
    for _ in range(3_000):
        expected = min(waiting, key=lambda who: (waiting[who], order_of(m, x, who)))
        assert (waiting[expected], expected) == (heap[at.H_ROOT], heap[at.H_ROOT + at.H_WHO])
        waiting[expected] += chance.randrange(gap)
        replace_root(heap, m, x, waiting[expected], expected)
