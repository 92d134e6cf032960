"""Shared moments: what happens when a txn's request is evaluated.

Decisions are the rules'; the steps up to the next moment are in ``stages``. A handler takes the instant of its moment,
leaves in the txn when its next one is due, and returns what comes next (``transitions``).
"""

from endive.formats import paying
from endive.formats import rules as formats
from endive.kernel import step
from endive.simulation.compiled import memory
from endive.simulation.compiled.bill import adding_up
from endive.simulation.compiled.ending import end, fail
from endive.simulation.compiled.kept_tables import recall, remember
from endive.simulation.compiled.memory import server_table, touched_at
from endive.simulation.compiled.moments import (
    STEP_BEGIN,
    STEP_BUILD,
    STEP_COMMIT,
    STEP_LAST_LOOK,
    STEP_REFUSED,
    STEP_RELOAD,
    STEP_START,
)
from endive.simulation.compiled.observer import observe_read
from endive.simulation.compiled.outgoing import answer_read, read_answered_us
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import is_current, keep_base, see
from endive.simulation.compiled.stages import check_metadata, clean_up, load_and_run, run, work, write_metadata
from endive.transaction.second_look import AGAIN
from endive.vocabulary import NO_REASON, PHASE_CATALOG_READ, PHASE_COMMIT, PHASE_RUNTIME


@step
def start_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The state a txn starts from."""
    answer_read(world, txn, now)
    see(world, txn, now)
    observe_read(world, txn, now)
    following = load_and_run(world, txn)
    keep_base(world, txn, True)
    return following


@step
def recalled(world: WorldRecord, txn: TxnRecord, _now: int) -> int:
    """A txn whose client has kept its table begins with what it knew; nothing is loaded."""
    recall(world, txn)
    keep_base(world, txn, True)
    if formats.looks_at_kept(world):
        txn.is_recalled = 1
        return STEP_START
    return run(world, txn)


@step
def run_again(_world: WorldRecord, _txn: TxnRecord, _now: int) -> int:
    """Whoever scheduled the txn has waited long enough."""
    return STEP_START


@step
def looked(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The table between load and commit: an epoch goes on from it."""
    if formats.lists_twice(world):
        return listed_again(world, txn, now)
    answer_read(world, txn, now)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        seen, known = server_table(world, tables[position]), touched_at(world, txn, position).start
        paying.pay_look(adding_up(), world, txn, position, seen, known)
    if txn.has_failed == 1:
        return fail(world, txn)
    see(world, txn, now)
    observe_read(world, txn, now)
    keep_base(world, txn, True)
    return STEP_BEGIN


@step
def listed_again(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The log once more, after the table was loaded: the txn goes on from what is new."""
    txn.time_us = read_answered_us(world, txn, now)
    txn.row.phases_us[PHASE_RUNTIME] += txn.time_us - txn.sent_us
    is_moved = False
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        seen, known = server_table(world, tables[position]), touched_at(world, txn, position).start
        paying.pay_load(adding_up(), world, txn, AGAIN + position, seen, known, True)
        if seen.version != known.version:
            is_moved = True
    if txn.has_failed == 1:
        return fail(world, txn)
    if is_moved:
        if txn.keeps_table == 1:
            remember(world, txn, now)
        see(world, txn, now)
        observe_read(world, txn, now)
        keep_base(world, txn, True)
    return work(world, txn, txn.runtime_us)


@step
def refreshed(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The newest state, to build an attempt on."""
    txn.time_us = read_answered_us(world, txn, now)
    if txn.keeps_table == 1 and formats.learns_by_looking(world):
        remember(world, txn, now)
    see(world, txn, now)
    observe_read(world, txn, now)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    return STEP_BUILD


@step
def base_read(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The repair is done; this is the version to swap on."""
    refreshed(world, txn, now)
    return STEP_LAST_LOOK


@step
def read_back(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The state after a commit."""
    answer_read(world, txn, now)
    txn.row.phases_us[PHASE_CATALOG_READ] += txn.time_us - txn.sent_us
    return STEP_RELOAD


@step
def pointer_checked(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The txn looks whether its base still stands."""
    txn.time_us = read_answered_us(world, txn, now)
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us
    is_checked_first = formats.checks_before_last_step(world, txn.operation)
    if is_checked_first:
        check_metadata(world, txn)
        if txn.has_failed == 1:
            return fail(world, txn)
    if is_current(world, txn):
        if is_checked_first:
            write_metadata(world, txn)
            if txn.has_failed == 1:
                return fail(world, txn)
        return STEP_COMMIT
    txn.row.hazard_window_us = now - txn.base_us
    keep_base(world, txn, False)
    txn.is_known = 0
    return STEP_REFUSED


# --- what follows a commit -------------------------------------------------------------------------------------


@step
def published(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """What the txn has written after its commit is there."""
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_written):
        formats.publish(world, server_table(world, tables[position]), touched_at(world, txn, position).plan)
    txn.time_us = now
    clean_up(world, txn, True)
    return end(world, txn, NO_REASON)
