"""The table of transitions: whole, true to its handlers, and a txn that leaves it ends the run."""

from __future__ import annotations

import dis
from itertools import pairwise
from types import CodeType
from typing import Any

import pytest
from tests.properties.recording import RawRows

from endive.config import parse_config
from endive.errors import EngineError
from endive.kernel import jitted, records, step
from endive.simulation.build import OwnParts, build_parts
from endive.simulation.compiled import CompiledEngine, moments, transitions
from endive.simulation.compiled.moments import FIRST_STEP, MOMENT_COMMIT, MOMENT_END, MOMENT_RECALL, NAMES, STEP_START
from endive.simulation.compiled.records import WorldRecord
from endive.simulation.compiled.transitions import TRANSITIONS, Transition, dispatcher
from verification.suites.planted import configurations


def test_every_moment_and_step_has_a_row_but_the_end_which_the_loop_handles_itself():
    assert set(NAMES) - {MOMENT_END} == set(TRANSITIONS)
    assert MOMENT_END in transitions.ENDS
    assert {code for row in TRANSITIONS.values() for code in row.leads_to} <= set(NAMES)


def reached_from(*codes: int) -> set[int]:
    """All that may follow, sooner or later."""
    found: set[int] = set()
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        if code not in found:
            found.add(code)
            waiting.extend(TRANSITIONS[code].leads_to if code in TRANSITIONS else ())
    return found


def test_everything_can_happen_to_a_txn_that_begins():
    assert set(NAMES) == reached_from(MOMENT_RECALL, STEP_START)


def test_from_everywhere_a_txn_comes_to_its_end():
    assert {MOMENT_END} == set.intersection(*(reached_from(code) & {MOMENT_END} for code in TRANSITIONS))


def test_a_step_never_leads_back_to_itself_but_for_a_check_that_is_given_up():
    own = {code for code, row in TRANSITIONS.items() if code >= FIRST_STEP and code in row.leads_to}
    assert {moments.STEP_CHECK_STATUS} == own


def codes_named(function: Any, seen: set[CodeType]) -> set[int]:
    """The moments and steps that a compiled function, or one it calls, can return: it names them, not to compare."""
    python = function.py_func
    if python.__code__ in seen:
        return set()
    seen.add(python.__code__)
    named: set[int] = set()
    for instruction, following in pairwise(dis.get_instructions(python)):
        name = instruction.argval if instruction.opname == "LOAD_GLOBAL" else ""
        value = python.__globals__.get(name)
        if name.startswith(("MOMENT_", "STEP_")):
            named |= set() if following.opname == "COMPARE_OP" else {value}
        elif hasattr(value, "py_func"):
            named |= codes_named(value, seen)
    return named


# What the code of a handler would allow, and never happens to a txn there: only a status check that is given up brings
# another one; a catalog with a log has no server with workers; an attempt that is given up is no success; a base read
# after the build does what a refresh does, and goes on elsewhere; what follows when a lock is given back is only kept.
_SENDING = (
    moments.MOMENT_START_READ,
    *(moments.STEP_START, moments.STEP_BEGIN, moments.STEP_LIST_APPEND, moments.STEP_SWAP, moments.STEP_LAST_LOOK),
    *(moments.STEP_COMMIT, moments.STEP_COMPACT, moments.STEP_COMMITTED),
)
NEVER = {code: {moments.STEP_CHECK_STATUS} for code in _SENDING} | {
    moments.STEP_LOG: {moments.STEP_CHECK_STATUS, moments.MOMENT_READ_ARRIVES},
    moments.STEP_DISCOVER: {moments.STEP_CHECK_STATUS, moments.MOMENT_READ_ARRIVES},
    moments.STEP_LOG_MISSED: {moments.STEP_COMMITTED},
    moments.STEP_REFUSED: {moments.STEP_REFUSED},
    moments.STEP_COMMITTED: {moments.STEP_CHECK_STATUS, moments.STEP_COMMITTED},
    moments.MOMENT_BASE_READ: {moments.STEP_BUILD},
}
# Handlers that go where the txn was told before: to what a read was for, or to what waited for the lock.
TOLD_BEFORE = {moments.MOMENT_READ_ARRIVES, moments.MOMENT_UNLOCK}


@pytest.mark.parametrize("code", sorted({*TRANSITIONS} - TOLD_BEFORE), ids=lambda code: NAMES[code])
def test_the_table_leads_where_the_code_of_its_handler_does(code):
    handler, leads_to = TRANSITIONS[code]

    assert sorted(codes_named(handler, set())) == sorted([*leads_to, *NEVER.get(code, ())])


def test_a_lock_is_given_back_by_whoever_goes_on():
    assert {moments.STEP_REFUSED, moments.STEP_COMMITTED} == {
        code for code, row in TRANSITIONS.items() if moments.MOMENT_UNLOCK in row.leads_to and code >= FIRST_STEP
    }
    assert {moments.STEP_REFUSED, moments.STEP_COMMITTED} == {*TRANSITIONS[moments.MOMENT_UNLOCK].leads_to}


def test_a_read_arrives_that_somebody_sends():
    reads = {*range(moments.MOMENT_START_READ, moments.MOMENT_STATUS_CHECK + 1)}
    reads |= {moments.MOMENT_LOOK, moments.MOMENT_LOCK, moments.MOMENT_UNLOCK}
    sent = [row.leads_to for row in TRANSITIONS.values() if moments.MOMENT_READ_ARRIVES in row.leads_to]

    arriving = TRANSITIONS[moments.MOMENT_READ_ARRIVES].leads_to
    assert {*arriving} == {code for codes in sent for code in codes if code in reads}


@step
def stay_home(world: WorldRecord) -> int:
    return 5


@step
def go_out(world: WorldRecord) -> int:
    return 6


errand = dispatcher("errand", {3: Transition(stay_home, (5,)), 4: Transition(go_out, (5, 7))}, "world")


@jitted
def run_errand(world: WorldRecord, code: int) -> int:
    return errand(world, code)


@pytest.mark.parametrize(("code", "following", "strayed"), [(3, 5, (-1, -1)), (4, 6, (4, 6)), (8, 8, (-1, -1))])
def test_a_handler_that_goes_where_the_table_does_not_lead_is_noted(code, following, strayed):
    world = records(WorldRecord, 1)[0]

    assert following == run_errand(world, code)
    assert strayed == (world["loop"]["strayed_from"], world["loop"]["strayed_to"])


def test_a_txn_astray_ends_the_run_in_words():
    parts = build_parts(parse_config(configurations()["cas, catalog"]), 1, OwnParts())
    engine = CompiledEngine(parts, RawRows())  # type: ignore[arg-type]
    engine._world["loop"]["strayed_from"], engine._world["loop"]["strayed_to"] = MOMENT_COMMIT, MOMENT_RECALL

    with pytest.raises(EngineError, match="a txn went from MOMENT_COMMIT to MOMENT_RECALL, where its table"):
        engine.run()
