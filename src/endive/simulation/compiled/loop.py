"""The event loop of the compiled engine: the next event, its handler, the next one.

Owns submissions, the order of events, the rows of finished txns and the places of those in flight. Stops when
its batch of rows is full, when it needs more places, or after a while, and goes on where it stopped.
"""

from endive.distributions.code import FloatArray, IntArray, draw_us
from endive.kernel import inlined, jitted, leaf
from endive.results.schema import (
    N_ROW,
    NONE,
    ROW_CLIENT,
    ROW_COMMIT_START_US,
    ROW_END_US,
    ROW_HAZARD_US,
    ROW_KIND,
    ROW_N_BEHIND_FIRST,
    ROW_N_TABLES_READ,
    ROW_N_TABLES_WRITTEN,
    ROW_SOURCE,
    ROW_SOURCE_INDEX,
    ROW_SUBMIT_US,
    ROW_TXN_ID,
)
from endive.rng import substream
from endive.simulation.compiled import asking, events, stages
from endive.simulation.compiled.heap import drop_root, push, replace_root
from endive.simulation.compiled.layout import (
    BATCH_FULL,
    C_B_PARTITION_COUNTS,
    C_B_PARTITIONS,
    C_END_US,
    C_PARTITIONS_MAX,
    C_SEATS,
    C_TRACE,
    C_TRACE_COUNT,
    DONE,
    FIRST_SOURCE,
    FIRST_STEP,
    G_ACTIVE,
    G_ACTIVE_MAX,
    G_EVENTS,
    G_FREE_HEAD,
    G_NEXT_ID,
    G_NOW_US,
    G_ROW_TABLES,
    G_ROWS,
    H_ROOT,
    H_WHO,
    N_SEAT,
    N_SOURCE,
    PLACES_SHORT,
    SEAT_INDEX,
    SEAT_ORDER,
    SEAT_SOURCE,
    SOURCE_ARRIVALS,
    SOURCE_ARRIVALS_KEY,
    SOURCE_FIRST_SEAT,
    SOURCE_GAPS,
    SOURCE_KEY,
    SOURCE_KIND_TAILS,
    SOURCE_ONLY_KIND,
    SOURCE_OPERATIONS,
    SOURCE_PARTITIONS,
    SOURCE_RUNTIME,
    SOURCE_TABLES,
    SOURCE_TRACE,
    STAGE_COMMIT,
    STAGE_COMMIT_ARRIVES,
    STAGE_COMPACTION,
    STAGE_END,
    STAGE_LIST_APPEND,
    STAGE_LIST_REWRITTEN,
    STAGE_LOG_APPEND,
    STAGE_LOG_HEAD,
    STAGE_READ,
    STAGE_READ_ARRIVES,
    STEP_BEGIN,
    STEP_BUILD,
    STEP_COMMIT,
    STEP_COMMITTED,
    STEP_COMPACT,
    STEP_DISCOVER,
    STEP_LIST_APPEND,
    STEP_LOG,
    STEP_LOG_MISSED,
    STEP_NEXT_LIST,
    STEP_REFUSED,
    STEP_RELOAD,
    STEP_STOP,
    STEP_SWAP,
    TURN_OVER,
    X_HAS_REACHED,
    X_KEPT_MANIFESTS,
    X_KEY,
    X_LOST_LISTS,
    X_LOST_MANIFESTS,
    X_NEXT_FREE,
    X_OPERATION,
    X_RUNTIME,
    X_SOURCE,
    X_STAGE,
    X_SUBMIT_BYTES,
    X_TIMES_APPLIED,
    B,
    G,
    R,
)
from endive.simulation.compiled.observe import observe_end
from endive.simulation.compiled.server import catalog_bytes, watch
from endive.transaction.rules import N_OPERATION
from endive.workload.arrivals import (
    ARRIVALS_CLIENTS,
    NO_MORE,
    client_of,
    next_arrival_us,
)
from endive.workload.choice import choose_partitions, choose_tables
from endive.workload.source import RUNTIME_COUNTER, draw_kind
from endive.workload.trace import NOT_GIVEN

# Columns of the trace array.
TRACE_SUBMIT = 0
TRACE_KIND = 1
TRACE_RUNTIME = 2
TRACE_TABLE = 3


@leaf
def draft(m: IntArray, f: FloatArray, x: IntArray, i: int) -> None:
    """Decide what the txn does: a cell of its trace, what cannot be otherwise, or a draw from its key."""
    at = FIRST_SOURCE + x[i + X_SOURCE] * N_SOURCE
    key = x[i + X_KEY]
    kind = m[at + SOURCE_ONLY_KIND]
    runtime_us = NOT_GIVEN
    table = NOT_GIVEN
    if m[at + SOURCE_TRACE] >= 0:
        cell = m[C_TRACE] + m[at + SOURCE_TRACE] + x[i + R + ROW_SOURCE_INDEX]
        runtime_us = m[cell + TRACE_RUNTIME * m[C_TRACE_COUNT]]
        table = m[cell + TRACE_TABLE * m[C_TRACE_COUNT]]
        if m[cell + TRACE_KIND * m[C_TRACE_COUNT]] != NOT_GIVEN:
            kind = m[cell + TRACE_KIND * m[C_TRACE_COUNT]]
    if kind == NOT_GIVEN:
        kind = draw_kind(f, m[at + SOURCE_KIND_TAILS], key)
    if runtime_us == NOT_GIVEN:
        runtime_us = draw_us(f, m[at + SOURCE_RUNTIME], key, RUNTIME_COUNTER, 0)
    if table == NOT_GIVEN:
        n_read, n_written = choose_tables(f, m[at + SOURCE_TABLES], key, x, i + B)
    else:
        x[i + B] = table
        n_read, n_written = 1, 1
    x[i + R + ROW_KIND] = kind
    x[i + R + ROW_N_TABLES_READ] = n_read
    x[i + R + ROW_N_TABLES_WRITTEN] = n_written
    x[i + X_RUNTIME] = runtime_us
    x[i + X_OPERATION] = at + SOURCE_OPERATIONS + kind * N_OPERATION
    if m[at + SOURCE_PARTITIONS] >= 0:
        for position in range(n_read):
            first = m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
            count, written = choose_partitions(
                f, m[at + SOURCE_PARTITIONS], position < n_written, key, position, x, i + B + first
            )
            x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position] = count
            x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position + 1] = written


@leaf
def submit(m: IntArray, f: FloatArray, x: IntArray, source: int, index: int, now: int) -> tuple[int, int]:
    """A txn begins: the place it takes, and when its first event is due."""
    i = m[G + G_FREE_HEAD]
    m[G + G_FREE_HEAD] = x[i + X_NEXT_FREE]
    m[G + G_ACTIVE] += 1
    if m[G + G_ACTIVE] > m[G + G_ACTIVE_MAX]:
        m[G + G_ACTIVE_MAX] = m[G + G_ACTIVE]
    at = FIRST_SOURCE + source * N_SOURCE
    for field in range(N_ROW):
        x[i + R + field] = 0
    x[i + R + ROW_TXN_ID] = m[G + G_NEXT_ID]
    m[G + G_NEXT_ID] += 1
    x[i + R + ROW_SOURCE] = source
    x[i + R + ROW_CLIENT] = client_of(index) if m[at + SOURCE_ARRIVALS + ARRIVALS_CLIENTS] > 0 else NONE
    x[i + R + ROW_SOURCE_INDEX] = index
    x[i + R + ROW_SUBMIT_US] = now
    x[i + R + ROW_COMMIT_START_US] = NONE
    x[i + R + ROW_END_US] = NONE
    x[i + R + ROW_N_BEHIND_FIRST] = NONE
    x[i + R + ROW_HAZARD_US] = NONE
    x[i + X_SOURCE] = source
    x[i + X_KEY] = substream(m[at + SOURCE_KEY], index)
    x[i + X_LOST_LISTS] = 0
    x[i + X_LOST_MANIFESTS] = 0
    x[i + X_KEPT_MANIFESTS] = 0
    x[i + X_TIMES_APPLIED] = 0
    x[i + X_HAS_REACHED] = 0
    x[i + X_SUBMIT_BYTES] = catalog_bytes(m)
    draft(m, f, x, i)
    watch(m, x, i)
    return i, asking.send_start_read(m, f, x, i, now)


@inlined
def handle(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """What happens at one shared moment of one txn."""
    stage = x[i + X_STAGE]
    if stage == STAGE_READ_ARRIVES:
        due_us = events.read_arrives(m, f, x, i, now)
        if due_us > now:
            return due_us
        stage = STAGE_READ
    elif stage == STAGE_COMMIT_ARRIVES:
        due_us = events.commit_arrives(m, f, x, i, now)
        if due_us > now:
            return due_us
        stage = STAGE_COMMIT
    if stage == STAGE_COMMIT:
        return events.commit_evaluated(m, f, x, i, now)
    if stage == STAGE_READ:
        return events.read_evaluated(m, f, x, i, now)
    if stage == STAGE_LOG_APPEND:
        return events.log_appended(m, f, x, i, now)
    if stage == STAGE_LOG_HEAD:
        return events.log_head_evaluated(m, x, i, now)
    if stage == STAGE_COMPACTION:
        return events.compaction_evaluated(m, f, x, i, now)
    if stage == STAGE_LIST_APPEND:
        return events.list_appended(m, f, x, i, now)
    if stage == STAGE_LIST_REWRITTEN:
        return events.list_rewritten(m, x, i, now)
    return events.rest_swaps(m, f, x, i, now)


@inlined
def walk(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Take the steps nobody notices, one after another; when the next shared moment is due."""
    while x[i + X_STAGE] >= FIRST_STEP:
        step = x[i + X_STAGE]
        if step == STEP_REFUSED:
            time_us = stages.refused(m, f, x, i, time_us)
        elif step == STEP_BEGIN:
            time_us = stages.begin_attempt(m, f, x, i, time_us)
        elif step == STEP_BUILD:
            time_us = stages.build(m, f, x, i, time_us)
        elif step == STEP_SWAP:
            time_us = stages.swap(m, f, x, i, time_us)
        elif step == STEP_COMMIT:
            time_us = stages.send_commit(m, f, x, i, time_us)
        elif step == STEP_COMMITTED:
            time_us = stages.committed(m, f, x, i, time_us)
        elif step == STEP_RELOAD:
            time_us = stages.reload_tables(m, f, x, i, time_us)
        elif step == STEP_NEXT_LIST:
            time_us = stages.next_list(m, x, i, time_us)
        elif step == STEP_LIST_APPEND:
            time_us = stages.send_list_append(m, f, x, i, time_us)
        elif step == STEP_LOG:
            time_us = stages.send_log(m, f, x, i, time_us)
        elif step == STEP_COMPACT:
            time_us = stages.send_compaction(m, f, x, i, time_us)
        elif step == STEP_DISCOVER:
            time_us = stages.send_discovery(m, f, x, i, time_us)
        elif step == STEP_LOG_MISSED:
            time_us = events.log_missed(m, f, x, i, time_us)
        elif step == STEP_STOP:
            time_us = stages.stop_or_restart(m, x, i, time_us)
        else:
            time_us = asking.send_start_read(m, f, x, i, time_us)
    return time_us


@leaf
def record(m: IntArray, x: IntArray, rows: IntArray, row_tables: IntArray, i: int, now: int) -> None:
    """A finished txn's row goes out, and its place is free."""
    observe_end(m, x, i, now)
    x[i + R + ROW_END_US] = now
    at = m[G + G_ROWS]
    for field in range(N_ROW):
        rows[at, field] = x[i + R + field]
    m[G + G_ROWS] = at + 1
    first = m[G + G_ROW_TABLES]
    n_read = x[i + R + ROW_N_TABLES_READ]
    for position in range(n_read):
        row_tables[first + position] = x[i + B + position]
    m[G + G_ROW_TABLES] = first + n_read
    x[i + X_NEXT_FREE] = m[G + G_FREE_HEAD]
    m[G + G_FREE_HEAD] = i
    m[G + G_ACTIVE] -= 1


@leaf
def next_submission_us(m: IntArray, f: FloatArray, source: int, index: int, previous_us: int) -> int:
    """When the source submits its txn ``index``, or NO_MORE."""
    at = FIRST_SOURCE + source * N_SOURCE
    return next_arrival_us(
        m,
        at + SOURCE_ARRIVALS,
        previous_us,
        index,
        f,
        m[at + SOURCE_GAPS],
        m[at + SOURCE_ARRIVALS_KEY],
        m,
        m[C_TRACE] + m[at + SOURCE_TRACE],
    )


@leaf
def finish(
    m: IntArray, f: FloatArray, x: IntArray, h: IntArray, rows: IntArray, row_tables: IntArray, i: int, now: int
) -> None:
    """The txn at the root of the heap has ended; the client of a closed loop takes its seat again."""
    source = x[i + X_SOURCE]
    client = x[i + R + ROW_CLIENT]
    index = x[i + R + ROW_SOURCE_INDEX] + 1
    record(m, x, rows, row_tables, i, now)
    due_us = NO_MORE
    if client != NONE:
        due_us = next_submission_us(m, f, source, index, now)
    if due_us == NO_MORE:
        drop_root(h, m, x)
        return
    seat = m[FIRST_SOURCE + source * N_SOURCE + SOURCE_FIRST_SEAT] + client
    m[m[C_SEATS] + seat * N_SEAT + SEAT_INDEX] = index
    m[m[C_SEATS] + seat * N_SEAT + SEAT_ORDER] = x[i + R + ROW_TXN_ID]
    replace_root(h, m, x, due_us, -1 - seat)


@leaf
def take_turn(m: IntArray, f: FloatArray, x: IntArray, h: IntArray, seat: int, now: int) -> None:
    """Whoever sits at ``seat`` submits a txn; an open source stays seated for its next."""
    at = m[C_SEATS] + seat * N_SEAT
    source = m[at + SEAT_SOURCE]
    index = m[at + SEAT_INDEX]
    i, due_us = submit(m, f, x, source, index, now)
    if x[i + R + ROW_CLIENT] != NONE:
        replace_root(h, m, x, due_us, i)
        return
    push(h, m, x, due_us, i)
    next_us = next_submission_us(m, f, source, index + 1, now)
    if next_us == NO_MORE:
        drop_root(h, m, x)
        return
    m[at + SEAT_INDEX] = index + 1
    replace_root(h, m, x, next_us, -1 - seat)


@jitted
def advance(
    m: IntArray, f: FloatArray, x: IntArray, h: IntArray, rows: IntArray, row_tables: IntArray, events_max: int
) -> int:
    """Handle events until one of the reasons in ``layout`` to come back."""
    end_us = m[C_END_US]
    why = TURN_OVER
    handled = 0
    while handled < events_max:
        now = h[H_ROOT]
        if now >= end_us:
            why = DONE
            break
        who = h[H_ROOT + H_WHO]
        if who < 0:
            if m[G + G_FREE_HEAD] < 0:
                why = PLACES_SHORT
                break
            take_turn(m, f, x, h, -1 - who, now)
        elif x[who + X_STAGE] == STAGE_END:
            if m[G + G_ROWS] == rows.shape[0]:
                why = BATCH_FULL
                break
            finish(m, f, x, h, rows, row_tables, who, now)
        else:
            due_us = walk(m, f, x, who, handle(m, f, x, who, now))
            replace_root(h, m, x, due_us, who)
        handled += 1
        m[G + G_NOW_US] = now
    m[G + G_EVENTS] += handled
    return why
