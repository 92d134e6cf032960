"""The life of a txn between two events, over arrays.

Owns the walk from one shared moment to the next: everything in between that nobody can observe is summed on
the way. The counts are planned by ``endive.transaction.rules``, the very functions the reference engine calls;
the order of payments is that of ``endive.transaction.transaction``.

Every function here takes the time reached so far and returns when the txn's next event is due; what that event
is stands in the txn's ``X_STAGE``.
"""

from endive.catalog.append import COMPACTION_READ, DRAWS_PER_REQUEST
from endive.catalog.instant import REQUEST_SHARE
from endive.catalog.rules import (
    LIST_OFFSET,
    LIST_SEALED,
    MANIFESTS,
    N_COUNTERS,
    VERSION,
)
from endive.distributions.code import FloatArray, IntArray, draw_us
from endive.kernel import inlined, leaf
from endive.results.schema import (
    NONE,
    PHASE_BACKOFF,
    PHASE_MANIFEST_LIST,
    PHASE_MANIFESTS,
    PHASE_METADATA,
    PHASE_RUNTIME,
    REASON_NONE,
    REASON_VALIDATION_EXCEPTION,
    ROW_ATTEMPTS,
    ROW_COMMIT_START_US,
    ROW_N_BEHIND_FIRST,
    ROW_N_TABLES_READ,
    ROW_N_TABLES_WRITTEN,
    ROW_PHASES,
    ROW_REASON,
    ROW_RESTARTS,
    ROW_STATUS,
    STATUS_ABORTED,
    STATUS_COMMITTED,
)
from endive.rng import (
    AFTER_READ,
    BACKOFF,
    CLEANUP,
    COMMIT,
    COMPACTION,
    DISCOVERY,
    LIST_APPEND,
    LOAD_METADATA,
    POINTER_READ,
    READ_BACK,
    REFRESH,
    slot,
    uniform,
)
from endive.simulation.compiled.asking import send_read
from endive.simulation.compiled.bill import many_us, note, one_us
from endive.simulation.compiled.layout import (
    C_B_PLANS,
    C_CATALOG,
    C_ENTRY_BYTES,
    C_IS_SEED004,
    C_LATENCY,
    C_LIST_ENTRY_BYTES,
    C_POINTER_CHECKED,
    C_PROTOCOL,
    C_Q,
    CATALOG_APPEND,
    CATALOG_CAS,
    CATALOG_SERVICE,
    F_SHARES,
    FIRST_SOURCE,
    FIRST_SOURCE_FLOAT,
    FS_BASE_MS,
    FS_JITTER,
    FS_MAX_MS,
    FS_MULTIPLIER,
    N_FS,
    N_PLANS,
    N_SOURCE,
    READ_CHECK,
    READ_COMPACTION,
    READ_DISCOVERY,
    READ_NEW_STATE,
    READ_REFRESH,
    SNAP_BASE,
    SNAP_START,
    SOURCE_APPLICATION_RETRIES,
    SOURCE_BACKOFF,
    SOURCE_RETRIES_MAX,
    SOURCE_TIMEOUT_US,
    STAGE_COMMIT,
    STAGE_COMMIT_ARRIVES,
    STAGE_COMPACTION,
    STAGE_END,
    STAGE_LIST_APPEND,
    STAGE_LIST_REWRITTEN,
    STAGE_LOG_APPEND,
    STEP_BEGIN,
    STEP_BUILD,
    STEP_COMMIT,
    STEP_COMPACT,
    STEP_LIST_APPEND,
    STEP_LOG,
    STEP_NEXT_LIST,
    STEP_RELOAD,
    STEP_START,
    STEP_STOP,
    STEP_SWAP,
    X_ATTEMPT,
    X_BASE_BYTES,
    X_BASE_EPOCH,
    X_BASE_OFFSET,
    X_BASE_SEALED,
    X_BEGIN_US,
    X_COUNTER,
    X_EPOCH,
    X_EVALUATED_US,
    X_IS_KNOWN,
    X_KEPT_MANIFESTS,
    X_KEY,
    X_LATENCY,
    X_LEG,
    X_LOST_LISTS,
    X_LOST_MANIFESTS,
    X_METADATA_BYTES,
    X_NEWEST_EPOCH,
    X_NEWEST_SEALED,
    X_OFFSET,
    X_OPERATION,
    X_POSITION,
    X_READ_BYTES,
    X_REBASED_US,
    X_RUNTIME,
    X_SEALED,
    X_SENT_US,
    X_SOURCE,
    X_STAGE,
    X_TRIES,
    X_WAITED,
    B,
    R,
)
from endive.simulation.compiled.paying import pay_build, pay_validation, read_list_us
from endive.simulation.compiled.planning import plan
from endive.simulation.compiled.sizes import manifest_list_bytes, metadata_bytes, table_at
from endive.storage.contention import request_leg_us
from endive.storage.requests import (
    APPEND,
    CAS,
    CATALOG,
    DELETE,
    LOG,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    READ,
    WRITE,
)
from endive.transaction.payments import APPEND_DRAWS, REWRITE_DRAWS
from endive.transaction.protocol import (
    IS_INLINED,
    IS_LIST_APPENDED,
    N_PROTOCOL,
    REAL_ABORT,
    REAL_CONFLICT,
    SERVER_WRITES_METADATA,
)
from endive.transaction.retry import BACKOFF_NONE, backoff_us
from endive.transaction.rules import (
    FAST_APPEND,
    KIND,
    LIST_APPENDS,
    LIST_WRITES,
    MERGE_WRITES,
    N_OPERATION,
    checks_before_metadata,
    cleans_up,
    loads_metadata,
    merged_away,
    must_read_catalog,
    reason_to_stop,
    reloads_after_success,
    rereads_catalog,
    rewrites_own_manifests,
)

# --- loading and running ------------------------------------------------------------------------------------


@leaf
def load_and_run(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """After the first catalog read: load the tables, do the work; when the commit begins.

    Called at the instant the server evaluated that read, so ``q`` still is what the txn saw.
    """
    if loads_metadata(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]):
        for position in range(x[i + R + ROW_N_TABLES_READ]):
            size_bytes = metadata_bytes(m, m[m[C_Q] + x[i + B + position] * N_COUNTERS + VERSION])
            counter = slot(x[i + R + ROW_ATTEMPTS], LOAD_METADATA, position)
            time_us += one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, READ, size_bytes)
    time_us += x[i + X_RUNTIME]
    x[i + R + ROW_PHASES + PHASE_RUNTIME] += time_us - x[i + X_SENT_US]
    if x[i + R + ROW_COMMIT_START_US] == NONE:
        x[i + R + ROW_COMMIT_START_US] = time_us
    x[i + X_BEGIN_US] = time_us
    x[i + X_ATTEMPT] = 0
    x[i + X_IS_KNOWN] = 0
    x[i + X_WAITED] = 0
    return time_us


@inlined
def wait_us(m: IntArray, f: FloatArray, x: IntArray, i: int) -> int:
    """The backoff before this retry."""
    at = FIRST_SOURCE + x[i + X_SOURCE] * N_SOURCE
    if m[at + SOURCE_BACKOFF] == BACKOFF_NONE:
        return 0
    fs = FIRST_SOURCE_FLOAT + x[i + X_SOURCE] * N_FS
    waited_us = backoff_us(
        m[at + SOURCE_BACKOFF],
        f[fs + FS_BASE_MS],
        f[fs + FS_MULTIPLIER],
        f[fs + FS_MAX_MS],
        f[fs + FS_JITTER],
        x[i + X_ATTEMPT] - 1,
        x[i + X_WAITED],
        uniform(x[i + X_KEY], slot(x[i + R + ROW_ATTEMPTS], BACKOFF, 0)),
    )
    x[i + X_WAITED] = waited_us
    x[i + R + ROW_PHASES + PHASE_BACKOFF] += waited_us
    return waited_us


@inlined
def begin_attempt(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Another attempt: wait, learn the newest state if the protocol asks for it, build."""
    x[i + X_ATTEMPT] += 1
    x[i + R + ROW_ATTEMPTS] += 1
    if x[i + X_ATTEMPT] > 1:
        time_us += wait_us(m, f, x, i)
    if must_read_catalog(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL], x[i + X_ATTEMPT], x[i + X_IS_KNOWN] == 1):
        x[i + X_SENT_US] = time_us
        counter = slot(x[i + R + ROW_ATTEMPTS], REFRESH, 0)
        return send_read(m, f, x, i, time_us, READ_REFRESH, counter, x[i + X_BASE_BYTES])
    x[i + X_STAGE] = STEP_BUILD
    return time_us


@inlined
def build(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """On the base it has: plan, validate, write; then append to lists or go to the swap."""
    if x[i + R + ROW_N_BEHIND_FIRST] == NONE:
        behind = 0
        for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
            at = table_at(m, position)
            behind += x[i + B + at + SNAP_BASE + VERSION] - x[i + B + at + SNAP_START + VERSION]
        x[i + R + ROW_N_BEHIND_FIRST] = behind
    is_real = plan(m, f, x, i)
    time_us = pay_validation(m, f, x, i, time_us)
    if is_real and m[C_PROTOCOL + REAL_CONFLICT] == REAL_ABORT:
        time_us = clean_up(m, f, x, i, time_us, False)
        x[i + X_STAGE] = STEP_STOP
        return time_us
    time_us = pay_build(m, f, x, i, time_us)
    if m[C_PROTOCOL + IS_LIST_APPENDED] == 1:
        x[i + X_SENT_US] = time_us
        x[i + X_POSITION] = 0
        x[i + X_STAGE] = STEP_NEXT_LIST
        return time_us
    x[i + X_STAGE] = STEP_SWAP
    return time_us


# --- appending to manifest lists ----------------------------------------------------------------------------


@leaf
def next_list(m: IntArray, x: IntArray, i: int, time_us: int) -> int:
    """Append to the next list the plan names, from ``X_POSITION`` on; after the last, swap."""
    position = x[i + X_POSITION]
    while position < x[i + R + ROW_N_TABLES_WRITTEN]:
        if x[i + B + m[C_B_PLANS] + position * N_PLANS + LIST_APPENDS] > 0:
            base = table_at(m, position) + SNAP_BASE
            x[i + X_POSITION] = position
            x[i + X_TRIES] = 0
            x[i + X_OFFSET] = x[i + B + base + LIST_OFFSET]
            x[i + X_SEALED] = x[i + B + base + LIST_SEALED]
            x[i + X_STAGE] = STEP_LIST_APPEND
            return time_us
        position += 1
    x[i + R + ROW_PHASES + PHASE_MANIFEST_LIST] += time_us - x[i + X_SENT_US]
    x[i + X_STAGE] = STEP_SWAP
    return time_us


@leaf
def send_list_append(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """A tentative entry leaves for the list's end; or the list, known to be sealed, is rewritten."""
    position = x[i + X_POSITION]
    first = slot(x[i + R + ROW_ATTEMPTS], LIST_APPEND, position)
    if x[i + X_SEALED] != 0:
        counter = first + REWRITE_DRAWS
        manifests = x[i + B + table_at(m, position) + SNAP_BASE + MANIFESTS]
        time_us += read_list_us(m, f, x, i, manifests, counter, counter + 1)
        size_bytes = manifest_list_bytes(m, manifests + 1)
        time_us += one_us(m, f, x, i, x[i + X_KEY], counter + 2, MANIFEST_LIST, WRITE, size_bytes)
        x[i + X_STAGE] = STAGE_LIST_REWRITTEN
        return time_us
    x[i + X_COUNTER] = first + APPEND_DRAWS * x[i + X_TRIES]
    latency_us = one_us(m, f, x, i, x[i + X_KEY], x[i + X_COUNTER], MANIFEST_LIST, APPEND, m[C_LIST_ENTRY_BYTES])
    x[i + X_LATENCY] = latency_us
    x[i + X_LEG] = request_leg_us(latency_us, f[F_SHARES + APPEND])
    x[i + X_STAGE] = STAGE_LIST_APPEND
    return time_us + x[i + X_LEG]


# --- swapping -----------------------------------------------------------------------------------------------


@inlined
def swap(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Everything is written; ask whether the base still stands if the protocol does, then swap."""
    x[i + X_METADATA_BYTES] = metadata_bytes(m, x[i + B + table_at(m, 0) + SNAP_BASE + VERSION] + 1)
    if checks_before_metadata(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]) or m[C_POINTER_CHECKED] == 1:
        x[i + X_SENT_US] = time_us
        counter = slot(x[i + R + ROW_ATTEMPTS], POINTER_READ, 0)
        return send_read(m, f, x, i, time_us, READ_CHECK, counter, x[i + X_BASE_BYTES])
    x[i + X_STAGE] = STEP_COMMIT
    return time_us


@inlined
def send_commit(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The conditional write leaves; when it reaches the server."""
    x[i + X_SENT_US] = time_us
    x[i + X_TRIES] = 0
    x[i + X_REBASED_US] = NONE
    kind = m[C_CATALOG]
    if kind == CATALOG_APPEND:
        x[i + X_OFFSET] = x[i + X_BASE_OFFSET]
        x[i + X_SEALED] = x[i + X_NEWEST_SEALED] = x[i + X_BASE_SEALED]
        x[i + X_EPOCH] = x[i + X_NEWEST_EPOCH] = x[i + X_BASE_EPOCH]
        x[i + X_EVALUATED_US] = time_us
        x[i + X_STAGE] = STEP_LOG
        return time_us
    counter = slot(x[i + R + ROW_ATTEMPTS], COMMIT, 0)
    x[i + X_COUNTER] = counter
    if kind == CATALOG_CAS:
        latency_us = one_us(m, f, x, i, x[i + X_KEY], counter, CATALOG, CAS, x[i + X_BASE_BYTES])
        leg_us = request_leg_us(latency_us, f[F_SHARES + CAS])
    else:
        latency_us = draw_us(f, m[C_LATENCY], x[i + X_KEY], counter, 0)
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        note(x, i, CATALOG, CAS, 0, 1)
    x[i + X_LATENCY] = latency_us
    x[i + X_LEG] = leg_us
    x[i + X_STAGE] = STAGE_COMMIT_ARRIVES if kind == CATALOG_SERVICE else STAGE_COMMIT
    return time_us + leg_us


@leaf
def send_log(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Append catalog: the record leaves for the log's end, or the log, known to be sealed, is compacted."""
    if x[i + X_SEALED] == 0:
        x[i + X_COUNTER] = slot(x[i + R + ROW_ATTEMPTS], COMMIT, 0) + DRAWS_PER_REQUEST * x[i + X_TRIES]
        latency_us = one_us(m, f, x, i, x[i + X_KEY], x[i + X_COUNTER], LOG, APPEND, m[C_ENTRY_BYTES])
        x[i + X_LATENCY] = latency_us
        x[i + X_LEG] = request_leg_us(latency_us, f[F_SHARES + APPEND])
        x[i + X_STAGE] = STAGE_LOG_APPEND
        return time_us + x[i + X_LEG]
    is_read = x[i + X_NEWEST_SEALED] == 1 and x[i + X_NEWEST_EPOCH] == x[i + X_EPOCH]
    if m[C_IS_SEED004] == 1 or is_read:
        x[i + X_STAGE] = STEP_COMPACT
        return time_us
    counter = slot(x[i + R + ROW_ATTEMPTS], DISCOVERY, COMPACTION_READ) + x[i + X_TRIES]
    return send_read(m, f, x, i, time_us, READ_COMPACTION, counter, x[i + X_BASE_BYTES])


@leaf
def send_compaction(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The compacting swap leaves."""
    x[i + X_COUNTER] = slot(x[i + R + ROW_ATTEMPTS], COMPACTION, 0) + DRAWS_PER_REQUEST * x[i + X_TRIES]
    latency_us = one_us(m, f, x, i, x[i + X_KEY], x[i + X_COUNTER], LOG, CAS, x[i + X_BASE_BYTES])
    x[i + X_LATENCY] = latency_us
    x[i + X_LEG] = request_leg_us(latency_us, f[F_SHARES + CAS])
    x[i + X_STAGE] = STAGE_COMPACTION
    return time_us + x[i + X_LEG]


@leaf
def send_discovery(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The record landed; read the catalog back to learn what became of it."""
    counter = slot(x[i + R + ROW_ATTEMPTS], DISCOVERY, 0)
    return send_read(m, f, x, i, time_us, READ_DISCOVERY, counter, x[i + X_READ_BYTES])


# --- ending -------------------------------------------------------------------------------------------------


@leaf
def clean_up(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int, is_committed: bool) -> int:
    """Delete what lost attempts wrote; after an abort, the own manifests too."""
    if cleans_up(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]):
        key = x[i + X_KEY]
        counter = slot(x[i + R + ROW_ATTEMPTS], CLEANUP, 0)
        lists = x[i + X_LOST_LISTS]
        spent_us = many_us(m, f, x, i, key, counter, MANIFEST_LIST, DELETE, 0, lists, 1)
        x[i + R + ROW_PHASES + PHASE_MANIFEST_LIST] += spent_us
        time_us += spent_us
        manifests = x[i + X_LOST_MANIFESTS]
        if not is_committed:
            manifests += x[i + X_KEPT_MANIFESTS]
        counter = slot(x[i + R + ROW_ATTEMPTS], CLEANUP, 1)
        spent_us = many_us(m, f, x, i, key, counter, MANIFEST, DELETE, 0, manifests, 1)
        x[i + R + ROW_PHASES + PHASE_MANIFESTS] += spent_us
        time_us += spent_us
    x[i + X_LOST_LISTS] = 0
    x[i + X_LOST_MANIFESTS] = 0
    x[i + X_KEPT_MANIFESTS] = 0
    return time_us


@leaf
def end(x: IntArray, i: int, time_us: int, reason: int) -> int:
    """The txn is over at ``time_us``."""
    x[i + R + ROW_STATUS] = STATUS_COMMITTED if reason == REASON_NONE else STATUS_ABORTED
    x[i + R + ROW_REASON] = reason
    x[i + X_STAGE] = STAGE_END
    return time_us


@leaf
def stop_or_restart(m: IntArray, x: IntArray, i: int, time_us: int) -> int:
    """After a real conflict: the application may run the whole txn once more."""
    at = FIRST_SOURCE + x[i + X_SOURCE] * N_SOURCE
    if x[i + R + ROW_RESTARTS] >= m[at + SOURCE_APPLICATION_RETRIES]:
        return end(x, i, time_us, REASON_VALIDATION_EXCEPTION)
    x[i + R + ROW_RESTARTS] += 1
    x[i + X_STAGE] = STEP_START
    return time_us


@leaf
def committed(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The swap succeeded: ask for the new state, if the protocol does."""
    p = m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]
    o = m[x[i + X_OPERATION] : x[i + X_OPERATION] + N_OPERATION]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        first = m[C_B_PLANS] + position * N_PLANS
        x[i + X_LOST_MANIFESTS] += merged_away(p, o, x[i + B + first : i + B + first + N_PLANS])
    if rereads_catalog(p, o):
        x[i + X_SENT_US] = time_us
        counter = slot(x[i + R + ROW_ATTEMPTS], READ_BACK, 0)
        return send_read(m, f, x, i, time_us, READ_NEW_STATE, counter, x[i + X_BASE_BYTES])
    x[i + X_STAGE] = STEP_RELOAD
    return time_us


@leaf
def reload_tables(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Read the written tables back, clean up, end."""
    if reloads_after_success(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]):
        has_metadata = m[C_PROTOCOL + IS_INLINED] == 0 and m[C_PROTOCOL + SERVER_WRITES_METADATA] == 0
        is_listed = m[x[i + X_OPERATION] + KIND] != FAST_APPEND
        for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
            base = table_at(m, position) + SNAP_BASE
            counter = slot(x[i + R + ROW_ATTEMPTS], AFTER_READ, position)
            if has_metadata:
                size_bytes = metadata_bytes(m, x[i + B + base + VERSION] + 1)
                spent_us = one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, READ, size_bytes)
                x[i + R + ROW_PHASES + PHASE_METADATA] += spent_us
                time_us += spent_us
            if is_listed:
                manifests = x[i + B + base + MANIFESTS] + 1
                spent_us = read_list_us(m, f, x, i, manifests, counter + 1, counter + 2)
                x[i + R + ROW_PHASES + PHASE_MANIFEST_LIST] += spent_us
                time_us += spent_us
    time_us = clean_up(m, f, x, i, time_us, True)
    return end(x, i, time_us, REASON_NONE)


@inlined
def refused(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The swap was refused, and the txn knows it now: give up, or another attempt."""
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        at = m[C_B_PLANS] + position * N_PLANS
        x[i + X_LOST_LISTS] += x[i + B + at + LIST_WRITES]
        x[i + X_LOST_MANIFESTS] += x[i + B + at + MERGE_WRITES]
    if rewrites_own_manifests(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]):
        x[i + X_LOST_MANIFESTS] += x[i + X_KEPT_MANIFESTS]
        x[i + X_KEPT_MANIFESTS] = 0
    at = FIRST_SOURCE + x[i + X_SOURCE] * N_SOURCE
    reason = reason_to_stop(
        x[i + X_ATTEMPT], m[at + SOURCE_RETRIES_MAX], time_us - x[i + X_BEGIN_US], m[at + SOURCE_TIMEOUT_US]
    )
    if reason != REASON_NONE:
        time_us = clean_up(m, f, x, i, time_us, False)
        return end(x, i, time_us, reason)
    x[i + X_STAGE] = STEP_BEGIN
    return time_us
