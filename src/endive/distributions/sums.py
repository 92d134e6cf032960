"""Sums of equal draws: this file defines the code of a sum, and how it is drawn.

A run of n requests one after the other takes the sum of n equal draws. From ``SUM_COUNT_MIN`` on that sum is not drawn
one by one but from tables of the sums of 1, 2, 4, ... draws (``sum_grid``), one draw for each one-bit of n, so that a
thousand requests cost ten draws at most. Of requests in batches the draws are the slowest of each full batch.

A code of sums is one float64 array: how many tables there are beyond the first, the size of object they hold for (or
any), by how much the counters of single draws differ, of how many draws the slowest is sought in a single draw, where
single draws are made, and where each table is; then the codes themselves. It can be laid end to end with other codes.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from endive.distributions.code import (
    CONSTANT,
    LONGEST_US,
    SMOOTH,
    Component,
    FloatArray,
    draw_us,
    draws_us,
    encode,
    slowest_us,
)
from endive.distributions.slowest import slowest_code, slowest_component
from endive.distributions.sum_grid import CELL_BITS, Law, double, law_of_one, quantile_table, slowest_of
from endive.kernel import jitted

SUM_COUNT_MIN = 8  # shorter sums are drawn one by one
SUM_LEVELS = 16  # the largest table is of 2**16 draws; a longer sum draws from it several times

_LEVELS = 0
_SIZE = 1
_STRIDE = 2
_BATCH = 3
_SINGLE = 4
_FIRST_LEVEL = 5
_ANY_SIZE = -1.0
_CACHED_MAX = 64
_BYTES_TO_MIB = 2.0**-20

Parts = list[tuple[float, Component]]


@jitted
def draw_sum_us(code: FloatArray, offset: int, key: int, counter: int, count: int, size_bytes: int) -> int:
    """The sum of ``count`` draws (or slowest of full batches) from the code of sums at ``offset``, in microseconds.

    From ``SUM_COUNT_MIN`` on: bit b of ``count`` draws at ``counter + b``, and what the largest table is drawn from
    again at the counters that follow. Each draw is rounded once. Below, or at a size the tables are not for, single
    draws at ``counter``, ``counter + stride``, ..., as if there were no tables.
    """
    single = offset + int(code[offset + _SINGLE])
    levels = int(code[offset + _LEVELS])
    if levels == 0:  # a constant
        return count * draw_us(code, single, key, counter, size_bytes)
    if count < SUM_COUNT_MIN or (code[offset + _SIZE] != _ANY_SIZE and code[offset + _SIZE] != size_bytes):
        stride = int(code[offset + _STRIDE])
        if code[offset + _BATCH] == 1.0:
            return draws_us(code, single, key, counter, stride, count, size_bytes)
        batch = int(code[offset + _BATCH])
        total_us = 0
        for index in range(count):
            slowest = slowest_us(code, single, key, counter + index * stride, batch, size_bytes)
            total_us = min(total_us + slowest, LONGEST_US)
        return total_us
    total_us = 0
    for level in range(levels):
        if (count >> level) & 1:
            table = offset + int(code[offset + _FIRST_LEVEL + level])
            total_us += draw_us(code, table, key, counter + level, size_bytes)
    table = offset + int(code[offset + _FIRST_LEVEL + levels])
    return total_us + draws_us(code, table, key, counter + levels, 1, count >> levels, size_bytes)


def summed_code(parts: Parts, size_bytes: int, parallel: int) -> FloatArray | None:
    """The code of sums of draws from ``parts``, of objects of one size, or of the slowest of ``parallel`` such draws.

    Where the tables hold for every size, as for one without price per MiB, ``size_bytes`` does not matter. None if
    no grid is fine enough, for a law with a very long tail: such sums are drawn one by one.
    """
    is_any_size = _holds_for_any_size(parts)
    size = _ANY_SIZE if is_any_size else float(size_bytes)
    key = (encode(parts).tobytes(), size, parallel)
    if key in _cached:
        _cached.move_to_end(key)
    else:
        _cached[key] = _code_of_sums(parts, size, parallel)
        if len(_cached) > _CACHED_MAX:
            _cached.popitem(last=False)
    return _cached[key]


_cached: OrderedDict[tuple[bytes, float, int], FloatArray | None] = OrderedDict()


def _holds_for_any_size(parts: Parts) -> bool:
    """Whether no size matters, or only scales the law: a constant, or one smooth component that no floor lifts."""
    if all(part.per_mib_ms == 0.0 for _, part in parts):
        return True
    part = parts[0][1]
    return len(parts) == 1 and (part.kind == CONSTANT or (part.kind == SMOOTH and part.floor_ms <= part.shift_ms))


def _code_of_sums(parts: Parts, size: float, parallel: int) -> FloatArray | None:
    single = encode(parts) if parallel == 1 else slowest_code(parts, parallel)
    batch = 1 if single is not None else parallel
    if single is None:
        single = encode(parts)
    if len(parts) == 1 and parts[0][1].kind == CONSTANT:
        return _pack(size, parallel, batch, single, [])
    scaled = parts[0][1] if size == _ANY_SIZE and parts[0][1].per_mib_ms != 0.0 else None
    law = _law(parts if scaled is None else [(1.0, _bare(scaled))], max(size, 0.0), parallel)
    if law is None:
        return None
    if law.step_ms == 0.0:
        return _pack(size, parallel, 1, encode(parts), [])
    tables = []
    for level in range(SUM_LEVELS + 1):
        if level > 0:
            law = double(law)
        if level == 0 and batch == 1 and size == _ANY_SIZE:
            tables.append(single)
            continue
        table = Component(kind=SMOOTH, scale_ms=1.0, table=quantile_table(law), extent=CELL_BITS)
        if scaled is not None:
            shift_ms = scaled.shift_ms * (1 << level)
            table = replace(table, scale_ms=scaled.scale_ms, per_mib_ms=scaled.per_mib_ms, shift_ms=shift_ms)
        tables.append(encode([(1.0, table)]))
    return _pack(size, parallel, batch, single, tables)


def _law(parts: Parts, size_bytes: float, parallel: int) -> Law | None:
    """The law of one draw at a size, or of the slowest of ``parallel``."""
    sized = [(weight, _at_size(part, size_bytes)) for weight, part in parts]
    if parallel == 1:
        return law_of_one(sized)
    slowest = slowest_component(sized, parallel)
    if slowest is not None:
        return law_of_one([(1.0, slowest)])
    law = law_of_one(sized)
    return None if law is None else slowest_of(law, parallel)


def _at_size(part: Component, size_bytes: float) -> Component:
    return replace(part, scale_ms=part.scale_ms + part.per_mib_ms * (size_bytes * _BYTES_TO_MIB), per_mib_ms=0.0)


def _bare(part: Component) -> Component:
    """The shape alone, which scale and shift then carry to any size."""
    return replace(part, scale_ms=1.0, per_mib_ms=0.0, shift_ms=0.0, floor_ms=0.0)


def _pack(size: float, stride: int, batch: int, single: FloatArray, tables: list[FloatArray]) -> FloatArray:
    """Lay head, single draws and tables end to end."""
    codes = [single, *tables]
    first = _FIRST_LEVEL + len(tables)
    starts = [first + sum(code.size for code in codes[:index]) for index in range(len(codes))]
    head = [float(max(len(tables) - 1, 0)), size, float(stride), float(batch), *(float(start) for start in starts)]
    return np.concatenate([np.array(head), *codes])
