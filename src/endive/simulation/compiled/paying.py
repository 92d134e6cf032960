"""Paying for a plan: history, manifests, lists and metadata objects that nobody watches, summed on the way.

Owns the order of payments, which is that of ``endive.transaction.payments``, and the names of their draws.
"""

from endive.catalog.rules import (
    MANIFESTS,
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
    MANIFEST_READ,
    MANIFEST_WRITE,
    MERGE_READ,
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
    N_PLANS,
    SNAP_BASE,
    X_KEPT_MANIFESTS,
    X_KEY,
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
    N_PROTOCOL,
    PARALLEL_MAX,
)
from endive.transaction.protocol import LIST_HEAD as IS_LIST_HEAD
from endive.transaction.rules import (
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
    OWN_WRITES,
    VALIDATE_READS,
    checks_before_metadata,
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


@inlined
def pay_manifests(m: IntArray, f: FloatArray, x: IntArray, i: int, position: int) -> int:
    """Manifest files of one table: how long they take."""
    key = x[i + X_KEY]
    attempt = x[i + R + ROW_ATTEMPTS]
    at = m[C_B_PLANS] + position * N_PLANS
    size_bytes = m[C_MANIFEST_BYTES]
    parallel = m[C_PROTOCOL + PARALLEL_MAX]
    writes = slot(attempt, MANIFEST_WRITE, position)
    spent_us = 0
    if x[i + B + at + FILTER_READS] + x[i + B + at + FILTER_WRITES] > 0:
        count = x[i + B + at + FILTER_READS]
        counter = slot(attempt, MANIFEST_READ, position)
        spent_us += many_us(m, f, x, i, key, counter, MANIFEST, READ, size_bytes, count, parallel)
        count = x[i + B + at + FILTER_WRITES]
        counter = writes + FILTER_DRAWS
        spent_us += many_us(m, f, x, i, key, counter, MANIFEST, WRITE, size_bytes, count, parallel)
    if x[i + B + at + OWN_WRITES] > 0:
        count = x[i + B + at + OWN_WRITES]
        spent_us += many_us(m, f, x, i, key, writes, MANIFEST, WRITE, size_bytes, count, 1)
    if x[i + B + at + MERGE_READS] + x[i + B + at + MERGE_WRITES] > 0:
        parallel = x[i + B + at + MERGE_PARALLEL]
        count = x[i + B + at + MERGE_READS]
        counter = slot(attempt, MERGE_READ, position)
        spent_us += many_us(m, f, x, i, key, counter, MANIFEST, READ, size_bytes, count, parallel)
        count = x[i + B + at + MERGE_WRITES]
        counter = writes + MERGE_DRAWS
        spent_us += many_us(m, f, x, i, key, counter, MANIFEST, WRITE, size_bytes, count, parallel)
    return spent_us


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
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        base = table_at(m, position) + SNAP_BASE
        at = m[C_B_PLANS] + position * N_PLANS
        manifests = x[i + B + base + MANIFESTS]
        lists_us = 0
        if x[i + B + at + LIST_READS] > 0:
            head = slot(attempt, LIST_HEAD, position)
            lists_us = read_list_us(m, f, x, i, manifests, head, slot(attempt, LIST_READ, position))
        spent_us = pay_manifests(m, f, x, i, position)
        x[i + R + ROW_PHASES + PHASE_MANIFESTS] += spent_us
        if x[i + B + at + LIST_WRITES] > 0:
            size_bytes = manifest_list_bytes(m, manifests + 1)
            counter = slot(attempt, LIST_WRITE, position)
            lists_us += one_us(m, f, x, i, key, counter, MANIFEST_LIST, WRITE, size_bytes)
        x[i + R + ROW_PHASES + PHASE_MANIFEST_LIST] += lists_us
        time_us += lists_us + spent_us
        x[i + X_KEPT_MANIFESTS] += x[i + B + at + OWN_WRITES] + x[i + B + at + FILTER_WRITES]
    if not checks_before_metadata(m[C_PROTOCOL : C_PROTOCOL + N_PROTOCOL]):
        time_us = pay_metadata_writes(m, f, x, i, time_us)
    return time_us


@leaf
def pay_metadata_writes(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The new metadata object of every written table."""
    for position in range(x[i + R + ROW_N_TABLES_WRITTEN]):
        if x[i + B + m[C_B_PLANS] + position * N_PLANS + METADATA_WRITES] > 0:
            version = x[i + B + table_at(m, position) + SNAP_BASE + VERSION] + 1
            counter = slot(x[i + R + ROW_ATTEMPTS], METADATA_WRITE, position)
            spent_us = one_us(m, f, x, i, x[i + X_KEY], counter, METADATA, WRITE, metadata_bytes(m, version))
            x[i + R + ROW_PHASES + PHASE_METADATA] += spent_us
            time_us += spent_us
    return time_us
