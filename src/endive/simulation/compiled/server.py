"""The catalog server and contended objects, over arrays: what is seen and changed at one instant.

Owns how the rules of ``endive.catalog`` and ``endive.storage`` are applied to the engine's arrays. States no rule
of its own: which version is watched, what a commit advances, who has to wait, all that is called from there.
"""

from endive.catalog.rules import (
    LOG_CHECKPOINT,
    LOG_EPOCH,
    LOG_OFFSET,
    LOG_SEALED,
    MANIFESTS,
    N_COUNTERS,
    SCOPE_PARTITION,
    VERSION,
    advance_table,
    apply_effect,
    keeps_one_more,
    partition_slot,
    watch_partitions,
    watch_tables,
)
from endive.distributions.code import FloatArray, IntArray, draw_us
from endive.kernel import inlined, leaf
from endive.results.schema import ROW_N_TABLES_READ, ROW_N_TABLES_WRITTEN, ROW_TXN_ID
from endive.simulation.compiled.layout import (
    C_B_EXPECTED,
    C_B_PARTITION_COUNTS,
    C_B_PARTITION_VERSIONS,
    C_B_PARTITIONS,
    C_B_SNAPSHOTS,
    C_B_WATCHED,
    C_CATALOG,
    C_DELAY,
    C_FREE,
    C_GROUPS,
    C_IS_INLINED,
    C_KEPT_MAX,
    C_METADATA_STEP,
    C_OBJECTS,
    C_PARTITIONS,
    C_PARTITIONS_MAX,
    C_PENALTY,
    C_PROTOCOL,
    C_Q,
    C_REFUSAL,
    C_SCOPE,
    C_SPACING_US,
    C_TABLES,
    C_THROTTLE_US,
    C_V,
    C_WINDOW_US,
    CATALOG_APPEND,
    G_CATALOG_BYTES,
    G_LOG,
    N_OBJECT,
    N_SNAPS,
    OBJECT_LAST_TXN,
    OBJECT_LAST_US,
    OBJECT_NEXT_FREE,
    OBJECT_REACHED_TXN,
    OBJECT_REACHED_US,
    SNAP_BASE,
    SNAP_PREVIOUS,
    SNAP_START,
    X_BASE_BYTES,
    X_BASE_EPOCH,
    X_BASE_OFFSET,
    X_BASE_SEALED,
    X_BASE_US,
    X_COUNTER,
    X_HAS_REACHED,
    X_KEY,
    X_LATENCY,
    X_LEG,
    X_N_WATCHED,
    X_OPERATION,
    B,
    G,
    R,
)
from endive.storage.contention import (
    DRAW_DELAY,
    DRAW_PENALTY,
    DRAW_REFUSAL,
    admitted_us,
    answer_leg_us,
    is_contended,
    next_free_us,
)
from endive.storage.requests import N_OPERATIONS
from endive.transaction.protocol import N_PROTOCOL
from endive.transaction.rules import (
    N_OPERATION,
    effect_class,
    effect_data_manifests,
    effect_delete_manifests,
    effect_manifests,
)


@inlined
def catalog_bytes(m: IntArray) -> int:
    """Size of the catalog object, or of checkpoint and log together."""
    size_bytes = m[G + G_CATALOG_BYTES]
    if m[C_CATALOG] == CATALOG_APPEND:
        size_bytes += m[G + G_LOG + LOG_OFFSET] - m[G + G_LOG + LOG_CHECKPOINT]
    return size_bytes


@leaf
def watch(m: IntArray, x: IntArray, i: int) -> None:
    """Settle, once per txn, which versions its commits are checked against."""
    n_read = x[i + R + ROW_N_TABLES_READ]
    watched = x[i + B + m[C_B_WATCHED] : i + B + m[C_B_EXPECTED]]
    if m[C_SCOPE] != SCOPE_PARTITION:
        x[i + X_N_WATCHED] = watch_tables(m[C_SCOPE], m[C_GROUPS], x, i + B, n_read, watched)
        return
    found = 0
    for position in range(n_read):
        first = partition_slot(m[C_GROUPS], m[C_TABLES], m[C_PARTITIONS], x[i + B + position], 0)
        at = m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
        count = x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]
        found = watch_partitions(first, x, i + B + at, count, watched, found)
    x[i + X_N_WATCHED] = found


@inlined
def expect(m: IntArray, x: IntArray, i: int) -> None:
    """Remember the watched versions of this instant."""
    versions = m[C_V]
    watched = i + B + m[C_B_WATCHED]
    expected = i + B + m[C_B_EXPECTED]
    for j in range(x[i + X_N_WATCHED]):
        x[expected + j] = m[versions + x[watched + j]]


@inlined
def is_current(m: IntArray, x: IntArray, i: int) -> bool:
    """Whether nothing the txn watches has moved since the state it remembers."""
    versions = m[C_V]
    watched = i + B + m[C_B_WATCHED]
    expected = i + B + m[C_B_EXPECTED]
    for j in range(x[i + X_N_WATCHED]):  # noqa: SIM110 - a generator does not compile
        if m[versions + x[watched + j]] != x[expected + j]:
            return False
    return True


@inlined
def see(m: IntArray, x: IntArray, i: int, now: int) -> None:
    """Take a snapshot of this instant as the txn's base: all it will know of the catalog."""
    expect(m, x, i)
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        table = x[i + B + position]
        at = m[C_B_SNAPSHOTS] + position * N_SNAPS + SNAP_BASE
        for counter in range(N_COUNTERS):
            x[i + B + at + counter] = m[m[C_Q] + table * N_COUNTERS + counter]
        if m[C_PARTITIONS] > 0:
            see_partitions(m, x, i, position, table)
    x[i + X_BASE_US] = now
    x[i + X_BASE_BYTES] = catalog_bytes(m)
    if m[C_CATALOG] == CATALOG_APPEND:
        x[i + X_BASE_OFFSET] = m[G + G_LOG + LOG_OFFSET]
        x[i + X_BASE_SEALED] = m[G + G_LOG + LOG_SEALED]
        x[i + X_BASE_EPOCH] = m[G + G_LOG + LOG_EPOCH]


@leaf
def see_partitions(m: IntArray, x: IntArray, i: int, position: int, table: int) -> None:
    """The versions of the touched partitions of one table; start, previous and base lie side by side."""
    first = partition_slot(m[C_GROUPS], m[C_TABLES], m[C_PARTITIONS], table, 0)
    room = m[C_PARTITIONS_MAX]
    at = m[C_B_PARTITION_VERSIONS] + position * 3 * room + 2 * room
    partitions = m[C_B_PARTITIONS] + position * room
    for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]):
        x[i + B + at + j] = m[m[C_V] + first + x[i + B + partitions + j]]


@inlined
def copy_snapshot(m: IntArray, x: IntArray, i: int, is_start: bool) -> None:
    """The base becomes the state before it; at the start of a txn, its fixed start too."""
    room = m[C_PARTITIONS_MAX]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        at = m[C_B_SNAPSHOTS] + position * N_SNAPS
        for counter in range(N_COUNTERS):
            value = x[i + B + at + SNAP_BASE + counter]
            x[i + B + at + SNAP_PREVIOUS + counter] = value
            if is_start:
                x[i + B + at + SNAP_START + counter] = value
        if m[C_PARTITIONS] > 0:
            at = m[C_B_PARTITION_VERSIONS] + position * 3 * room
            for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position]):
                value = x[i + B + at + 2 * room + j]
                x[i + B + at + room + j] = value
                if is_start:
                    x[i + B + at + j] = value


@leaf
def install(m: IntArray, x: IntArray, i: int) -> None:
    """The txn's commit is the newest state now: one sequence number more."""
    v = m[m[C_V] : m[C_Q]]
    q = m[m[C_Q] : m[C_FREE]]
    p = m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]
    v[0] += 1
    o = m[x[i + X_OPERATION] : x[i + X_OPERATION] + N_OPERATION]
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        table = x[i + B + position]
        advance_table(v, m[C_GROUPS], x, i + B, position)
        if m[C_PARTITIONS] > 0:
            first = partition_slot(m[C_GROUPS], m[C_TABLES], m[C_PARTITIONS], table, 0)
            at = m[C_B_PARTITIONS] + position * m[C_PARTITIONS_MAX]
            for j in range(x[i + B + m[C_B_PARTITION_COUNTS] + 2 * position + 1]):
                v[first + x[i + B + at + j]] += 1
        live = x[i + B + m[C_B_SNAPSHOTS] + position * N_SNAPS + SNAP_BASE + MANIFESTS]
        apply_effect(
            q,
            table,
            effect_class(o),
            effect_data_manifests(o),
            effect_delete_manifests(o),
            effect_manifests(p, o, live),
        )
        version = q[table * N_COUNTERS + VERSION]
        if m[C_IS_INLINED] == 1 and keeps_one_more(version, m[C_KEPT_MAX]):
            m[G + G_CATALOG_BYTES] += m[C_METADATA_STEP]


@leaf
def object_at(m: IntArray, number: int) -> int:
    """Where in ``g`` a contended object's state stands."""
    return m[C_OBJECTS] + number * N_OBJECT


@leaf
def waits_until_us(m: IntArray, f: FloatArray, x: IntArray, i: int, number: int, op: int, now: int) -> int:
    """When the object takes a conditional request that reaches it now, or has waited at it until now."""
    if m[C_THROTTLE_US + op] > 0 and x[i + X_HAS_REACHED] == 0:
        x[i + X_HAS_REACHED] = 1
        free_us = now + throttled_us(m, f, x, i, number, op, now)
        if free_us > now:
            return free_us
    return admitted_us(now, m[object_at(m, number) + OBJECT_NEXT_FREE])


@leaf
def throttled_us(m: IntArray, f: FloatArray, x: IntArray, i: int, number: int, op: int, now: int) -> int:
    """How long a request that reaches the object now is held back; the object remembers it either way."""
    at = object_at(m, number)
    txn_id = x[i + R + ROW_TXN_ID]
    window_us = m[C_THROTTLE_US + op]
    throttled = is_contended(now, m[at + OBJECT_REACHED_US], m[at + OBJECT_REACHED_TXN], txn_id, window_us)
    m[at + OBJECT_REACHED_US] = now
    m[at + OBJECT_REACHED_TXN] = txn_id
    return draw_us(f, m[C_DELAY + op], x[i + X_KEY], x[i + X_COUNTER] + DRAW_DELAY, 0) if throttled else 0


@leaf
def meets_rival(m: IntArray, x: IntArray, i: int, number: int, op: int, now: int) -> bool:
    """Whether the request is contended; the object remembers it either way."""
    at = object_at(m, number)
    txn_id = x[i + R + ROW_TXN_ID]
    contended = is_contended(now, m[at + OBJECT_LAST_US], m[at + OBJECT_LAST_TXN], txn_id, m[C_WINDOW_US + op])
    m[at + OBJECT_LAST_US] = now
    m[at + OBJECT_LAST_TXN] = txn_id
    x[i + X_HAS_REACHED] = 0
    return contended


@leaf
def answer_us(
    m: IntArray,
    f: FloatArray,
    x: IntArray,
    i: int,
    number: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    success: bool,
    contended: bool,
    now: int,
) -> int:
    """When the answer to a conditional request evaluated now arrives."""
    key = x[i + X_KEY]
    counter = x[i + X_COUNTER]
    latency_us = x[i + X_LATENCY]
    if success:
        m[object_at(m, number) + OBJECT_NEXT_FREE] = next_free_us(now, m[C_SPACING_US])
    else:
        code = m[C_REFUSAL + object_kind * N_OPERATIONS + op]
        latency_us = draw_us(f, code, key, counter + DRAW_REFUSAL, size_bytes)
    penalty_us = 0
    if contended and m[C_PENALTY + op] >= 0:
        penalty_us = draw_us(f, m[C_PENALTY + op], key, counter + DRAW_PENALTY, 0)
    return now + answer_leg_us(latency_us, x[i + X_LEG], penalty_us)
