"""The event loop of the compiled engine: the next event, its handler, the next one.

The loop stops when its batch of rows is full, when it needs more places, or after a while, and goes on where it
stopped.
"""

from endive.distributions.code import draw_us
from endive.distributions.counts import draw_count
from endive.kernel import jitted, overwrite, step
from endive.results.columns import write_row
from endive.rng import substream, uniform
from endive.simulation.compiled import memory
from endive.simulation.compiled import records as at
from endive.simulation.compiled.heap import ROOT, drop_root, push, replace_root
from endive.simulation.compiled.kept_tables import kept_number
from endive.simulation.compiled.memory import (
    codes,
    event_at,
    kept_at,
    seat_at,
    source_at,
    submission_at,
    txn_at,
)
from endive.simulation.compiled.moments import MOMENT_END, MOMENT_RECALL
from endive.simulation.compiled.observer import observe_end
from endive.simulation.compiled.ordering import pass_turn
from endive.simulation.compiled.outgoing import send_start_read
from endive.simulation.compiled.records import Seat, SourceRecord, TxnRecord, WorldRecord
from endive.simulation.compiled.server import catalog_bytes, watch
from endive.simulation.compiled.transitions import handle
from endive.transaction.aftermath import restarted_us, restarts_client
from endive.transaction.ordering import PARKED_US
from endive.vocabulary import COMMITTED, EXPIRE_SNAPSHOTS, NONE
from endive.workload.arrivals import NO_MORE, client_of, next_arrival_us
from endive.workload.choice import choose_partitions, choose_tables, own_table
from endive.workload.source import RUNTIME_COUNTER, TOUCHED_FILES_COUNTER, draw_kind, first_of_job
from endive.workload.trace import NOT_GIVEN

# --- submitting ----------------------------------------------------------------------------------------------


@step
def draft(world: WorldRecord, source: SourceRecord, txn: TxnRecord) -> None:
    """Decide what the txn does: a cell of its trace, what cannot be otherwise, or a draw from its key."""
    drawn = codes(world)
    kind = int(source.only_kind)
    runtime_us = NOT_GIVEN
    table = NOT_GIVEN
    if source.trace >= 0:
        submission = submission_at(world, source.trace + txn.row.source_index)
        runtime_us = submission.runtime_us
        table = submission.table
        if submission.kind != NOT_GIVEN:
            kind = submission.kind
    if kind == NOT_GIVEN:
        kind = draw_kind(drawn, source.kind_tails, txn.key)
    txn.job_key = txn.key
    txn.group = 0
    if source.timing.commits_per_job > 1:
        runtime_us = join_job(world, source, txn)
    elif runtime_us == NOT_GIVEN:
        runtime_us = draw_us(drawn, source.runtime, txn.key, RUNTIME_COUNTER, 0)
    if source.own_tables >= 0:
        table = own_table(drawn, source.own_tables, client_of(txn.row.source_index))
    tables = memory.table_ids(world, txn)
    if table == NOT_GIVEN:
        n_read, n_written = choose_tables(drawn, source.tables, txn.job_key, tables, 0)
    else:
        tables[0] = table
        n_read, n_written = 1, 1
    txn.row.kind = kind
    txn.row.n_tables_read = n_read
    txn.row.n_tables_written = n_written
    txn.runtime_us = runtime_us
    overwrite(txn.operation, source.operation)
    txn.operation.kind = kind
    if source.says_files == 1:
        txn.touched_files = draw_count(source.touched_files, uniform(txn.job_key, TOUCHED_FILES_COUNTER))
    else:
        txn.touched_files = 0
    if source.partitions >= 0:
        draft_partitions(world, source, txn)


@step
def join_job(world: WorldRecord, source: SourceRecord, txn: TxnRecord) -> int:
    """The txn is one commit of a job: when the thread that makes it has rewritten its groups of files so far."""
    first = first_of_job(txn.row.source_index, source.timing.commits_per_job)
    txn.job_key = substream(source.key, first)
    txn.group = txn.row.source_index - first
    runtime_us = 0
    for earlier in range(txn.group % source.threads, txn.group + 1, source.threads):
        key = substream(source.key, first + earlier)
        runtime_us += draw_us(codes(world), source.runtime, key, RUNTIME_COUNTER, 0)
    return runtime_us


@step
def draft_partitions(world: WorldRecord, source: SourceRecord, txn: TxnRecord) -> None:
    """Decide which partitions it touches; an expiry changes none."""
    n_tables_changed = 0 if txn.row.kind == EXPIRE_SNAPSHOTS else txn.row.n_tables_written
    tables = memory.table_ids(world, txn)
    for position in range(txn.row.n_tables_read):
        is_written = position < n_tables_changed
        partitions = memory.partitions(world, txn, position)
        code = source.partitions + source.partitions_stride * tables[position]
        count, written = choose_partitions(codes(world), code, is_written, txn.job_key, position, partitions, 0)
        touched = memory.touched_at(world, txn, position)
        touched.n_partitions = count
        touched.n_partitions_written = written


@step
def take_place(world: WorldRecord) -> TxnRecord:
    """A free record: the one given back last, which is still near, or one that was never taken."""
    if world.flight.free_head >= 0:
        txn = txn_at(world, world.flight.free_head)
        world.flight.free_head = txn.next_free
        return txn
    txn = txn_at(world, world.flight.n_taken)
    txn.place = world.flight.n_taken
    world.flight.n_taken += 1
    return txn


@step
def submit(world: WorldRecord, source_index: int, index: int, now: int) -> TxnRecord:
    """A txn begins: the record it takes, with the time of its first event."""
    txn = take_place(world)
    world.flight.active += 1
    world.flight.active_max = max(world.flight.active_max, world.flight.active)
    source = source_at(world, source_index)
    overwrite(txn.row, world.blank.row)
    txn.row.txn_id = world.flight.next_id
    world.flight.next_id += 1
    txn.row.source = source_index
    if source.timing.clients > 0:
        txn.row.client = client_of(index)
    txn.row.source_index = index
    txn.row.submit_us = now
    txn.source = source_index
    txn.key = txn.own_key = substream(source.key, index)
    overwrite(txn.leftovers, world.blank.leftovers)
    txn.times_applied = 0
    txn.has_reached = 0
    txn.has_turn = 0
    txn.has_lock = 0
    txn.is_locked_out = 0
    txn.has_failed = 0
    txn.is_recalled = 0
    txn.submit_bytes = catalog_bytes(world)
    txn.time_us = now
    txn.keeps_table = source.keeps_table
    draft(world, source, txn)
    watch(world, txn)
    if source.keeps_table == 1 and kept_at(world, kept_number(world, txn)).is_there == 1:
        txn.moment = MOMENT_RECALL
    else:
        txn.moment = send_start_read(world, txn)
    return txn


@jitted
def next_submission_us(world: WorldRecord, source_index: int, index: int, previous_us: int, submitted_us: int) -> int:
    """When the source submits its txn ``index``, or NO_MORE."""
    source = source_at(world, source_index)
    given_us = 0
    if source.trace >= 0 and index < source.timing.trace_count:
        given_us = submission_at(world, source.trace + index).submit_us
    return next_arrival_us(
        source.timing, previous_us, submitted_us, index, codes(world), source.gaps, source.arrivals_key, given_us
    )


@step
def take_turn(world: WorldRecord, seat: Seat, number: int, now: int) -> None:
    """Whoever sits at ``seat`` submits a txn; an open source stays seated for its next."""
    txn = submit(world, seat.source, seat.index, now)
    if txn.row.client != NONE:
        replace_root(world, txn.time_us, txn.place)
        return
    push(world, txn.time_us, txn.place)
    next_us = next_submission_us(world, seat.source, seat.index + 1, now, now)
    if next_us == NO_MORE:
        drop_root(world)
        return
    seat.index += 1
    replace_root(world, next_us, -1 - number)


# --- finishing -----------------------------------------------------------------------------------------------


@step
def record(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """A finished txn's row goes out, and its place is free."""
    observe_end(world, txn, now)
    txn.row.end_us = now
    tables = memory.table_ids(world, txn)
    write_row(world.output, world.loop.n_rows, memory.wide_row(txn), memory.narrow_row(txn), tables)
    world.loop.n_rows += 1
    txn.next_free = world.flight.free_head
    world.flight.free_head = txn.place
    world.flight.active -= 1


@step
def finish(world: WorldRecord, txn: TxnRecord, now: int) -> None:
    """The txn at the root of the heap has ended; the client of a closed loop takes its seat again."""
    client = txn.row.client
    index = txn.row.source_index + 1
    record(world, txn, now)
    due_us = NO_MORE
    source = source_at(world, txn.source)
    if client != NONE and restarts_client(source.aftermath, txn.row.status == COMMITTED):
        due_us = restarted_us(source.aftermath, now, source.timing.stop_us, NO_MORE)
        if txn.keeps_table == 1:
            kept_at(world, kept_number(world, txn)).is_there = 0
    elif client != NONE:
        due_us = next_submission_us(world, txn.source, index, now, txn.row.submit_us)
    if due_us == NO_MORE:
        drop_root(world)
    else:
        number = source.first_seat + client
        seat = seat_at(world, number)
        seat.index = index
        seat.order = txn.row.txn_id
        replace_root(world, due_us, -1 - number)
    if txn.has_turn == 1:
        pass_turn(world, source.queue, txn, now)


@jitted
def advance(world: WorldRecord, events_max: int) -> int:
    """Handle events until one of the reasons in ``records`` to come back."""
    why = at.TURN_OVER
    handled = 0
    while handled < events_max:
        root = event_at(world, ROOT)
        now = root.time_us
        who = root.who
        if now >= world.loop.end_us:
            why = at.DONE
            break
        if world.server.is_times_full == 1:
            why = at.TIMES_SHORT
            break
        if who < 0:
            if world.flight.free_head < 0 and world.flight.n_taken == world.flight.n_places:
                why = at.PLACES_SHORT
                break
            take_turn(world, seat_at(world, -1 - who), -1 - who, now)
        else:
            txn = txn_at(world, who)
            if txn.moment != MOMENT_END:
                handle(world, txn, now)
                if txn.time_us == PARKED_US:
                    drop_root(world)
                else:
                    replace_root(world, txn.time_us, who)
            elif world.loop.n_rows == world.output.room:
                why = at.BATCH_FULL
                break
            else:
                finish(world, txn, now)
        handled += 1
        world.loop.now_us = now
    world.loop.events += handled
    return why
