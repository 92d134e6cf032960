"""Asking the catalog: a read leaves, and when its answer arrives.

Owns the requests and answers of catalog reads; what is seen is ``server``'s, what follows is ``events``'.
"""

from endive.catalog.append import BACK_ENTRIES, COMPACTION_ENTRIES
from endive.catalog.instant import REQUEST_SHARE
from endive.catalog.rules import (
    LOG_ENTRIES,
)
from endive.distributions.code import FloatArray, IntArray, draw_us
from endive.kernel import leaf
from endive.results.schema import (
    ROW_ATTEMPTS,
)
from endive.rng import LOG_ENTRIES as LOG_ENTRIES_STEP
from endive.rng import (
    START_READ,
    slot,
)
from endive.simulation.compiled.bill import note
from endive.simulation.compiled.layout import (
    C_CATALOG,
    C_ENTRY_READ,
    C_LATENCY,
    C_SUCCESS,
    CATALOG_APPEND,
    CATALOG_CAS,
    CATALOG_SERVICE,
    F_SHARES,
    G_LOG,
    READ_CHECK,
    READ_COMPACTION,
    READ_DISCOVERY,
    READ_NEW_STATE,
    READ_REFRESH,
    READ_START,
    STAGE_READ,
    STAGE_READ_ARRIVES,
    X_KEY,
    X_LATENCY,
    X_LEG,
    X_PURPOSE,
    X_SENT_US,
    X_STAGE,
    X_SUBMIT_BYTES,
    X_TRIES,
    G,
    R,
)
from endive.storage.contention import request_leg_us
from endive.storage.requests import (
    CATALOG,
    N_OPERATIONS,
    READ,
)


@leaf
def send_read(
    m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int, purpose: int, counter: int, size_bytes: int
) -> int:
    """A catalog read leaves; when it reaches the server."""
    kind = m[C_CATALOG]
    if kind == CATALOG_CAS or kind == CATALOG_APPEND:
        code = m[C_SUCCESS + CATALOG * N_OPERATIONS + READ]
        latency_us = draw_us(f, code, x[i + X_KEY], counter, size_bytes)
        leg_us = request_leg_us(latency_us, f[F_SHARES + READ])
        note(x, i, CATALOG, READ, size_bytes, 1)
    else:
        latency_us = draw_us(f, m[C_LATENCY], x[i + X_KEY], counter, 0)
        leg_us = request_leg_us(latency_us, REQUEST_SHARE)
        note(x, i, CATALOG, READ, 0, 1)
    x[i + X_PURPOSE] = purpose
    x[i + X_LATENCY] = latency_us
    x[i + X_LEG] = leg_us
    x[i + X_STAGE] = STAGE_READ_ARRIVES if kind == CATALOG_SERVICE else STAGE_READ
    return time_us + leg_us


@leaf
def read_answered_us(m: IntArray, f: FloatArray, x: IntArray, i: int, now: int) -> int:
    """When the answer to the catalog read evaluated now arrives."""
    time_us = now + x[i + X_LATENCY] - x[i + X_LEG]
    if m[C_ENTRY_READ] >= 0:
        entries = m[G + G_LOG + LOG_ENTRIES]
        if entries > 0:
            purpose = x[i + X_PURPOSE]
            counter = slot(x[i + R + ROW_ATTEMPTS], LOG_ENTRIES_STEP, entries_position(purpose))
            if purpose == READ_COMPACTION:
                counter += x[i + X_TRIES]
            time_us += draw_us(f, m[C_ENTRY_READ], x[i + X_KEY], counter, 0) * entries
    return time_us


@leaf
def entries_position(purpose: int) -> int:
    """Position of the LOG_ENTRIES slot for each purpose (``endive.catalog.append.ENTRIES_POSITIONS``)."""
    if purpose == READ_START:
        return 0
    if purpose == READ_REFRESH:
        return 1
    if purpose == READ_DISCOVERY:
        return 2
    if purpose == READ_CHECK:
        return 3
    if purpose == READ_NEW_STATE:
        return BACK_ENTRIES
    return COMPACTION_ENTRIES


@leaf
def send_start_read(m: IntArray, f: FloatArray, x: IntArray, i: int, time_us: int) -> int:
    """The txn begins, or begins again: it reads the catalog."""
    x[i + X_SENT_US] = time_us
    counter = slot(x[i + R + ROW_ATTEMPTS], START_READ, 0)
    return send_read(m, f, x, i, time_us, READ_START, counter, x[i + X_SUBMIT_BYTES])
