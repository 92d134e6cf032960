"""The queue of events: a heap of (time, order), four children to a node.

Owns the order of events and nothing else. Its root stays in place while its event is handled, and is then
replaced or dropped: most events bring exactly one successor.

An entry is two words, when and who. Who comes first at the same instant is looked up when two times are equal, which
is rare: sources and clients that have not submitted yet in the order of their seats, then txns by number, and a client
between two txns by the number of the one before. The root is
the fourth entry, so that the four children of every node fill one line of the processor's cache; entries nobody uses
hold ``NEVER``, so that no node needs to know how many children it has.
"""

from endive.distributions.code import IntArray
from endive.kernel import inlined, leaf
from endive.results.schema import ROW_TXN_ID
from endive.simulation.compiled.layout import (
    C_SEATS,
    G_HEAP_SIZE,
    H_ROOT,
    H_WHO,
    N_H,
    N_SEAT,
    NEVER,
    SEAT_ORDER,
    G,
    R,
)


@leaf
def order_of(m: IntArray, x: IntArray, who: int) -> int:
    """Whose turn it is among those of one instant: the lowest."""
    if who < 0:
        return m[m[C_SEATS] + (-1 - who) * N_SEAT + SEAT_ORDER]
    return x[who + R + ROW_TXN_ID]


@leaf
def first_of(h: IntArray, m: IntArray, x: IntArray, child: int, time_us: int) -> int:
    """Of four neighbours from ``child`` on, the first in order among those of ``time_us``."""
    best = -1
    best_order = 0
    for at in range(child, child + 4 * N_H, N_H):
        if h[at] == time_us:
            order = order_of(m, x, h[at + H_WHO])
            if best < 0 or order < best_order:
                best = at
                best_order = order
    return best


@leaf
def push(h: IntArray, m: IntArray, x: IntArray, time_us: int, who: int) -> None:
    """Add an event."""
    at = H_ROOT + m[G + G_HEAP_SIZE] * N_H
    m[G + G_HEAP_SIZE] += 1
    while at > H_ROOT:
        parent = N_H * ((at >> 3) + 2)
        parent_us = h[parent]
        if parent_us < time_us:
            break
        if parent_us == time_us and order_of(m, x, h[parent + H_WHO]) < order_of(m, x, who):
            break
        h[at] = parent_us
        h[at + H_WHO] = h[parent + H_WHO]
        at = parent
    h[at] = time_us
    h[at + H_WHO] = who


@inlined
def replace_root(h: IntArray, m: IntArray, x: IntArray, time_us: int, who: int) -> None:
    """Put another event where the root stands."""
    end = H_ROOT + m[G + G_HEAP_SIZE] * N_H
    at = H_ROOT
    while True:
        child = 4 * at - 16
        if child >= end:
            break
        us_0, us_1, us_2, us_3 = h[child], h[child + 2], h[child + 4], h[child + 6]
        left = child + 2 if us_1 < us_0 else child
        left_us = us_1 if us_1 < us_0 else us_0
        right = child + 6 if us_3 < us_2 else child + 4
        right_us = us_3 if us_3 < us_2 else us_2
        best = right if right_us < left_us else left
        best_us = right_us if right_us < left_us else left_us
        if time_us < best_us:
            break
        if int(us_0 == best_us) + int(us_1 == best_us) + int(us_2 == best_us) + int(us_3 == best_us) > 1:
            best = first_of(h, m, x, child, best_us)
        if time_us == best_us and order_of(m, x, who) < order_of(m, x, h[best + H_WHO]):
            break
        h[at] = best_us
        h[at + H_WHO] = h[best + H_WHO]
        at = best
    h[at] = time_us
    h[at + H_WHO] = who


@leaf
def drop_root(h: IntArray, m: IntArray, x: IntArray) -> None:
    """Take the root away."""
    size = m[G + G_HEAP_SIZE] - 1
    m[G + G_HEAP_SIZE] = size
    last = H_ROOT + size * N_H
    time_us = h[last]
    who = h[last + H_WHO]
    h[last] = NEVER
    if size > 0:
        replace_root(h, m, x, time_us, who)
