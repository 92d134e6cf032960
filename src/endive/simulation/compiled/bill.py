"""Requests nobody watches: their latencies summed, their count put on the txn's bill.

Owns how a run of reads or writes between two shared moments becomes one delay. The draws are named as the
reference engine names them, so that the sum is the same to the microsecond.
"""

from endive.distributions.code import FloatArray, IntArray, draw_us, draws_us, slowest_us
from endive.kernel import inlined, leaf
from endive.results.schema import ROW_BYTES_READ, ROW_BYTES_WRITTEN, ROW_REQUESTS
from endive.simulation.compiled.layout import C_PROTOCOL, C_SLOWEST, C_SUCCESS, R
from endive.storage.requests import N_OPERATIONS, READ, TAIL_APPEND
from endive.transaction.protocol import PARALLEL_MAX


@inlined
def note(x: IntArray, i: int, object_kind: int, op: int, size_bytes: int, count: int) -> None:
    """Put ``count`` requests of one kind on the bill of txn row ``i``."""
    x[i + R + ROW_REQUESTS + object_kind * N_OPERATIONS + op] += count
    if op == READ:
        x[i + R + ROW_BYTES_READ] += size_bytes * count
    elif op <= TAIL_APPEND:
        x[i + R + ROW_BYTES_WRITTEN] += size_bytes * count


@inlined
def one_us(
    m: IntArray, f: FloatArray, x: IntArray, i: int, key: int, counter: int, object_kind: int, op: int, size_bytes: int
) -> int:
    """One request: noted, and how long it takes."""
    note(x, i, object_kind, op, size_bytes, 1)
    return draw_us(f, m[C_SUCCESS + object_kind * N_OPERATIONS + op], key, counter, size_bytes)


@leaf
def many_us(
    m: IntArray,
    f: FloatArray,
    x: IntArray,
    i: int,
    key: int,
    counter: int,
    object_kind: int,
    op: int,
    size_bytes: int,
    count: int,
    parallel: int,
) -> int:
    """``count`` requests, ``parallel`` at a time, of each batch the slowest: noted, and how long they take."""
    if count == 0:
        return 0
    note(x, i, object_kind, op, size_bytes, count)
    slot = object_kind * N_OPERATIONS + op
    code = m[C_SUCCESS + slot]
    if parallel == 1:
        return draws_us(f, code, key, counter, 1, count, size_bytes)
    total_us = 0
    first = 0
    if m[C_SLOWEST + slot] >= 0:
        assert parallel == m[C_PROTOCOL + PARALLEL_MAX]
        full = count // parallel
        first = full * parallel
        total_us = draws_us(f, m[C_SLOWEST + slot], key, counter, parallel, full, size_bytes)
    while first < count:
        batch = min(parallel, count - first)
        total_us += slowest_us(f, code, key, counter + first, batch, size_bytes)
        first += parallel
    return total_us
