"""A distribution as numbers: the flat code that compiled loops draw from.

A code is one float64 array: how many components it mixes, one record for each, then their tables. Positions
inside it count from its start, so codes can be laid end to end and drawn from by offset. One draw uses one
counter. Defines the layout and the drawing; what the numbers should be, each family says for itself.

A component's value is ``shift + (scale + per_mib * MiB) * shape(u)``, at least ``floor``, where ``shape`` is
a constant one, ``u`` itself, a line through points, or a table of cubics over dyadic cells (see ``table``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from endive.distributions.portable import exp, expm1, log
from endive.kernel import jitted
from endive.rng import uniform

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# Kinds of shape.
CONSTANT = 0
LINEAR = 1
POLYLINE = 2
SMOOTH = 3

# Fields of a record, which follows the count of components.
_FIRST_RECORD = 1
_WEIGHT_END = 0  # cumulative weight up to and including this component
_KIND = 1
_SCALE = 2
_PER_MIB = 3
_SHIFT = 4
_FLOOR = 5
_TABLE = 6  # where its table starts, relative to the start of the code
_EXTENT = 7  # POLYLINE: how many points; SMOOTH: how many bits of the mantissa choose the cell
_RECORD_SIZE = 8

LONGEST_MS = 1.0e12  # about 32 years: no draw and no sum of draws is longer, so that both fit 64 bits
LONGEST_US = 10**15
TAIL_MIN = 2.0**-53  # the smallest tail probability a draw can have
_TAIL_EXPONENT_MIN = 1023 - 53
_OCTAVES = 52  # from 2**-53 up to 1/2
_MANTISSA_BITS = 52
_BYTES_TO_MIB = 2.0**-20
_LN2 = 0.6931471805599453


@dataclass(frozen=True, kw_only=True, eq=False)
class Component:
    """One record of a code, before it is written down."""

    kind: int
    scale_ms: float = 0.0
    per_mib_ms: float = 0.0
    shift_ms: float = 0.0
    floor_ms: float = 0.0
    table: FloatArray | None = None
    extent: int = 0


def encode(parts: list[tuple[float, Component]]) -> FloatArray:
    """Write down a mixture of components; one part is the usual case. Weights are normalised."""
    table_start = _FIRST_RECORD + _RECORD_SIZE * len(parts)
    head: list[float] = [float(len(parts))]
    tables: list[FloatArray] = []
    total = sum(weight for weight, _ in parts)
    weight_end = 0.0
    for index, (weight, part) in enumerate(parts):
        weight_end = 1.0 if index == len(parts) - 1 else weight_end + weight / total
        head += [weight_end, part.kind, part.scale_ms, part.per_mib_ms, part.shift_ms, part.floor_ms]
        head += [table_start, part.extent]
        if part.table is not None:
            tables.append(part.table)
            table_start += part.table.size
    return np.concatenate([np.array(head, dtype=np.float64), *tables])


def cells_per_side(cell_bits: int) -> int:
    """How many cells a smooth table has for each tail; the last holds the median alone."""
    return (_OCTAVES << cell_bits) + 1


@jitted
def read_table(code: FloatArray, table: int, cell_bits: int, tail: float, is_upper: bool) -> float:
    """Read a table of cubics: the leading bits of ``tail`` name the cell, the rest is the place in it."""
    bits = np.float64(tail).view(np.int64)
    place_bits = _MANTISSA_BITS - cell_bits
    cell = (bits >> place_bits) - (_TAIL_EXPONENT_MIN << cell_bits)
    place = np.float64(bits & ((1 << place_bits) - 1))
    at = table + 4 * (cell + is_upper * ((_OCTAVES << cell_bits) + 1))
    return float(code[at] + place * (code[at + 1] + place * (code[at + 2] + place * code[at + 3])))


@jitted
def _polyline(code: FloatArray, table: int, count: int, p: float) -> float:
    """Read a line through ``count`` points, level beyond its ends."""
    if p <= code[table]:
        return float(code[table + count])
    if p >= code[table + count - 1]:
        return float(code[table + 2 * count - 1])
    below = 0
    above = count - 1
    while above - below > 1:
        middle = (below + above) >> 1
        if code[table + middle] <= p:
            below = middle
        else:
            above = middle
    p_below = code[table + below]
    share = (p - p_below) / (code[table + above] - p_below)
    low = code[table + count + below]
    return float(low + share * (code[table + count + above] - low))


@jitted
def _bound(ms: float, floor: float) -> float:
    """At least the floor, at most what the clock can hold."""
    ms = floor if ms < floor else ms
    return LONGEST_MS if ms > LONGEST_MS else ms


@jitted
def component_ms(code: FloatArray, offset: int, record: int, tail: float, is_upper: bool, size_bytes: int) -> float:
    """The value of one component where ``tail`` of its probability lies above (or below)."""
    kind = code[record + _KIND]
    scale = code[record + _SCALE] + code[record + _PER_MIB] * (size_bytes * _BYTES_TO_MIB)
    if kind == SMOOTH:
        table = offset + int(code[record + _TABLE])
        shape = read_table(code, table, int(code[record + _EXTENT]), tail, is_upper)
    elif kind == CONSTANT:
        shape = 1.0
    else:
        shape = 1.0 - tail if is_upper else tail
        if kind == POLYLINE:
            table = offset + int(code[record + _TABLE])
            shape = _polyline(code, table, int(code[record + _EXTENT]), shape)
    return _bound(code[record + _SHIFT] + scale * shape, code[record + _FLOOR])


@jitted
def _mixture_ms(code: FloatArray, offset: int, u: float, size_bytes: int) -> float:
    """Let the leading bits of ``u`` choose the component, and what is left of it the value."""
    record = offset + _FIRST_RECORD
    begin = 0.0
    while u >= code[record + _WEIGHT_END]:
        begin = code[record + _WEIGHT_END]
        record += _RECORD_SIZE
    rest = (u - begin) / (code[record + _WEIGHT_END] - begin)
    is_upper = rest > 0.5
    tail = 1.0 - rest if is_upper else rest
    return component_ms(code, offset, record, max(tail, TAIL_MIN), is_upper, size_bytes)


@jitted
def draw_ms(code: FloatArray, offset: int, key: int, counter: int, size_bytes: int) -> float:
    """The draw (key, counter) from the code at ``offset``, in ms and not rounded."""
    if code[offset] == 1.0 and code[offset + _FIRST_RECORD + _KIND] == CONSTANT:
        return component_ms(code, offset, offset + _FIRST_RECORD, 0.5, False, size_bytes)
    u = uniform(key, counter)
    if code[offset] == 1.0:
        is_upper = u > 0.5
        tail = 1.0 - u if is_upper else u
        return component_ms(code, offset, offset + _FIRST_RECORD, tail, is_upper, size_bytes)
    return _mixture_ms(code, offset, u, size_bytes)


@jitted
def draw_us(code: FloatArray, offset: int, key: int, counter: int, size_bytes: int) -> int:
    """The same draw, rounded once to whole microseconds."""
    return int(draw_ms(code, offset, key, counter, size_bytes) * 1000.0 + 0.5)


@jitted
def draws_us(code: FloatArray, offset: int, key: int, counter: int, stride: int, count: int, size_bytes: int) -> int:
    """The sum of ``count`` draws at ``counter``, ``counter + stride``, ..., each rounded as ``draw_us`` rounds it."""
    total_us = 0
    record = offset + _FIRST_RECORD
    if code[offset] != 1.0 or code[record + _KIND] != SMOOTH:
        for index in range(count):
            total_us = min(total_us + draw_us(code, offset, key, counter + index * stride, size_bytes), LONGEST_US)
        return total_us
    # What is the same for every draw is looked up once: four times the speed of drawing one by one.
    scale = code[record + _SCALE] + code[record + _PER_MIB] * (size_bytes * _BYTES_TO_MIB)
    shift = code[record + _SHIFT]
    floor = code[record + _FLOOR]
    table = offset + int(code[record + _TABLE])
    cell_bits = int(code[record + _EXTENT])
    for index in range(count):
        u = uniform(key, counter + index * stride)
        is_upper = u > 0.5
        tail = 1.0 - u if is_upper else u
        ms = _bound(shift + scale * read_table(code, table, cell_bits, tail, is_upper), floor)
        total_us = min(total_us + int(ms * 1000.0 + 0.5), LONGEST_US)
    return total_us


@jitted
def slowest_us(code: FloatArray, offset: int, key: int, counter: int, count: int, size_bytes: int) -> int:
    """The slowest of ``count`` parallel draws.

    For one component this is one draw: the maximum of n draws is the quantile at U**(1/n), taken through the
    upper tail, where it lies. A mixture draws ``counter`` to ``counter + count - 1``.
    """
    if count <= 1:
        return draw_us(code, offset, key, counter, size_bytes)
    if code[offset] == 1.0:
        u = uniform(key, counter)
        if count & (count - 1) == 0:  # a power of two: roots are cheaper than a logarithm
            tail = 1.0 - u
            while count > 1:
                tail = tail / (1.0 + math.sqrt(1.0 - tail))
                count >>= 1
            is_upper = tail <= 0.5
            if not is_upper:
                tail = 1.0 - tail
        else:
            log_p = log(u) / count
            is_upper = log_p > -_LN2
            tail = -expm1(log_p) if is_upper else exp(log_p)
        tail = min(max(tail, TAIL_MIN), 0.5)
        return int(component_ms(code, offset, offset + _FIRST_RECORD, tail, is_upper, size_bytes) * 1000.0 + 0.5)
    slowest = 0
    for index in range(count):
        slowest = max(slowest, draw_us(code, offset, key, counter + index, size_bytes))
    return slowest


@jitted
def sample_many_us(code: FloatArray, offset: int, key: int, counter: int, count: int, size_bytes: int = 0) -> IntArray:
    """``count`` draws at consecutive counters."""
    drawn = np.empty(count, dtype=np.int64)
    for index in range(count):
        drawn[index] = draw_us(code, offset, key, counter + index, size_bytes)
    return drawn
