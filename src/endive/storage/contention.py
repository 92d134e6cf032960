"""What happens at one object when writers meet: legs, admission, contention, crowding.

This file defines the arithmetic of a conditional request, once, as rules over ints that the reference engine calls and
the compiled engine inlines. Not here: state (``ObjectStore`` keeps it per object, the compiled engine
in arrays) and chance (the latencies come in as drawn).

One conditional request, in order::

    0                     sent; success latency L drawn at `counter`
    leg                   reaches the server: leg = request_leg_us(L, share)
                          is_contended(...) by the window of throttling? then it waits a drawn delay, once; the
                          object remembers who reached it last either way
    admitted              waits while admitted_us(now, next_free) > now, and asks again on waking:
                          another waiter may have written at that very instant
                          is_contended(...)?  then the object remembers (now, txn); meet_crowd(...) counts the
                          rivals, if the profile has crowding
                          the server evaluates; a success sets next_free_us(now, spacing)
    admitted + answer     the answer arrives: answer_leg_us(outcome latency, leg, penalty)

The outcome latency is L after a success; after a refusal it is drawn at `counter + 1`. The penalty is drawn
at `counter + 2`, and only if the request was contended; the delay of a throttled request at
`counter + DRAW_DELAY`, far from the draws of any other request of the same step. A success among rivals is acknowledged
later: which table of crowding says how much is drawn at `counter + DRAW_CROWD`, how much at the next.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from endive.kernel import rule
from endive.record import Int64, Record, record

NO_TXN: Final = -1  # nobody has written conditionally to this object yet
DRAW_SUCCESS: Final = 0  # offsets from a request's counter
DRAW_REFUSAL: Final = 1
DRAW_PENALTY: Final = 2
DRAW_DELAY: Final = 1 << 22
DRAW_CROWD: Final = 1 << 23
CROWD: Final = 16  # conditional requests an object remembers: one and fifteen rivals
CROWD_TABLES_MAX: Final = 4  # numbers of rivals for which a profile says what they cost
NO_TABLE: Final = -1


@record
class ObjectState(Record):
    """What one conditionally written object remembers between requests."""

    next_free_us: Int64
    last_us: Int64  # evaluated last
    last_txn: Int64 = NO_TXN
    reached_us: Int64  # reached the object last, evaluated or not
    reached_txn: Int64 = NO_TXN
    rivals: Int64  # of the request evaluated last; only under crowding
    crowd_place: Int64  # where the next one is remembered
    crowd_us: Annotated[list[int], "i8", CROWD]  # the last ones evaluated, in a ring
    crowd_txn: Annotated[list[int], "i8", CROWD]  # their txns plus one; 0 is nobody


@rule
def request_leg_us(latency_us: int, share: float) -> int:
    """Time until the server evaluates: this share of the latency, cut to whole microseconds."""
    return int(latency_us * share)


@rule
def answer_leg_us(outcome_latency_us: int, leg_us: int, penalty_us: int) -> int:
    """Time from the evaluation to the answer.

    A refusal whose own latency is shorter than the request leg is answered at once: it cannot be answered
    before it was evaluated.
    """
    if outcome_latency_us < leg_us:
        return penalty_us
    return outcome_latency_us - leg_us + penalty_us


@rule
def admitted_us(now_us: int, next_free_us: int) -> int:
    """When an object with a limit of writes per second takes the request that reaches it now."""
    if next_free_us > now_us:
        return next_free_us
    return now_us


@rule
def next_free_us(now_us: int, spacing_us: int) -> int:
    """When the object takes the next conditional write after one succeeded now."""
    return now_us + spacing_us


@rule
def is_contended(now_us: int, last_us: int, last_txn: int, txn_id: int, window_us: int) -> bool:
    """Whether the conditional request remembered last was another txn's, and within the window."""
    return window_us > 0 and last_txn != NO_TXN and last_txn != txn_id and now_us - last_us <= window_us


@rule
def meet_crowd(state: ObjectState, now_us: int, txn_id: int, window_us: int) -> None:
    """Count the rivals' requests evaluated here within the window, and remember this one."""
    rivals = 0
    for place in range(CROWD):
        txn_after = state.crowd_txn[place]
        if txn_after != 0 and txn_after != txn_id + 1 and now_us - state.crowd_us[place] <= window_us:
            rivals += 1
    state.rivals = rivals if rivals < CROWD else CROWD - 1
    place = state.crowd_place
    state.crowd_us[place] = now_us
    state.crowd_txn[place] = txn_id + 1
    state.crowd_place = place + 1 if place + 1 < CROWD else 0


class Rivals(Protocol):
    """Numbers of rivals, by operation and table."""

    def __getitem__(self, place: int, /) -> int: ...


@rule
def crowd_table(known: Rivals, op: int, rivals: int, chance: float) -> int:
    """Which table of crowding a success among so many rivals is drawn from; ``NO_TABLE``: it is not late.

    ``known`` holds the numbers of rivals the profile has tables for, rising, 0 where it has no more. Between two of
    them the tables of both take part, in proportion; below the first there is none, beyond the last it is the last.
    """
    below = 0
    last = NO_TABLE
    for table in range(CROWD_TABLES_MAX):
        here = known[op * CROWD_TABLES_MAX + table]
        if here == 0:
            return last
        if rivals <= here:
            return table if chance * (here - below) < rivals - below else last
        below = here
        last = table
    return last


def write_spacing_us(writes_per_s_max: float) -> int:
    """Least time between two successful conditional writes to one object; 0 = no limit."""
    return int(1_000_000.0 / writes_per_s_max + 0.5) if writes_per_s_max > 0.0 else 0
