"""The slowest of several parallel draws, as a distribution of its own.

The maximum of n draws has the quantile function Q(u**(1/n)). Where one smooth component is drawn from, that is again
a smooth quantile function, so it gets a table of its own, and a batch costs one draw like any other. Defines those
tables; batches of any other size and other kinds of distribution are drawn by ``code.slowest_us``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from endive.distributions.code import CONSTANT, SMOOTH, TAIL_MIN, Component, FloatArray, encode, read_table
from endive.distributions.portable import exp, expm1, log
from endive.distributions.table import smooth_table
from endive.kernel import jitted

_LN2 = 0.6931471805599453


def slowest_code(parts: list[tuple[float, Component]], count: int) -> FloatArray | None:
    """The code of the slowest of ``count`` draws from ``parts``; None if it is not one draw from one table."""
    component = slowest_component(parts, count)
    return None if component is None else encode([(1.0, component)])


def slowest_component(parts: list[tuple[float, Component]], count: int) -> Component | None:
    """The component of which one draw is the slowest of ``count`` from ``parts``; None if there is none."""
    if len(parts) != 1:
        return None
    component = parts[0][1]
    if component.kind == CONSTANT:
        return component
    if component.kind != SMOOTH or component.table is None:
        return None
    table, extent = _slowest_table(component.table.tobytes(), component.extent, count)
    return replace(component, table=table, extent=extent)


@lru_cache(maxsize=256)
def _slowest_table(content: bytes, cell_bits: int, count: int) -> tuple[FloatArray, int]:
    """The table of the slowest, made from the table of one."""
    table = np.frombuffer(content, dtype=np.float64)
    return smooth_table(lambda tails, is_upper: _slowest_of(table, cell_bits, count, tails, is_upper))


@jitted
def _slowest_of(table: FloatArray, cell_bits: int, count: int, tails: FloatArray, is_upper: bool) -> FloatArray:
    slowest = np.empty(len(tails))
    for place in range(len(tails)):
        tail, is_single_upper = tail_of_one(tails[place], is_upper, count)
        slowest[place] = read_table(table, 0, cell_bits, tail, is_single_upper)
    return slowest


@jitted
def tail_of_one(tail: float, is_upper: bool, count: int) -> tuple[float, bool]:
    """Where a single draw lies when the slowest of ``count`` has ``tail`` of its probability above (or below) it."""
    log_p = (_log_of_rest(tail) if is_upper else log(tail)) / count
    if log_p > -_LN2:
        return min(max(-expm1(log_p), TAIL_MIN), 0.5), True
    return exp(log_p), False


@jitted
def _log_of_rest(tail: float) -> float:
    """log(1 - tail), to the last digits for small tails too (Kahan)."""
    rest = 1.0 - tail
    return -tail if rest == 1.0 else log(rest) * tail / (1.0 - rest)
