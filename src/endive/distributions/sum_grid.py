"""The law of a sum of 1, 2, 4, ... equal draws, on a grid: this file makes laws, doubles them, reads their quantiles.

A law is a share of probability at each of up to ``CELLS_MAX`` evenly spaced values. The law of one draw is made from
its quantile function; a sum of two is its square (``convolution``), on a grid that is coarsened by two when it has
become too wide, where an odd cell gives half to each neighbour. The quantiles become a table that ``code`` reads.
Every step keeps the mean. Codes and draws of sums live in ``sums``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from endive.distributions.code import (
    CONSTANT,
    POLYLINE,
    SMOOTH,
    TAIL_MIN,
    Component,
    FloatArray,
    cells_per_side,
    component_ms,
    encode,
)
from endive.distributions.convolution import CELLS_MAX, square
from endive.kernel import jitted

CELL_BITS = 3  # of a table: eight cells per octave of tail probability
TAIL_KEPT_MIN = 2.0**-33  # of one draw: what lies further out is put where its mean is
COARSENESS_MAX = 1.0 / 16.0  # a cell against the standard deviation of one draw

_PIECES_PER_CELL = 4
_OCTAVES_KEPT = 32


@dataclass(frozen=True, eq=False)
class Law:
    """Shares of probability at ``origin_ms``, ``origin_ms + step_ms``, ..."""

    origin_ms: float
    step_ms: float
    shares: FloatArray


def law_of_one(parts: list[tuple[float, Component]]) -> Law | None:
    """The law of one draw, size zero; None if a grid is too coarse for it."""
    pieces = np.concatenate([_pieces(weight / _total(parts), part) for weight, part in parts])
    least, most = float(pieces[:, 1].min()), float(pieces[:, 3].max())
    step = (most - least) / (CELLS_MAX - 2)
    if step == 0.0:
        return Law(least, 0.0, np.ones(1))
    shares = np.zeros(CELLS_MAX)
    _spread(pieces, least, step, shares)
    variance = _variance(shares)
    return Law(least, step, shares) if COARSENESS_MAX * math.sqrt(variance) >= 1.0 else None


def slowest_of(law: Law, count: int) -> Law:
    """The law of the slowest of ``count`` draws."""
    return Law(law.origin_ms, law.step_ms, _raise_to_power(law.shares, count))


def double(law: Law) -> Law:
    """The law of the sum of two draws."""
    shares, first, halvings = square(law.shares)
    return Law(2.0 * law.origin_ms + first * law.step_ms, math.ldexp(law.step_ms, halvings), shares)


def quantile_table(law: Law) -> FloatArray:
    """The quantiles as a smooth table of ``code``, with ``CELL_BITS``."""
    cells = cells_per_side(CELL_BITS) - 1
    lower = _side(law.shares, cells, CELL_BITS)
    upper = _side(law.shares[::-1].copy(), cells, CELL_BITS)
    lower *= law.step_ms
    lower[:, 0] += law.origin_ms
    upper *= -law.step_ms
    upper[:, 0] += law.origin_ms + (law.shares.size - 1) * law.step_ms
    return np.concatenate([lower.ravel(), upper.ravel()])


# ---- one draw: from its quantile function to the grid ------------------------------------------------------------


def _total(parts: list[tuple[float, Component]]) -> float:
    return sum(weight for weight, _ in parts)


def _pieces(weight: float, part: Component) -> FloatArray:
    """A component as rows (share, least, mean, greatest) between which the quantile function is nearly straight."""
    code = encode([(1.0, part)])
    if part.kind == SMOOTH:
        pieces = _smooth_pieces(code, part.extent)
    else:
        edges = [0.0, 1.0]
        if part.kind == POLYLINE and part.table is not None:
            edges = sorted({0.0, 1.0, *part.table[: part.extent].tolist()})
        if part.kind == CONSTANT:
            edges = [0.0, 0.5]
        pieces = np.array([_straight(code, low, high) for low, high in pairwise(edges)])
        pieces = np.concatenate([_cut(piece, part.floor_ms) for piece in pieces])
        if part.kind == CONSTANT:
            pieces[:, 0] *= 2.0
    pieces[:, 0] *= weight
    return pieces


def _straight(code: FloatArray, low: float, high: float) -> list[float]:
    """One straight piece from u = ``low`` to ``high``, without the floor: a line is read just inside its ends."""
    bare = code.copy()
    bare[6] = -math.inf
    inset = (high - low) * 2.0**-20
    first = float(component_ms(bare, 0, 1, low + inset, False, 0))
    last = float(component_ms(bare, 0, 1, high - inset, False, 0))
    rise = (last - first) * (0.5 / (1.0 - 2.0**-19))
    middle = 0.5 * (first + last)
    return [high - low, middle - rise, middle, middle + rise]


def _cut(piece: FloatArray, floor_ms: float) -> FloatArray:
    """A straight piece under a floor: up to two."""
    share, low, _, high = piece.tolist()
    if low >= floor_ms:
        return piece.reshape(1, 4)
    if high <= floor_ms:
        return np.array([[share, floor_ms, floor_ms, floor_ms]])
    lifted = share * (floor_ms - low) / (high - low)
    middle = 0.5 * (floor_ms + high)
    return np.array([[lifted, floor_ms, floor_ms, floor_ms], [share - lifted, floor_ms, middle, high]])


@jitted
def _smooth_pieces(code: FloatArray, cell_bits: int) -> FloatArray:
    """The pieces of a smooth component, floor included: each cell of its table in a few, each tail's end in one."""
    per_octave = _PIECES_PER_CELL << cell_bits
    pieces = np.empty((2 * (_OCTAVES_KEPT * per_octave + 1), 4))
    row = 0
    for is_upper in (False, True):
        octave = 0.25
        while octave >= TAIL_KEPT_MIN:
            width = octave / per_octave
            for index in range(per_octave):
                start = octave + index * width
                first = component_ms(code, 0, 1, start, is_upper, 0)
                middle = component_ms(code, 0, 1, start + 0.5 * width, is_upper, 0)
                last = component_ms(code, 0, 1, start + width, is_upper, 0)
                pieces[row, 0] = width
                pieces[row, 1] = min(first, last)
                pieces[row, 2] = (first + 4.0 * middle + last) / 6.0
                pieces[row, 3] = max(first, last)
                row += 1
            octave *= 0.5
        beyond = 0.0
        octave = 0.5 * TAIL_KEPT_MIN
        while octave >= TAIL_MIN:
            width = octave / per_octave
            for index in range(per_octave):
                beyond += width * component_ms(code, 0, 1, octave + (index + 0.5) * width, is_upper, 0)
            octave *= 0.5
        beyond += TAIL_MIN * component_ms(code, 0, 1, TAIL_MIN, is_upper, 0)
        pieces[row, 0] = TAIL_KEPT_MIN
        pieces[row, 1:] = beyond / TAIL_KEPT_MIN
        row += 1
    return pieces


@jitted
def _spread(pieces: FloatArray, least: float, step: float, shares: FloatArray) -> None:
    """Put every piece on the grid, evenly between its ends; between two cells it is split so that its mean stays."""
    for row in range(pieces.shape[0]):
        mean = (pieces[row, 2] - least) / step
        half = 0.5 * (pieces[row, 3] - pieces[row, 1]) / step
        half = max(min(half, mean, shares.size - 1 - mean), 0.0)
        if half < 1.0e-6:
            cell = int(mean)
            shares[cell] += pieces[row, 0] * (1.0 - (mean - cell))
            shares[cell + 1] += pieces[row, 0] * (mean - cell)
            continue
        begin = mean - half
        end = mean + half
        density = pieces[row, 0] / (2.0 * half)
        while begin < end:
            cell = min(int(begin), shares.size - 2)
            until = min(end, cell + 1.0)
            if until <= begin:
                break
            place = 0.5 * (begin + until) - cell
            share = density * (until - begin)
            shares[cell] += share * (1.0 - place)
            shares[cell + 1] += share * place
            begin = until


@jitted
def _variance(shares: FloatArray) -> float:
    """In cells squared."""
    total = 0.0
    mean = 0.0
    for index in range(shares.size):
        total += shares[index]
        mean += shares[index] * index
    mean /= total
    variance = 0.0
    for index in range(shares.size):
        variance += shares[index] * (index - mean) * (index - mean)
    return variance / total


@jitted
def _raise_to_power(shares: FloatArray, count: int) -> FloatArray:
    """The shares of the greatest of ``count``: its distribution function is that of one to the power ``count``."""
    powered = np.empty_like(shares)
    below = 0.0
    last = 0.0
    for index in range(shares.size):
        below = min(below + shares[index], 1.0)
        power = 1.0
        base = below
        left = count
        while left > 0:
            if left & 1:
                power *= base
            base *= base
            left >>= 1
        powered[index] = power - last
        last = power
    return powered


# ---- from the grid to a table of quantiles -----------------------------------------------------------------------


@jitted
def _side(shares: FloatArray, cells: int, cell_bits: int) -> FloatArray:
    """The cubics of the lower tail, in cells from the first: here parabolas, each with the mean its cell must have.

    Each share lies evenly between half a cell below and half a cell above its value. Where a parabola through both ends
    would turn back, as where the law has a gap, a line stands for it.
    """
    per_octave = 1 << cell_bits
    table = np.zeros((cells + 1, 4))
    cell = 0
    below = 0.0  # probability below the cell, and the integral of the quantile function up to it
    below_integral = 0.0
    width = TAIL_MIN / per_octave
    tail = TAIL_MIN
    last_quantile = 0.0
    last_integral = 0.0
    for row in range(-1, cells):
        if row >= 0:
            tail += width
        while cell < shares.size - 1 and below + shares[cell] <= tail:
            below += shares[cell]
            below_integral += shares[cell] * cell
            cell += 1
        place = min((tail - below) / shares[cell], 1.0) if shares[cell] > 0.0 else 1.0
        quantile = cell - 0.5 + place
        integral = below_integral + (tail - below) * 0.5 * (cell - 0.5 + quantile)
        if row >= 0:
            mean = min(max((integral - last_integral) / width, last_quantile), quantile)
            bend = 3.0 * (last_quantile + quantile) - 6.0 * mean
            if abs(bend) <= quantile - last_quantile:
                table[row, 0] = last_quantile
                table[row, 1] = quantile - last_quantile - bend
                table[row, 2] = bend
            else:
                half = min(mean - last_quantile, quantile - mean)
                table[row, 0] = mean - half
                table[row, 1] = 2.0 * half
            if row & (per_octave - 1) == per_octave - 1:
                width *= 2.0
        last_quantile = quantile
        last_integral = integral
    table[cells, 0] = last_quantile
    for _ in range(52 - cell_bits):  # the reader's place in a cell is an integer of so many bits
        table[:, 1] *= 0.5
        table[:, 2] *= 0.25
    return table
