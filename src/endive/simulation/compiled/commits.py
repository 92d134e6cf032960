"""The server evaluates commits: swaps of an object, and calls to a catalog server, which may write, rebase and gather.

What a txn does once it knows how its commit was decided is in ``stages``.
"""

from endive.catalog.rules import join_batch
from endive.formats import rivals
from endive.formats import rules as formats
from endive.kernel import step
from endive.rng import METADATA_WRITE, SERVER_LIST, slot
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.bill import one_us
from endive.simulation.compiled.kept_tables import remember
from endive.simulation.compiled.memory import batch_at, touched_at
from endive.simulation.compiled.moments import (
    MOMENT_BATCH,
    MOMENT_COMMIT,
    MOMENT_REST_SWAP,
    STEP_COMMITTED,
    STEP_REFUSED,
)
from endive.simulation.compiled.observer import observe_commit, observe_read
from endive.simulation.compiled.outgoing import lose_answer
from endive.simulation.compiled.records import TxnRecord, WorldRecord
from endive.simulation.compiled.server import (
    answered_us,
    commit_arrives,
    expect,
    install,
    is_current,
    keep_base,
    meets_rival,
    see,
    undo,
    undoable,
    waits_until_us,
)
from endive.transaction.failures import loses_answer
from endive.vocabulary import CREATE, MANIFEST_LIST, METADATA, NONE, PHASE_COMMIT, READ, WRITE


@step
def learn_refusal(world: WorldRecord, txn: TxnRecord, is_told: bool, now: int) -> None:
    """The base becomes the state before; a refusal that tells brings a new one, if the protocol looks at it."""
    keep_base(world, txn, False)
    txn.is_known = 0
    if is_told and formats.builds_on_told_state(world, txn.operation):
        see(world, txn, now)
        observe_read(world, txn, now)
        if txn.keeps_table == 1:
            remember(world, txn, now)
        txn.is_known = 1


@step
def apply(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The commit becomes the newest state, and everybody who has to takes note."""
    undone = undoable(world, txn)
    if undone > 0:
        undo(world, txn)
        txn.row.compactions_undone += undone
    install(world, txn, now)
    observe_commit(world, txn, now)
    if txn.keeps_table == 1 and not loses_answer(world.failures, txn.key, txn.row.attempts):
        remember(world, txn, now)


@step
def decided(world: WorldRecord, txn: TxnRecord, success: bool, is_told: bool, evaluated_us: int) -> int:
    """A commit was decided at ``evaluated_us``, and the txn knows at its ``time_us``."""
    txn.row.phases_us[PHASE_COMMIT] += txn.time_us - txn.sent_us
    built_on_us = txn.base_us
    if success and txn.rebased_us != NONE:
        built_on_us = txn.rebased_us
    txn.row.hazard_window_us = evaluated_us - built_on_us
    if loses_answer(world.failures, txn.key, txn.row.attempts):
        return lose_answer(world, txn, success)
    if success:
        return STEP_COMMITTED
    learn_refusal(world, txn, is_told, evaluated_us)
    return STEP_REFUSED


@step
def commit_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The server evaluates a commit on the catalog's own state."""
    if world.catalog.is_object == 1:
        return swap_evaluated(world, txn, now)
    if world.catalog.batch_us > 0:
        return batch_joined(world, txn, now)
    success = is_current(world, txn) or undoable(world, txn) > 0
    if world.catalog.is_rest == 1:
        if not success:
            return rest_refused(world, txn, now)
        if formats.writes_at_server(world) or (txn.tries > 0 and world.catalog.rewrites_list == 1):
            return rest_writes_metadata(world, txn, now)
    if success:
        apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, success, world.catalog.is_refusal_telling == 1, now)


@step
def swap_evaluated(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The catalog object evaluates a commit."""
    swap = world.catalog.swap
    number = at.CATALOG_OBJECT
    if swap == CREATE:
        number = at.FIRST_LIST_OBJECT + memory.table_ids(world, txn)[0]
    txn.time_us = waits_until_us(world, txn, number, swap, now)
    if txn.time_us > now:
        return MOMENT_COMMIT
    contended = meets_rival(world, txn, number, swap, now)
    success = is_current(world, txn)
    if success:
        apply(world, txn, now)
    size_bytes = txn.server_bytes if swap == CREATE else txn.base_bytes
    kind = world.catalog.object_kind
    txn.time_us = answered_us(world, txn, number, kind, swap, size_bytes, success, contended, now)
    return decided(world, txn, success, world.catalog.is_refusal_telling == 1, now)


@step
def rest_writes_metadata(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server writes the metadata objects itself, after the lists if it has rebased, then swaps."""
    txn.time_us = now
    if txn.tries > 0 and world.catalog.rewrites_list == 1:
        rewrite_lists(world, txn, txn.tries)
    write_server_metadata(world, txn, txn.tries)
    return MOMENT_REST_SWAP


@step
def write_server_metadata(world: WorldRecord, txn: TxnRecord, tried: int) -> None:
    """The metadata objects, if there are any."""
    if not formats.writes_at_server(world):
        return
    for position in range(txn.row.n_tables_written):
        counter = slot(txn.row.attempts, METADATA_WRITE, position) + tried
        txn.time_us += one_us(world, txn, counter, METADATA, WRITE, txn.server_bytes)


@step
def rewrite_lists(world: WorldRecord, txn: TxnRecord, tried: int) -> None:
    """Lists that hold the txn's manifest and those of whoever came first."""
    size_bytes = formats.server_list_bytes(world, touched_at(world, txn, 0).base)
    for position in range(txn.row.n_tables_written):
        counter = slot(txn.row.attempts, SERVER_LIST, position) + 2 * tried
        txn.time_us += one_us(world, txn, counter, MANIFEST_LIST, READ, size_bytes)
        txn.time_us += one_us(world, txn, counter + 1, MANIFEST_LIST, WRITE, size_bytes)


@step
def batch_joined(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server takes the commit with others to its table; the first of them brings what is written for all."""
    batch = batch_at(world, memory.table_ids(world, txn)[0])
    if join_batch(batch, now, world.catalog.batch_us):
        txn.time_us = batch.taken_us
        rewrite_lists(world, txn, 0)
        write_server_metadata(world, txn, 0)
        batch.done_us = txn.time_us
    txn.time_us = batch.done_us
    return MOMENT_BATCH


@step
def rebase(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A change that commutes is put on the newest state; the observer takes that for its base."""
    txn.rebased_us = now
    expect(world, txn)
    txn.base_commit = world.books.ledger.commits


@step
def batch_installed(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """The batch is written: whatever commutes is installed, whoever came first."""
    if rivals.commutes(txn.operation) and not is_current(world, txn):
        rebase(world, txn, now)
    success = is_current(world, txn)
    if success:
        apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, success, not success and world.catalog.is_refusal_telling == 1, now)


@step
def rest_refused(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server finds the base stale: it rebases what commutes and tries again, or refuses."""
    if rivals.commutes(txn.operation) and txn.tries < world.catalog.server_retries:
        txn.tries += 1
        rebase(world, txn, now)
        return commit_arrives(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, False, world.catalog.is_refusal_telling == 1, now)


@step
def rest_swaps(world: WorldRecord, txn: TxnRecord, now: int) -> int:
    """A REST server has written the metadata and swaps the pointer."""
    if not is_current(world, txn) and undoable(world, txn) == 0:
        return rest_refused(world, txn, now)
    apply(world, txn, now)
    txn.time_us = now + txn.latency_us - txn.leg_us
    return decided(world, txn, True, False, now)
