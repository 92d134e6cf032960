"""The table of transitions: whole, true to its handlers, and a txn that leaves it ends the run."""

from __future__ import annotations

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
from endive.verification.planted import configurations


def test_every_moment_and_step_but_the_end_has_a_row():
    assert set(NAMES) - {MOMENT_END} == set(TRANSITIONS)


def test_whatever_follows_has_a_row_too_or_is_the_end():
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
    """The moments and steps that a compiled function, or one it calls, names."""
    python = function.py_func
    if python.__code__ in seen:
        return set()
    seen.add(python.__code__)
    named: set[int] = set()
    for name in python.__code__.co_names:
        value = python.__globals__.get(name)
        if name.startswith(("MOMENT_", "STEP_")):
            named.add(getattr(moments, name))
        elif hasattr(value, "py_func"):
            named |= codes_named(value, seen)
    return named


@pytest.mark.parametrize("code", TRANSITIONS, ids=lambda code: NAMES[code])
def test_the_table_leads_nowhere_that_its_handler_does_not_name(code):
    if code == moments.MOMENT_READ_ARRIVES:  # it returns what the read was sent for
        return
    handler, leads_to = TRANSITIONS[code]

    assert set() == set(leads_to) - codes_named(handler, set())


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


def test_the_loop_handles_the_end_itself():
    assert MOMENT_END not in TRANSITIONS
    assert transitions.END == MOMENT_END
