"""The queue of events: a heap of (time, order), four children to a node.

Owns the order of events and nothing else. Its root stays in place while its event is handled, and is then
replaced or dropped: most events bring exactly one successor.
"""

from endive.distributions.code import IntArray
from endive.kernel import inlined, leaf
from endive.simulation.compiled.layout import G_HEAP_SIZE, H_ORDER, H_TIME, H_WHAT, G


@leaf
def push(h: IntArray, m: IntArray, time_us: int, order: int, what: int) -> None:
    """Add an event."""
    at = m[G + G_HEAP_SIZE]
    m[G + G_HEAP_SIZE] = at + 1
    while at > 0:
        parent = (at - 1) >> 2
        parent_us = h[parent, H_TIME]
        if parent_us < time_us or (parent_us == time_us and h[parent, H_ORDER] < order):
            break
        h[at, H_TIME] = parent_us
        h[at, H_ORDER] = h[parent, H_ORDER]
        h[at, H_WHAT] = h[parent, H_WHAT]
        at = parent
    h[at, H_TIME] = time_us
    h[at, H_ORDER] = order
    h[at, H_WHAT] = what


@inlined
def replace_root(h: IntArray, m: IntArray, time_us: int, order: int, what: int) -> None:
    """Put another event where the root stands."""
    size = m[G + G_HEAP_SIZE]
    at = 0
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        last = min(child + 4, size)
        best = child
        best_us = h[child, H_TIME]
        for other in range(child + 1, last):
            other_us = h[other, H_TIME]
            if other_us < best_us or (other_us == best_us and h[other, H_ORDER] < h[best, H_ORDER]):
                best = other
                best_us = other_us
        if time_us < best_us or (time_us == best_us and order < h[best, H_ORDER]):
            break
        h[at, H_TIME] = best_us
        h[at, H_ORDER] = h[best, H_ORDER]
        h[at, H_WHAT] = h[best, H_WHAT]
        at = best
    h[at, H_TIME] = time_us
    h[at, H_ORDER] = order
    h[at, H_WHAT] = what


@leaf
def drop_root(h: IntArray, m: IntArray) -> None:
    """Take the root away."""
    size = m[G + G_HEAP_SIZE] - 1
    m[G + G_HEAP_SIZE] = size
    if size > 0:
        replace_root(h, m, h[size, H_TIME], h[size, H_ORDER], h[size, H_WHAT])
