"""Paying for a plan: history, manifests, lists and metadata objects that nobody watches, summed on the way.

Owns the order of payments, which is that of ``endive.transaction.payments``, and the names of their draws.
"""

from endive.catalog.rules import (
    MANIFESTS,
    N_COUNTERS,
    VERSION,
)
from endive.distributions.code import FloatArray, IntArray
from endive.kernel import inlined, leaf
from endive.results.schema import (
    PHASE_HISTORY,
    PHASE_MANIFEST_LIST,
    PHASE_MANIFESTS,
    PHASE_METADATA,
    ROW_ATTEMPTS,
    ROW_HISTORY_LISTS,
    ROW_N_TABLES_WRITTEN,
    ROW_PHASES,
)
from endive.rng import (
    HISTORY_HEAD,
    HISTORY_READ,
    LIST_HEAD,
    LIST_READ,
    LIST_WRITE,
    MANIFEST_HEAD,
    MANIFEST_READ,
    MANIFEST_WRITE,
    MERGE_READ,
    METADATA_CHECK,
    METADATA_HEAD,
    METADATA_READ,
    METADATA_WRITE,
    VALIDATE_READ,
    slot,
)
from endive.simulation.compiled.bill import many_us, one_us
from endive.simulation.compiled.layout import (
    C_B_PLANS,
    C_MANIFEST_BYTES,
    C_PROTOCOL,
    C_Q,
    N_PLANS,
    SNAP_BASE,
    X_KEPT_MANIFESTS,
    X_KEY,
    X_OPERATION,
    B,
    R,
)
from endive.simulation.compiled.sizes import manifest_list_bytes, metadata_bytes, table_at
from endive.storage.requests import (
    HEAD,
    MANIFEST,
    MANIFEST_LIST,
    METADATA,
    READ,
    WRITE,
)
from endive.transaction.payments import FILTER_DRAWS, MERGE_DRAWS
from endive.transaction.protocol import (
    HISTORY_PARALLEL,
    IS_WRITTEN_HEADED,
    N_PROTOCOL,
    PARALLEL_MAX,
)
from endive.transaction.protocol import LIST_HEAD as IS_LIST_HEAD
from endive.transaction.rules import (
    CHECK_READS,
    FILTER_READS,
    FILTER_WRITES,
    HISTORY_LISTS,
    LIST_READS,
    LIST_WRITES,
    MERGE_PARALLEL,
    MERGE_READS,
    MERGE_WRITES,
    METADATA_READS,
    METADATA_WRITES,
    N_OPERATION,
    OWN_WRITES,
    VALIDATE_READS,
    checks_before_metadata,
    writes_beside_list,
)


@inlined
def pay_validation(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """Metadata, history and the manifests of that history, on every written table."""
    key = x[i + X_KEY]
    attempt = x[i + R + ROW_ATTEMPTS]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        base = table_at(m, position) + SNAP_BASE
        at = m[C_B_PLANS] + position * N_PLANS
        if x[i + B + at + METADATA_READS] > 0:
            size_bytes = metadata_bytes(m, x[i + B + base + VERSION])
            counter = slot(attempt, METADATA_READ, position)
            assert x[i + B + at + METADATA_READS] == 1
            spent_us = one_us(m, f, x, i, key, counter, METADATA, READ, size_bytes)
            x[i + R + ROW_PHASES + PHASE_METADATA] += spent_us
            time_us += spent_us
        lists = x[i + B + at + HISTORY_LISTS]
        if lists > 0:
            size_bytes = manifest_list_bytes(m, x[i + B + base + MANIFESTS])
            parallel = m[C_PROTOCOL + HISTORY_PARALLEL]
            spent_us = 0
            if m[C_PROTOCOL + IS_LIST_HEAD] == 1:
                counter = slot(attempt, HISTORY_HEAD, position)
                spent_us = many_us(m, f, x, i, key, counter, MANIFEST_LIST, HEAD, 0, lists, parallel)
            counter = slot(attempt, HISTORY_READ, position)
            spent_us += many_us(m, f, x, i, key, counter, MANIFEST_LIST, READ, size_bytes, lists, parallel)
            x[i + R + ROW_PHASES + PHASE_HISTORY] += spent_us
            x[i + R + ROW_HISTORY_LISTS] += lists
            time_us += spent_us
        if x[i + B + at + VALIDATE_READS] > 0:
            counter = slot(attempt, VALIDATE_READ, position)
            count = x[i + B + at + VALIDATE_READS]
            spent_us = many_us(m, f, x, i, key, counter, MANIFEST, READ, m[C_MANIFEST_BYTES], count, 1)
            x[i + R + ROW_PHASES + PHASE_MANIFESTS] += spent_us
            time_us += spent_us
    return time_us


@leaf
def write_manifests_us(
    m: IntArray, f: FloatArray, x: IntArray, i: int, position: int, count: int, parallel: int, first_draw: int
) -> int:
    """New manifests, and a HEAD for the length of each where the client asks for it: how long they take."""
    if count == 0:
        return 0
    key = x[i + X_KEY]
    attempt = x[i + R + ROW_ATTEMPTS]
    counter = slot(attempt, MANIFEST_WRITE, position) + first_draw
    spent_us = many_us(m, f, x, i, key, counter, MANIFEST, WRITE, m[C_MANIFEST_BYTES], count, parallel)
    if m[C_PROTOCOL + IS_WRITTEN_HEADED] == 1:
        counter = slot(attempt, MANIFEST_HEAD, position) + first_draw
        spent_us += many_us(m, f, x, i, key, counter, MANIFEST, HEAD, 0, count, parallel)
    return spent_us


@inlined
def pay_filter(m: IntArray, f: FloatArray, x: IntArray, i: int, position: int) -> int:
    """Existing manifests of one table that files are taken out of: how long they take."""
    at = m[C_B_PLANS] + position * N_PLANS
    parallel = m[C_PROTOCOL + PARALLEL_MAX]
    count = x[i + B + at + FILTER_READS]
    counter = slot(x[i + R + ROW_ATTEMPTS], MANIFEST_READ, position)
    spent_us = many_us(m, f, x, i, x[i + X_KEY], counter, MANIFEST, READ, m[C_MANIFEST_BYTES], count, parallel)
    return spent_us + write_manifests_us(m, f, x, i, position, x[i + B + at + FILTER_WRITES], parallel, FILTER_DRAWS)


@inlined
def pay_merge(m: IntArray, f: FloatArray, x: IntArray, i: int, position: int) -> int:
    """Merged manifests of one table: how long they take."""
    at = m[C_B_PLANS] + position * N_PLANS
    parallel = x[i + B + at + MERGE_PARALLEL]
    count = x[i + B + at + MERGE_READS]
    counter = slot(x[i + R + ROW_ATTEMPTS], MERGE_READ, position)
    spent_us = many_us(m, f, x, i, x[i + X_KEY], counter, MANIFEST, READ, m[C_MANIFEST_BYTES], count, parallel)
    return spent_us + write_manifests_us(m, f, x, i, position, x[i + B + at + MERGE_WRITES], parallel, MERGE_DRAWS)


@inlined
def read_list_us(
    m: IntArray, f: FloatArray, x: IntArray, i: int, manifests: int, head_counter: int, read_counter: int
) -> int:
    """One read of a manifest list, behind a HEAD where the store's client asks for one."""
    key = x[i + X_KEY]
    spent_us = 0
    if m[C_PROTOCOL + IS_LIST_HEAD] == 1:
        spent_us = one_us(m, f, x, i, key, head_counter, MANIFEST_LIST, HEAD, 0)
    size_bytes = manifest_list_bytes(m, manifests)
    return spent_us + one_us(m, f, x, i, key, read_counter, MANIFEST_LIST, READ, size_bytes)


@inlined
def pay_build(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The current list, the manifests, the new list, the new metadata object, on every written table."""
    key = x[i + X_KEY]
    attempt = x[i + R + ROW_ATTEMPTS]
    p = m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]
    o = m[x[i + X_OPERATION] : x[i + X_OPERATION] + N_OPERATION]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        base = table_at(m, position) + SNAP_BASE
        at = m[C_B_PLANS] + position * N_PLANS
        manifests = x[i + B + base + MANIFESTS]
        lists_us = 0
        if x[i + B + at + LIST_READS] > 0:
            head = slot(attempt, LIST_HEAD, position)
            lists_us = read_list_us(m, f, x, i, manifests, head, slot(attempt, LIST_READ, position))
        spent_us = write_manifests_us(m, f, x, i, position, x[i + B + at + OWN_WRITES], 1, 0)
        if writes_beside_list(p, o):
            spent_us = max(spent_us, lists_us)
            lists_us = 0
        if x[i + B + at + FILTER_READS] + x[i + B + at + FILTER_WRITES] > 0:
            spent_us += pay_filter(m, f, x, i, position)
        if x[i + B + at + MERGE_READS] + x[i + B + at + MERGE_WRITES] > 0:
            spent_us += pay_merge(m, f, x, i, position)
        x[i + R + ROW_PHASES + PHASE_MANIFESTS] += spent_us
        if x[i + B + at + LIST_WRITES] > 0:
            size_bytes = manifest_list_bytes(m, manifests + 1)
            counter = slot(attempt, LIST_WRITE, position)
            lists_us += one_us(m, f, x, i, key, counter, MANIFEST_LIST, WRITE, size_bytes)
        x[i + R + ROW_PHASES + PHASE_MANIFEST_LIST] += lists_us
        time_us += lists_us + spent_us
        x[i + X_KEPT_MANIFESTS] += x[i + B + at + OWN_WRITES] + x[i + B + at + FILTER_WRITES]
    if not checks_before_metadata(p):
        time_us = pay_metadata_writes(m, f, x, i, time_us)
    return time_us


@leaf
def pay_check_reads(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The metadata object behind the pointer just read, where the client checks its base against it.

    Called at the instant the server evaluated that read, so ``q`` still is what the txn saw.
    """
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        if x[i + B + m[C_B_PLANS] + position * N_PLANS + CHECK_READS] > 0:
            size_bytes = metadata_bytes(m, m[m[C_Q] + x[i + B + position] * N_COUNTERS + VERSION])
            counter = slot(x[i + R + ROW_ATTEMPTS], METADATA_CHECK, position)
            spent_us = one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, READ, size_bytes)
            x[i + R + ROW_PHASES + PHASE_METADATA] += spent_us
            time_us += spent_us
    return time_us


@leaf
def pay_metadata_writes(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The new metadata object of every written table, behind a HEAD where the client makes sure it is new."""
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        if x[i + B + m[C_B_PLANS] + position * N_PLANS + METADATA_WRITES] > 0:
            version = x[i + B + table_at(m, position) + SNAP_BASE + VERSION] + 1
            spent_us = 0
            if m[C_PROTOCOL + IS_WRITTEN_HEADED] == 1:
                counter = slot(x[i + R + ROW_ATTEMPTS], METADATA_HEAD, position)
                spent_us = one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, HEAD, 0)
            counter = slot(x[i + R + ROW_ATTEMPTS], METADATA_WRITE, position)
            spent_us += one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, WRITE, metadata_bytes(m, version))
            x[i + R + ROW_PHASES + PHASE_METADATA] += spent_us
            time_us += spent_us
    return time_us
