"""Quantile functions as tables: one cubic per cell, cells that halve towards both ends.

A tail probability is looked up by its own binary digits: the exponent names an octave, the leading bits of
the mantissa one of its cells. So relative accuracy holds down to 2**-53 in either tail. Defines the building
of such tables; ``code`` reads them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from endive.distributions.code import SMOOTH, TAIL_MIN, Component, FloatArray, cells_per_side

TailQuantiles = Callable[[FloatArray, bool], FloatArray]

CELL_BITS_MIN = 4
CELL_BITS_MAX = 8
ERROR_MAX = 2.0e-7  # relative, at the middle of a cell, where it is largest
NEGLIGIBLE = 1.0e-10  # an error this small against the median counts for nothing


def one_by_one(quantile: Callable[..., float]) -> Callable[..., FloatArray]:
    """A quantile function (*parameters, tail, is_upper) of one tail, for several."""

    def quantiles(*given: Any) -> FloatArray:
        *parameters, tails, is_upper = given
        return np.array([quantile(*parameters, tail, is_upper) for tail in tails.tolist()])

    return quantiles


def smooth_component(
    quantiles: Callable[..., FloatArray],
    *parameters: float,
    scale_ms: float,
    per_mib_ms: float = 0.0,
    shift_ms: float = 0.0,
) -> Component:
    """A component whose shape is ``quantiles(*parameters, tails, is_upper)``; its table is made once."""
    table, extent = _family_table(quantiles, *parameters)
    return Component(
        kind=SMOOTH, scale_ms=scale_ms, per_mib_ms=per_mib_ms, shift_ms=shift_ms, table=table, extent=extent
    )


@lru_cache(maxsize=512)
def _family_table(quantiles: Callable[..., FloatArray], *parameters: float) -> tuple[FloatArray, int]:
    return smooth_table(partial(quantiles, *parameters))


def smooth_table(quantiles: TailQuantiles) -> tuple[FloatArray, int]:
    """The table of ``quantiles(tails, is_upper)``, and how many bits choose a cell.

    16 cells per octave, and more for a distribution for which that is coarse.
    """
    for cell_bits in range(CELL_BITS_MIN, CELL_BITS_MAX + 1):
        lower, lower_error = _side(quantiles, False, cell_bits)
        upper, upper_error = _side(quantiles, True, cell_bits)
        if max(lower_error, upper_error) < ERROR_MAX:
            break
    return np.concatenate([lower, upper]), cell_bits


def _side(quantiles: TailQuantiles, is_upper: bool, cell_bits: int) -> tuple[FloatArray, float]:
    """The cubics of one tail, and their largest relative error."""
    cells = cells_per_side(cell_bits) - 1
    octaves, per_octave = np.divmod(np.arange(cells), 1 << cell_bits)
    octave_start = np.ldexp(TAIL_MIN, octaves)
    width = np.ldexp(octave_start, -cell_bits)
    start = octave_start + per_octave * width

    def values(share: float) -> FloatArray:
        return quantiles(start + share * width, is_upper)

    at_0, at_1, at_2, at_3 = values(0.0), values(0.25), values(0.75), values(1.0)
    rise_1, rise_2, rise_3 = at_1 - at_0, at_2 - at_0, at_3 - at_0
    c1 = 8.0 * rise_1 - rise_2 * 8.0 / 3.0 + rise_3
    c2 = (64.0 * rise_1 - rise_3 - 15.0 * c1) / 3.0
    c3 = rise_3 - c1 - c2
    middle = values(0.5)
    error = np.abs(at_0 + 0.5 * (c1 + 0.5 * (c2 + 0.5 * c3)) - middle)
    half = np.array([0.5])
    median = abs(quantiles(half, False)[0])
    relative = error[error > NEGLIGIBLE * median] / np.abs(middle[error > NEGLIGIBLE * median])

    table = np.zeros((cells + 1, 4))
    place_bits = 52 - cell_bits  # the reader's place in a cell is an integer of so many bits
    table[:cells, 0] = at_0
    table[:cells, 1] = np.ldexp(c1, -place_bits)
    table[:cells, 2] = np.ldexp(c2, -2 * place_bits)
    table[:cells, 3] = np.ldexp(c3, -3 * place_bits)
    table[cells, 0] = quantiles(half, is_upper)[0]
    return table.ravel(), float(relative.max(initial=0.0))
