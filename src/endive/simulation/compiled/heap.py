"""The queue of events: a heap of (time, order), four children to a node.

The root stays in place while its event is handled, and is then replaced or dropped: most events bring exactly one
successor.

An entry says when and who. Who comes first at the same instant is looked up when two times are equal, which
is rare: sources and clients that have not submitted yet in the order of their seats, then txns by number, and a client
between two txns by the number of the one before. The root is the fourth entry, so that the four children of every node
fill one line of the processor's cache; entries nobody uses hold ``NEVER``, so that no node needs to know how many
children it has.
"""

from typing import Final

from endive.kernel import jitted, step
from endive.simulation.compiled.memory import event_at, seat_at, txn_at
from endive.simulation.compiled.records import WorldRecord

ROOT: Final = 3
BEYOND: Final = ROOT + 4  # entries that are nobody's: before the root, behind the last
NEVER: Final = (1 << 63) - 1  # the time of an entry that is free


@step
def order_of(world: WorldRecord, who: int) -> int:
    """Whose turn it is among those of one instant: the lowest."""
    if who < 0:
        return seat_at(world, -1 - who).order
    return txn_at(world, who).row.txn_id


@step
def first_of(world: WorldRecord, child: int, time_us: int) -> int:
    """Of four neighbours from ``child`` on, the first in order among those of ``time_us``."""
    best = -1
    best_order = 0
    for at in range(child, child + 4):
        event = event_at(world, at)
        if event.time_us == time_us:
            order = order_of(world, event.who)
            if best < 0 or order < best_order:
                best = at
                best_order = order
    return best


@jitted
def push(world: WorldRecord, time_us: int, who: int) -> None:
    """Add an event."""
    at = ROOT + world.loop.heap_size
    world.loop.heap_size += 1
    while at > ROOT:
        parent_at = (at >> 2) + 2
        parent = event_at(world, parent_at)
        if parent.time_us < time_us:
            break
        if parent.time_us == time_us and order_of(world, parent.who) < order_of(world, who):
            break
        set_event(world, at, parent.time_us, parent.who)
        at = parent_at
    set_event(world, at, time_us, who)


@step
def set_event(world: WorldRecord, at: int, time_us: int, who: int) -> None:
    """Write an entry."""
    event = event_at(world, at)
    event.time_us = time_us
    event.who = who


@step
def replace_root(world: WorldRecord, time_us: int, who: int) -> None:
    """Put another event where the root stands."""
    end = ROOT + world.loop.heap_size
    at = ROOT
    while True:
        child = 4 * at - 8
        if child >= end:
            break
        us_0, us_1 = event_at(world, child).time_us, event_at(world, child + 1).time_us
        us_2, us_3 = event_at(world, child + 2).time_us, event_at(world, child + 3).time_us
        left = child + 1 if us_1 < us_0 else child
        left_us = us_1 if us_1 < us_0 else us_0
        right = child + 3 if us_3 < us_2 else child + 2
        right_us = us_3 if us_3 < us_2 else us_2
        best = right if right_us < left_us else left
        best_us = right_us if right_us < left_us else left_us
        if time_us < best_us:
            break
        if us_0 == us_1 or us_2 == us_3 or left_us == right_us:  # seldom, and mostly of events that nobody has
            best = first_of(world, child, best_us)
        if time_us == best_us and order_of(world, who) < order_of(world, event_at(world, best).who):
            break
        set_event(world, at, best_us, event_at(world, best).who)
        at = best
    set_event(world, at, time_us, who)


@step
def next_who(world: WorldRecord) -> int:
    """Whose event comes next, unless the root's brings an earlier one."""
    first = 4 * ROOT - 8
    best = event_at(world, first)
    for at in range(first + 1, first + 4):
        event = event_at(world, at)
        if event.time_us < best.time_us:
            best = event
    return best.who


@step
def drop_root(world: WorldRecord) -> None:
    """Take the root away."""
    world.loop.heap_size -= 1
    last = event_at(world, ROOT + world.loop.heap_size)
    time_us = last.time_us
    who = last.who
    last.time_us = NEVER
    if world.loop.heap_size > 0:
        replace_root(world, time_us, who)
