"""Shared moments: what happens when a txn's request is evaluated.

Owns the handling of each kind of event. Decisions are the rules'; what follows until the next event is
``stages``'. Every function takes the instant of the event and returns when the txn's next one is due.
"""

from endive.catalog.rules import (
    LANDED,
    LIST_OFFSET,
    LIST_SEALED,
    LOG_EPOCH,
    LOG_OFFSET,
    LOG_SEALED,
    N_COUNTERS,
    N_LOG,
    append_to_list,
    compact_log,
    find_log,
    land_entry,
    rewrite_list,
    take_worker,
)
from endive.catalog.service import SERVED_BACK, SERVED_CHECK, SERVED_COMMIT, SERVED_READ, SERVED_START
from endive.distributions.code import FloatArray, IntArray, draw_us
from endive.kernel import inlined, leaf
from endive.results.schema import (
    NONE,
    PHASE_CATALOG_READ,
    PHASE_COMMIT,
    ROW_APPEND_COMPACTIONS_COMPLETED,
    ROW_APPEND_COMPACTIONS_TRIGGERED,
    ROW_APPEND_LOGICAL_CONFLICT,
    ROW_APPEND_LOGICAL_SUCCESS,
    ROW_APPEND_PHYSICAL_FAILURE,
    ROW_APPEND_PHYSICAL_SUCCESS,
    ROW_ATTEMPTS,
    ROW_HAZARD_US,
    ROW_MANIFEST_APPEND_PHYSICAL_FAILURE,
    ROW_MANIFEST_APPEND_PHYSICAL_SUCCESS,
    ROW_MANIFEST_APPEND_SEALED_REWRITE,
    ROW_N_TABLES_WRITTEN,
    ROW_PHASES,
)
from endive.rng import LOG_HEAD, METADATA_WRITE, SERVICE, slot
from endive.simulation.compiled.asking import read_answered_us
from endive.simulation.compiled.bill import one_us
from endive.simulation.compiled.layout import (
    C_CATALOG,
    C_COMPACTION_BYTES,
    C_COMPACTION_ENTRIES,
    C_ENTRY_BYTES,
    C_FREE,
    C_IS_INLINED,
    C_IS_REST,
    C_IS_SEED004,
    C_LIST_ENTRY_BYTES,
    C_LIST_SEAL_BYTES,
    C_PHYSICAL_MAX,
    C_PROTOCOL,
    C_Q,
    C_REFUSAL_TELLS,
    C_SERVER_RETRIES,
    C_SERVICE_TIME,
    C_WORKERS,
    CATALOG_CAS,
    CATALOG_OBJECT,
    F_SHARES,
    FIRST_LIST_OBJECT,
    G_LOG,
    LOG_OBJECT,
    READ_CHECK,
    READ_COMPACTION,
    READ_NEW_STATE,
    READ_REFRESH,
    READ_START,
    STAGE_COMMIT,
    STAGE_LOG_HEAD,
    STAGE_READ,
    STAGE_REST_SWAP,
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
    X_BASE_BYTES,
    X_BASE_US,
    X_EPOCH,
    X_EVALUATED_US,
    X_IS_APPLIED,
    X_IS_KNOWN,
    X_KEY,
    X_LATENCY,
    X_LEG,
    X_METADATA_BYTES,
    X_NEWEST_EPOCH,
    X_NEWEST_SEALED,
    X_OFFSET,
    X_OPERATION,
    X_POSITION,
    X_PURPOSE,
    X_READ_BYTES,
    X_REBASED_US,
    X_SEALED,
    X_SENT_US,
    X_STAGE,
    X_TRIES,
    B,
    G,
    R,
)
from endive.simulation.compiled.observe import observe_commit, observe_log, observe_read, observe_rebase
from endive.simulation.compiled.paying import pay_check_reads, pay_metadata_writes
from endive.simulation.compiled.server import (
    answer_us,
    catalog_bytes,
    copy_snapshot,
    expect,
    install,
    is_current,
    meets_rival,
    see,
    waits_until_us,
)
from endive.simulation.compiled.stages import load_and_run
from endive.storage.contention import request_leg_us
from endive.storage.requests import APPEND, CAS, CATALOG, HEAD, LOG, MANIFEST_LIST, METADATA, WRITE
from endive.transaction.protocol import BASE, BASE_START, N_PROTOCOL
from endive.transaction.rules import N_OPERATION, checks_before_metadata, commutes

# --- a catalog server with workers -----------------------------------------------------------------------------


@leaf
def served_us(m: IntArray, f: FloatArray, x: IntArray, i: int, position: int, now: int) -> int:
    """Queue for a worker; when it will be done."""
    service_us = 0
    if m[C_SERVICE_TIME] >= 0:
        counter = slot(x[i + R + ROW_ATTEMPTS], SERVICE, position)
        if position == SERVED_COMMIT:
            counter += x[i + X_TRIES]
        service_us = draw_us(f, m[C_SERVICE_TIME], x[i + X_KEY], counter, 0)
    workers = m[C_WORKERS]
    return take_worker(m[m[C_FREE] : m[C_FREE] + workers], workers, now, service_us)


@leaf
def read_arrives(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A catalog read reaches a server with workers."""
    position = SERVED_READ
    if x[i + X_PURPOSE] == READ_CHECK:
        position = SERVED_CHECK
    elif x[i + X_PURPOSE] == READ_START:
        position = SERVED_START
    elif x[i + X_PURPOSE] == READ_NEW_STATE:
        position = SERVED_BACK
    x[i + X_STAGE] = STAGE_READ
    return served_us(m, f, x, i, position, now)


@leaf
def commit_arrives(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A commit reaches a server with workers."""
    x[i + X_STAGE] = STAGE_COMMIT
    return served_us(m, f, x, i, SERVED_COMMIT, now)


# --- reads -------------------------------------------------------------------------------------------------------


@leaf
def read_evaluated(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """The server evaluates a catalog read: the txn will know the state of this instant."""
    purpose = x[i + X_PURPOSE]
    time_us = read_answered_us(m, f, x, i, now)
    if purpose == READ_START:
        see(m, x, i, now)
        observe_read(m, x, i, now)
        copy_snapshot(m, x, i, True)
        time_us = load_and_run(m, f, x, i, time_us)
        x[i + X_STAGE] = STEP_BEGIN
        return time_us
    if purpose == READ_REFRESH:
        see(m, x, i, now)
        observe_read(m, x, i, now)
        x[i + R + ROW_PHASES + PHASE_CATALOG_READ] += time_us - x[i + X_SENT_US]
        x[i + X_STAGE] = STEP_BUILD
        return time_us
    if purpose == READ_NEW_STATE:
        x[i + R + ROW_PHASES + PHASE_CATALOG_READ] += time_us - x[i + X_SENT_US]
        x[i + X_STAGE] = STEP_RELOAD
        return time_us
    if purpose == READ_COMPACTION:
        x[i + X_NEWEST_SEALED] = m[G + G_LOG + LOG_SEALED]
        x[i + X_NEWEST_EPOCH] = m[G + G_LOG + LOG_EPOCH]
        x[i + X_STAGE] = STEP_COMPACT
        return time_us
    x[i + R + ROW_PHASES + PHASE_COMMIT] += time_us - x[i + X_SENT_US]
    if purpose == READ_CHECK:
        is_checked_first = checks_before_metadata(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL])
        if is_checked_first:
            time_us = pay_check_reads(m, f, x, i, time_us)
        if is_current(m, x, i):
            if is_checked_first:
                time_us = pay_metadata_writes(m, f, x, i, time_us)
            x[i + X_STAGE] = STEP_COMMIT
            return time_us
        x[i + R + ROW_HAZARD_US] = now - x[i + X_BASE_US]
        copy_snapshot(m, x, i, False)
        x[i + X_IS_KNOWN] = 0
        x[i + X_STAGE] = STEP_REFUSED
        return time_us
    x[i + R + ROW_HAZARD_US] = x[i + X_EVALUATED_US] - x[i + X_BASE_US]
    if x[i + X_IS_APPLIED] == 1:
        x[i + X_STAGE] = STEP_COMMITTED
        return time_us
    learn_refusal(m, x, i, True, now)
    x[i + X_STAGE] = STEP_REFUSED
    return time_us


@inlined
def learn_refusal(m: IntArray, x: IntArray, i: int, tells: bool, now: int) -> None:
    """The base becomes the state before; a refusal that tells brings a new one, if the protocol looks at it."""
    copy_snapshot(m, x, i, False)
    x[i + X_IS_KNOWN] = 0
    if tells and m[C_PROTOCOL + BASE] == BASE_START:
        see(m, x, i, now)
        observe_read(m, x, i, now)
        x[i + X_IS_KNOWN] = 1


# --- commits -------------------------------------------------------------------------------------------------------


@inlined
def decided(
    m: IntArray, f: FloatArray, x: IntArray, i: int, success: bool, tells: bool, time_us: int, evaluated_us: int
) -> int:
    """A commit was decided at ``evaluated_us``, and the txn knows at ``time_us``."""
    x[i + R + ROW_PHASES + PHASE_COMMIT] += time_us - x[i + X_SENT_US]
    built_on_us = x[i + X_BASE_US]
    if success and x[i + X_REBASED_US] != NONE:
        built_on_us = x[i + X_REBASED_US]
    x[i + R + ROW_HAZARD_US] = evaluated_us - built_on_us
    if success:
        x[i + X_STAGE] = STEP_COMMITTED
        return time_us
    learn_refusal(m, x, i, tells, evaluated_us)
    x[i + X_STAGE] = STEP_REFUSED
    return time_us


@inlined
def commit_evaluated(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """The server evaluates a commit on the catalog's own state."""
    if m[C_CATALOG] == CATALOG_CAS:
        free_us = waits_until_us(m, f, x, i, CATALOG_OBJECT, CAS, now)
        if free_us > now:
            return free_us
        contended = meets_rival(m, x, i, CATALOG_OBJECT, CAS, now)
        success = is_current(m, x, i)
        if success:
            install(m, x, i)
            observe_commit(m, x, i, now)
        size_bytes = x[i + X_BASE_BYTES]
        time_us = answer_us(m, f, x, i, CATALOG_OBJECT, CATALOG, CAS, size_bytes, success, contended, now)
        return decided(m, f, x, i, success, False, time_us, now)
    success = is_current(m, x, i)
    if m[C_IS_REST] == 1:
        if not success:
            return rest_refused(m, f, x, i, now)
        if m[C_IS_INLINED] == 0:
            x[i + X_STAGE] = STAGE_REST_SWAP
            return rest_writes_metadata(m, f, x, i, now)
    if success:
        install(m, x, i)
        observe_commit(m, x, i, now)
    time_us = now + x[i + X_LATENCY] - x[i + X_LEG]
    return decided(m, f, x, i, success, m[C_REFUSAL_TELLS] == 1, time_us, now)


@leaf
def rest_writes_metadata(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A REST server writes the metadata objects itself; when it is done."""
    time_us = now
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        counter = slot(x[i + R + ROW_ATTEMPTS], METADATA_WRITE, position) + x[i + X_TRIES]
        time_us += one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, WRITE, x[i + X_METADATA_BYTES])
    return time_us


@leaf
def rest_refused(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A REST server finds the base stale: it rebases what commutes and tries again, or refuses."""
    o = m[x[i + X_OPERATION] : x[i + X_OPERATION] + N_OPERATION]
    if commutes(o) and x[i + X_TRIES] < m[C_SERVER_RETRIES]:
        x[i + X_TRIES] += 1
        x[i + X_REBASED_US] = now
        expect(m, x, i)
        observe_rebase(m, x, i)
        return commit_arrives(m, f, x, i, now)
    time_us = now + x[i + X_LATENCY] - x[i + X_LEG]
    return decided(m, f, x, i, False, m[C_REFUSAL_TELLS] == 1, time_us, now)


@leaf
def rest_swaps(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A REST server has written the metadata and swaps the pointer."""
    if not is_current(m, x, i):
        return rest_refused(m, f, x, i, now)
    install(m, x, i)
    observe_commit(m, x, i, now)
    time_us = now + x[i + X_LATENCY] - x[i + X_LEG]
    return decided(m, f, x, i, True, False, time_us, now)


# --- the log of an append catalog ---------------------------------------------------------------------------------


@leaf
def apply_record(m: IntArray, x: IntArray, i: int, now: int) -> bool:
    """The logical check of a record that is in the log or in the checkpoint."""
    applied = is_current(m, x, i)
    if applied:
        install(m, x, i)
        observe_commit(m, x, i, now)
        x[i + R + ROW_APPEND_LOGICAL_SUCCESS] += 1
    else:
        x[i + R + ROW_APPEND_LOGICAL_CONFLICT] += 1
    x[i + X_IS_APPLIED] = 1 if applied else 0
    return applied


@leaf
def learn_log_end(m: IntArray, x: IntArray, i: int) -> None:
    """Where the log ends at this instant."""
    x[i + X_OFFSET] = m[G + G_LOG + LOG_OFFSET]
    x[i + X_SEALED] = m[G + G_LOG + LOG_SEALED]
    x[i + X_EPOCH] = m[G + G_LOG + LOG_EPOCH]


@leaf
def log_appended(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """The log evaluates an append at an offset."""
    free_us = waits_until_us(m, f, x, i, LOG_OBJECT, APPEND, now)
    if free_us > now:
        return free_us
    contended = meets_rival(m, x, i, LOG_OBJECT, APPEND, now)
    log = m[G + G_LOG : G + G_LOG + N_LOG]
    x[i + X_EVALUATED_US] = now
    is_landed = find_log(log, x[i + X_OFFSET]) == LANDED
    if is_landed:
        applied = apply_record(m, x, i, now)
        if land_entry(log, m[C_ENTRY_BYTES], m[C_COMPACTION_BYTES], m[C_COMPACTION_ENTRIES]):
            x[i + R + ROW_APPEND_COMPACTIONS_TRIGGERED] += 1
        observe_log(m, x, i, applied, now)
        x[i + R + ROW_APPEND_PHYSICAL_SUCCESS] += 1
    else:
        x[i + R + ROW_APPEND_PHYSICAL_FAILURE] += 1
    x[i + X_READ_BYTES] = catalog_bytes(m)
    time_us = answer_us(m, f, x, i, LOG_OBJECT, LOG, APPEND, m[C_ENTRY_BYTES], is_landed, contended, now)
    if is_landed:
        x[i + X_STAGE] = STEP_DISCOVER
        return time_us
    learn_log_end(m, x, i)
    x[i + X_STAGE] = STEP_LOG_MISSED
    return time_us


@leaf
def log_missed(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The log had moved, was sealed, or was compacted by somebody else: try again, or give the attempt up."""
    x[i + X_TRIES] += 1
    if m[C_PHYSICAL_MAX] > 0 and x[i + X_TRIES] >= m[C_PHYSICAL_MAX]:
        return decided(m, f, x, i, False, False, time_us, x[i + X_EVALUATED_US])
    if m[C_IS_SEED004] == 1:
        x[i + X_STAGE] = STEP_LOG
        return time_us
    counter = slot(x[i + R + ROW_ATTEMPTS], LOG_HEAD, 0) + x[i + X_TRIES]
    latency_us = one_us(m, f, x, i, x[i + X_KEY], counter, LOG, HEAD, 0)
    x[i + X_LATENCY] = latency_us
    x[i + X_LEG] = request_leg_us(latency_us, f[F_SHARES + HEAD])
    x[i + X_STAGE] = STAGE_LOG_HEAD
    return time_us + x[i + X_LEG]


@leaf
def log_head_evaluated(m: IntArray, x: IntArray, i: int, now: int) -> int:
    """The txn learns where the log ends, and tries again there."""
    learn_log_end(m, x, i)
    x[i + X_STAGE] = STEP_LOG
    return now + x[i + X_LATENCY] - x[i + X_LEG]


@leaf
def compaction_evaluated(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """The log evaluates a compacting swap; with preset ``log`` it carries the committer's own record."""
    free_us = waits_until_us(m, f, x, i, LOG_OBJECT, CAS, now)
    if free_us > now:
        return free_us
    contended = meets_rival(m, x, i, LOG_OBJECT, CAS, now)
    log = m[G + G_LOG : G + G_LOG + N_LOG]
    is_done = log[LOG_SEALED] != 0 and log[LOG_EPOCH] == x[i + X_EPOCH]
    applied = False
    is_seed004 = m[C_IS_SEED004] == 1
    if is_done:
        compact_log(log)
        x[i + R + ROW_APPEND_COMPACTIONS_COMPLETED] += 1
        if not is_seed004:
            x[i + X_EVALUATED_US] = now
            applied = apply_record(m, x, i, now)
        observe_log(m, x, i, applied, now)
    size_bytes = x[i + X_BASE_BYTES]
    time_us = answer_us(m, f, x, i, LOG_OBJECT, LOG, CAS, size_bytes, is_done, contended, now)
    if is_seed004:
        learn_log_end(m, x, i)
        x[i + X_STAGE] = STEP_LOG_MISSED
        return time_us
    if is_done:
        return decided(m, f, x, i, applied, False, time_us, now)
    x[i + R + ROW_APPEND_PHYSICAL_FAILURE] += 1
    x[i + X_STAGE] = STEP_LOG_MISSED
    return time_us


# --- manifest lists that are appended to ----------------------------------------------------------------------------


@leaf
def list_appended(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """A table's manifest list evaluates an append at an offset."""
    position = x[i + X_POSITION]
    table = x[i + B + position]
    number = FIRST_LIST_OBJECT + table
    free_us = waits_until_us(m, f, x, i, number, APPEND, now)
    if free_us > now:
        return free_us
    contended = meets_rival(m, x, i, number, APPEND, now)
    size_bytes = m[C_LIST_ENTRY_BYTES]
    is_landed = (
        append_to_list(m[m[C_Q] : m[C_FREE]], table, x[i + X_OFFSET], size_bytes, m[C_LIST_SEAL_BYTES]) == LANDED
    )
    time_us = answer_us(m, f, x, i, number, MANIFEST_LIST, APPEND, size_bytes, is_landed, contended, now)
    if is_landed:
        x[i + R + ROW_MANIFEST_APPEND_PHYSICAL_SUCCESS] += 1
        x[i + X_POSITION] = position + 1
        x[i + X_STAGE] = STEP_NEXT_LIST
        return time_us
    x[i + R + ROW_MANIFEST_APPEND_PHYSICAL_FAILURE] += 1
    x[i + X_OFFSET] = m[m[C_Q] + table * N_COUNTERS + LIST_OFFSET]
    x[i + X_SEALED] = m[m[C_Q] + table * N_COUNTERS + LIST_SEALED]
    x[i + X_TRIES] += 1
    x[i + X_STAGE] = STEP_LIST_APPEND
    return time_us


@leaf
def list_rewritten(m: IntArray, x: IntArray, i: int, now: int) -> int:
    """A fresh manifest list stands where a sealed one was."""
    position = x[i + X_POSITION]
    rewrite_list(m[m[C_Q] : m[C_FREE]], x[i + B + position])
    x[i + R + ROW_MANIFEST_APPEND_SEALED_REWRITE] += 1
    x[i + X_POSITION] = position + 1
    x[i + X_STAGE] = STEP_NEXT_LIST
    return now
