"""The life of a txn as one table: who handles each moment and step, and what may follow.

Both dispatchers are made from it: ``handle`` for moments, ``walk`` for the steps after one. A handler does what happens
and returns what comes next; where the table does not lead, the txn is astray and the run is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from endive.kernel import step
from endive.simulation.compiled import appending, commits, events, ordering, outgoing, server, stages
from endive.simulation.compiled.moments import (
    FIRST_STEP,
    MOMENT_BASE_READ,
    MOMENT_BATCH,
    MOMENT_COMMIT,
    MOMENT_COMMIT_ARRIVES,
    MOMENT_COMPACTION,
    MOMENT_COMPACTION_READ,
    MOMENT_DISCOVERY,
    MOMENT_END,
    MOMENT_LIST_APPEND,
    MOMENT_LIST_REWRITTEN,
    MOMENT_LOCK,
    MOMENT_LOG_APPEND,
    MOMENT_LOG_HEAD,
    MOMENT_LOOK,
    MOMENT_POINTER_CHECK,
    MOMENT_PUBLISHED,
    MOMENT_QUEUE,
    MOMENT_READ_ARRIVES,
    MOMENT_READ_BACK,
    MOMENT_RECALL,
    MOMENT_REFRESH,
    MOMENT_RERUN,
    MOMENT_REST_SWAP,
    MOMENT_START_READ,
    MOMENT_STATUS_CHECK,
    MOMENT_TURN,
    MOMENT_UNLOCK,
    STEP_BEGIN,
    STEP_BUILD,
    STEP_CHECK_STATUS,
    STEP_COMMIT,
    STEP_COMMITTED,
    STEP_COMPACT,
    STEP_DISCOVER,
    STEP_LAST_LOOK,
    STEP_LIST_APPEND,
    STEP_LOCK,
    STEP_LOG,
    STEP_LOG_MISSED,
    STEP_NEXT_LIST,
    STEP_REFUSED,
    STEP_RELOAD,
    STEP_START,
    STEP_STOP,
    STEP_SWAP,
)
from endive.simulation.compiled.records import TxnRecord, WorldRecord


class Transition(NamedTuple):
    """Who handles a moment or a step, and what can follow it."""

    handler: Any
    leads_to: tuple[int, ...]


ENDS: Final = (MOMENT_END, MOMENT_RERUN)  # every request may be given up, and the txn with it
LOOKS: Final = (MOMENT_READ_ARRIVES, MOMENT_LOOK)  # at the table, between load and commit
DECIDED: Final = (STEP_COMMITTED, STEP_REFUSED, STEP_CHECK_STATUS, *ENDS)  # a commit, or its answer is lost

TRANSITIONS: Final[dict[int, Transition]] = {
    # --- moments: others see them, each is an event ---------------------------------------------------------------
    MOMENT_RECALL: Transition(events.recalled, (MOMENT_QUEUE, STEP_BEGIN, STEP_START)),
    MOMENT_READ_ARRIVES: Transition(
        server.read_arrives,
        (
            MOMENT_START_READ,
            MOMENT_REFRESH,
            MOMENT_BASE_READ,
            MOMENT_POINTER_CHECK,
            MOMENT_READ_BACK,
            MOMENT_STATUS_CHECK,
            MOMENT_LOOK,
            MOMENT_LOCK,
            MOMENT_UNLOCK,
        ),
    ),
    MOMENT_START_READ: Transition(events.start_read, (MOMENT_QUEUE, STEP_BEGIN, *LOOKS, *ENDS)),
    MOMENT_LOOK: Transition(events.looked, (MOMENT_QUEUE, STEP_BEGIN, *ENDS)),
    MOMENT_REFRESH: Transition(events.refreshed, (STEP_BUILD,)),
    MOMENT_BASE_READ: Transition(events.base_read, (STEP_LAST_LOOK,)),
    MOMENT_POINTER_CHECK: Transition(events.pointer_checked, (STEP_COMMIT, STEP_REFUSED, *ENDS)),
    MOMENT_DISCOVERY: Transition(appending.discovered, (STEP_COMMITTED, STEP_REFUSED)),
    MOMENT_COMPACTION_READ: Transition(appending.sealed_log_read, (STEP_COMPACT,)),
    MOMENT_READ_BACK: Transition(events.read_back, (STEP_RELOAD,)),
    MOMENT_STATUS_CHECK: Transition(outgoing.status_checked, DECIDED),
    MOMENT_LIST_APPEND: Transition(appending.list_appended, (MOMENT_LIST_APPEND, STEP_NEXT_LIST, STEP_LIST_APPEND)),
    MOMENT_LIST_REWRITTEN: Transition(appending.list_rewritten, (STEP_NEXT_LIST,)),
    MOMENT_COMMIT_ARRIVES: Transition(server.commit_arrives, (MOMENT_COMMIT,)),
    MOMENT_COMMIT: Transition(commits.commit_evaluated, (MOMENT_COMMIT, MOMENT_REST_SWAP, MOMENT_BATCH, *DECIDED)),
    MOMENT_REST_SWAP: Transition(commits.rest_swaps, (MOMENT_COMMIT, *DECIDED)),
    MOMENT_LOG_APPEND: Transition(appending.log_appended, (MOMENT_LOG_APPEND, STEP_DISCOVER, STEP_LOG_MISSED)),
    MOMENT_LOG_HEAD: Transition(appending.log_head_evaluated, (STEP_LOG,)),
    MOMENT_COMPACTION: Transition(appending.compaction_evaluated, (MOMENT_COMPACTION, STEP_LOG_MISSED, *DECIDED)),
    MOMENT_QUEUE: Transition(ordering.join_queue, (MOMENT_TURN, STEP_BEGIN)),
    MOMENT_TURN: Transition(ordering.begin_turn, (STEP_BEGIN,)),
    MOMENT_LOCK: Transition(ordering.lock_evaluated, (STEP_LOCK, STEP_LAST_LOOK, STEP_REFUSED)),
    MOMENT_UNLOCK: Transition(ordering.unlock_evaluated, (STEP_COMMITTED, STEP_REFUSED)),
    MOMENT_BATCH: Transition(commits.batch_installed, DECIDED),
    MOMENT_RERUN: Transition(events.run_again, (STEP_START,)),
    MOMENT_PUBLISHED: Transition(events.published, ENDS),
    # --- steps: nobody sees them, they are taken at once ----------------------------------------------------------
    STEP_START: Transition(outgoing.send_start_read, (MOMENT_READ_ARRIVES, MOMENT_START_READ, *ENDS)),
    STEP_BEGIN: Transition(stages.begin_attempt, (MOMENT_REFRESH, STEP_BUILD, *LOOKS, *ENDS)),
    STEP_BUILD: Transition(stages.build, (STEP_NEXT_LIST, STEP_SWAP, STEP_STOP, *ENDS)),
    STEP_NEXT_LIST: Transition(appending.next_list, (STEP_LIST_APPEND, STEP_SWAP)),
    STEP_LIST_APPEND: Transition(appending.send_list_append, (MOMENT_LIST_APPEND, MOMENT_LIST_REWRITTEN, *ENDS)),
    STEP_SWAP: Transition(
        stages.swap, (MOMENT_READ_ARRIVES, MOMENT_BASE_READ, MOMENT_LOCK, MOMENT_POINTER_CHECK, STEP_COMMIT, *ENDS)
    ),
    STEP_LAST_LOOK: Transition(
        stages.look_again, (MOMENT_READ_ARRIVES, MOMENT_LOCK, MOMENT_POINTER_CHECK, STEP_COMMIT, *ENDS)
    ),
    STEP_LOCK: Transition(ordering.send_lock, (MOMENT_READ_ARRIVES, MOMENT_LOCK)),
    STEP_COMMIT: Transition(stages.send_commit, (MOMENT_COMMIT_ARRIVES, MOMENT_COMMIT, STEP_LOG, *ENDS)),
    STEP_LOG: Transition(appending.send_log, (MOMENT_LOG_APPEND, MOMENT_COMPACTION_READ, STEP_COMPACT, *ENDS)),
    STEP_LOG_MISSED: Transition(
        appending.log_missed, (MOMENT_LOG_HEAD, STEP_LOG, STEP_REFUSED, STEP_CHECK_STATUS, *ENDS)
    ),
    STEP_COMPACT: Transition(appending.send_compaction, (MOMENT_COMPACTION, *ENDS)),
    STEP_DISCOVER: Transition(appending.send_discovery, (MOMENT_DISCOVERY, *ENDS)),
    STEP_CHECK_STATUS: Transition(
        outgoing.send_check, (MOMENT_READ_ARRIVES, MOMENT_STATUS_CHECK, STEP_CHECK_STATUS, *ENDS)
    ),
    STEP_REFUSED: Transition(stages.refused, (MOMENT_READ_ARRIVES, MOMENT_UNLOCK, STEP_BEGIN, *ENDS)),
    STEP_STOP: Transition(stages.stop_or_restart, (STEP_START, *ENDS)),
    STEP_COMMITTED: Transition(
        stages.committed, (MOMENT_READ_ARRIVES, MOMENT_UNLOCK, MOMENT_READ_BACK, STEP_RELOAD, *ENDS)
    ),
    STEP_RELOAD: Transition(stages.reload_tables, (MOMENT_PUBLISHED, *ENDS)),
}
# A request that finds a worker free and nothing to do is evaluated within the event of its arrival.
ARRIVALS: Final = (MOMENT_READ_ARRIVES, MOMENT_COMMIT_ARRIVES)


@step
def look(world: WorldRecord, code: int, allowed: int, following: int) -> int:
    """What follows, noted down if the table does not lead there; compiled away where that is plain."""
    if (allowed >> following) & 1 == 0:
        world.loop.strayed_from = code
        world.loop.strayed_to = following
    return following


def dispatcher(name: str, table: Mapping[int, Transition], arguments: str) -> Callable[..., int]:
    """A compiled function of ``arguments`` and a code: it calls the code's handler and returns what comes next.

    A code without a handler is returned as it is.
    """
    lines = [f"def {name}({arguments}, code):"]
    names: dict[str, Any] = {"look": look}
    for code, (handler, leads_to) in table.items():
        allowed = sum(1 << following for following in leads_to)
        names[f"handler_{code}"] = handler
        lines += [
            f"    if code == {code}:",
            f"        return look(world, {code}, {allowed}, handler_{code}({arguments}))",
        ]
    lines.append("    return code")
    exec("\n".join(lines), names)
    return step(names[name])


arrive = dispatcher("arrive", {code: TRANSITIONS[code] for code in ARRIVALS}, "world, txn, now")
happen = dispatcher(
    "happen",
    {code: row for code, row in TRANSITIONS.items() if code < FIRST_STEP and code not in ARRIVALS},
    "world, txn, now",
)
take = dispatcher("take", {code: row for code, row in TRANSITIONS.items() if code >= FIRST_STEP}, "world, txn")


@step
def handle(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """What happens at one moment of one txn, and the steps it takes up to its next."""
    following = arrive(world, txn, now, txn.moment)
    if txn.time_us == now:
        following = happen(world, txn, now, following)
    while following >= FIRST_STEP:
        following = take(world, txn, following)
    txn.moment = following
