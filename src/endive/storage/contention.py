"""What happens at one object when writers meet: legs, admission, contention, crowding.

The walk of a conditional request, once, as rules that the reference engine calls and compiled code inlines: the engine
and the clients that profiles are fitted with. Whoever walks keeps the state of its objects (``ObjectStore`` by key, the
compiled engine in arrays) and says how to draw.

One conditional request, in order::

    0                     sent; success latency L drawn at `counter`
    leg                   reaches the server: leg = request_leg_us(L, share)
                          held_back_us(...) after a rival's? then it waits that long, once
    admitted              waits while admitted_us(now, next_free) > now, and asks again on waking:
                          another waiter may have written at that very instant
                          meet_rivals(...): is it contended, and how many are there
                          the server evaluates
    admitted + answer     the answer arrives: answer_us(...); a success sets when the object is free again

The outcome latency is L after a success; after a refusal it is drawn at `counter + 1`. The penalty is drawn
at `counter + 2`, and only if the request was contended; the delay of a throttled request at
`counter + DRAW_DELAY`, far from the draws of any other request of the same step. A success among rivals is acknowledged
later: whether is drawn at `counter + DRAW_CROWD`, how much at the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Protocol

from endive.kernel import rule
from endive.record import Int64, Record, record
from endive.rng import uniform
from endive.vocabulary import CREATE, N_OPERATIONS

NO_TXN: Final = -1  # nobody has written conditionally to this object yet
DRAW_SUCCESS: Final = 0  # offsets from a request's counter
DRAW_REFUSAL: Final = 1
DRAW_PENALTY: Final = 2
DRAW_DELAY: Final = 1 << 22
DRAW_CROWD: Final = 1 << 23
CROWD: Final = 16  # conditional requests an object remembers: one and fifteen rivals
CROWD_TABLES_MAX: Final = 4  # numbers of rivals for which a profile says what they cost

# What a request may draw beside its latency of success: codes for ``Draw``.
REFUSAL: Final = 0
PENALTY: Final = 1
DELAY: Final = 2
CROWDED: Final = 3  # and the place of the table of crowding
Draw = Callable[[Any, int, int, int, int, int], int]  # (store, request slot, what, key, counter, size_bytes)


@record
class ObjectTerms(Record):
    """What a store says of ordered requests to one object: each figure by operation."""

    spacing_us: Int64  # least time between two successes; 0 = no limit
    leg_shares: Annotated[list[float], "f8", N_OPERATIONS]
    contention_us: Annotated[list[int], "i8", N_OPERATIONS]  # windows; 0 = nobody is near enough
    throttle_us: Annotated[list[int], "i8", N_OPERATIONS]
    crowd_us: Annotated[list[int], "i8", N_OPERATIONS]
    crowd_rivals: Annotated[list[int], "i8", N_OPERATIONS * CROWD_TABLES_MAX]


class Sent(Protocol):
    """A conditional request under way, as a record of whoever walks."""

    key: int
    counter: int
    latency_us: int  # of success
    leg_us: int


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
def crowd_table(known: Rivals, op: int, rivals: int) -> int:
    """The first table for at least so many rivals, or the last there is.

    ``known`` holds the numbers of rivals the profile has tables for, rising, 0 where it has no more.
    """
    for table in range(1, CROWD_TABLES_MAX):
        place = op * CROWD_TABLES_MAX + table
        if known[place] == 0 or rivals <= known[place - 1]:
            return table - 1
    return CROWD_TABLES_MAX - 1


@rule
def crowded_us(draw: Draw, store: Any, terms: ObjectTerms, sent: Sent, request: int, rivals: int) -> int:
    """How much later a success among so many rivals is acknowledged.

    Below the first number of rivals that has a table, so many successes fewer are late. Between two numbers each time
    lies on a straight line between theirs: one draw, read in both tables. Beyond the last number it is the last.
    """
    op = request % N_OPERATIONS
    counter = sent.counter + DRAW_CROWD
    table = crowd_table(terms.crowd_rivals, op, rivals)
    here = terms.crowd_rivals[op * CROWD_TABLES_MAX + table]
    if table == 0 and uniform(sent.key, counter) * here >= rivals:
        return 0
    late_us = draw(store, request, CROWDED + table, sent.key, counter + 1, 0)
    if table == 0 or rivals >= here:
        return late_us
    below = terms.crowd_rivals[op * CROWD_TABLES_MAX + table - 1]
    less_us = draw(store, request, CROWDED + table - 1, sent.key, counter + 1, 0)
    return less_us + (late_us - less_us) * (rivals - below) // (here - below)


@rule
def held_back_us(
    draw: Draw, store: Any, terms: ObjectTerms, state: ObjectState, sent: Sent, request: int, now_us: int, txn_id: int
) -> int:
    """How long a request that reaches the object now waits for the server; the object remembers it either way."""
    window_us = terms.throttle_us[request % N_OPERATIONS]
    if window_us == 0:
        return 0
    is_held = is_contended(now_us, state.reached_us, state.reached_txn, txn_id, window_us)
    state.reached_us = now_us
    state.reached_txn = txn_id
    return draw(store, request, DELAY, sent.key, sent.counter + DRAW_DELAY, 0) if is_held else 0


@rule
def meet_rivals(terms: ObjectTerms, state: ObjectState, op: int, now_us: int, txn_id: int) -> bool:
    """Whether a request evaluated now is contended; the object remembers it either way."""
    contended = is_contended(now_us, state.last_us, state.last_txn, txn_id, terms.contention_us[op])
    state.last_us = now_us
    state.last_txn = txn_id
    if terms.crowd_us[op] > 0:
        meet_crowd(state, now_us, txn_id, terms.crowd_us[op])
    return contended


@rule
def answer_us(
    draw: Draw,
    store: Any,
    terms: ObjectTerms,
    state: ObjectState,
    sent: Sent,
    request: int,
    size_bytes: int,
    now_us: int,
    was_contended: bool,
    success: bool,
) -> int:
    """Time until the answer to a request evaluated now arrives; after a success the object is taken for a while."""
    op = request % N_OPERATIONS
    latency_us = sent.latency_us
    penalty_us = 0
    if was_contended:
        penalty_us = draw(store, request, PENALTY, sent.key, sent.counter + DRAW_PENALTY, 0)
    if success:
        if op != CREATE:  # every object that is created is another one
            state.next_free_us = now_us + terms.spacing_us
        if terms.crowd_us[op] > 0 and state.rivals > 0:
            penalty_us += crowded_us(draw, store, terms, sent, request, state.rivals)
    else:
        latency_us = draw(store, request, REFUSAL, sent.key, sent.counter + DRAW_REFUSAL, size_bytes)
    return answer_leg_us(latency_us, sent.leg_us, penalty_us)


def write_spacing_us(writes_per_s_max: float) -> int:
    """Least time between two successful conditional writes to one object; 0 = no limit."""
    return int(1_000_000.0 / writes_per_s_max + 0.5) if writes_per_s_max > 0.0 else 0
