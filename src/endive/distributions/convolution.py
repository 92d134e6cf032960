"""The sum of two equal draws on a grid: this file squares a law by its Fourier transform.

Every machine must make the same bits. So the transform is written out here instead of taken from numpy, whose result
depends on which vector instructions a processor has. It uses only + - * / and the square root, in one order, and its
angles come from halving the right angle. The compiler may not reorder sums, nor fuse a product with a sum
(``endive.kernel`` never allows ``fastmath``). The laws themselves live in ``sum_grid``.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from endive.distributions.code import FloatArray
from endive.kernel import jitted

CELLS_MAX = 1 << 15
WEIGHT_NEGLIGIBLE = 1.0e-12  # of a sum: the rounding of the transform is below that


def square(shares: FloatArray) -> tuple[FloatArray, int, int]:
    """The shares of a sum of two draws, the first cell that is kept, and how often the grid was coarsened."""
    return _square(shares, *_angles(2 * CELLS_MAX))


@lru_cache(maxsize=1)
def _angles(count: int) -> tuple[FloatArray, FloatArray]:
    """Cosine and sine of j/count of a turn, for j below count/2; a turn is halved down from the right angle."""
    cosines, sines = np.ones(count // 2), np.zeros(count // 2)
    cosine, sine = 0.0, 1.0
    bit = count // 4
    while bit > 0:
        cosines[bit], sines[bit] = cosine, sine
        cosine = math.sqrt((1.0 + cosine) * 0.5)
        sine = sine / (2.0 * cosine)
        bit >>= 1
    width = 1
    while width < count // 2:
        turn_cosine, turn_sine = cosines[width], sines[width]
        low_cosines, low_sines = cosines[:width].copy(), sines[:width].copy()
        cosines[width : 2 * width] = low_cosines * turn_cosine - low_sines * turn_sine
        sines[width : 2 * width] = low_sines * turn_cosine + low_cosines * turn_sine
        width *= 2
    return cosines, sines


@jitted
def _square(shares: FloatArray, cosines: FloatArray, sines: FloatArray) -> tuple[FloatArray, int, int]:
    size = 2 * cosines.size
    real = np.zeros(size)
    imaginary = np.zeros(size)
    real[: shares.size] = shares
    _transform(real, imaginary, cosines, sines)
    for a in range(size):
        square = real[a] * real[a] - imaginary[a] * imaginary[a]
        imaginary[a] = 2.0 * real[a] * imaginary[a]
        real[a] = square
    _transform_back(real, imaginary, cosines, sines)
    return _trim(real[: 2 * shares.size - 1])


@jitted
def _transform(real: FloatArray, imaginary: FloatArray, cosines: FloatArray, sines: FloatArray) -> None:
    """Radix 2, decimation in frequency: the cells end in bit-reversed order, which the way back undoes."""
    half = real.size >> 1
    stride = 1
    while half > 0:
        for start in range(0, real.size, 2 * half):
            for j in range(half):
                a, b = start + j, start + j + half
                dr, di = real[a] - real[b], imaginary[a] - imaginary[b]
                real[a] += real[b]
                imaginary[a] += imaginary[b]
                c, s = cosines[j * stride], sines[j * stride]
                real[b] = dr * c + di * s
                imaginary[b] = di * c - dr * s
        half >>= 1
        stride <<= 1


@jitted
def _transform_back(real: FloatArray, imaginary: FloatArray, cosines: FloatArray, sines: FloatArray) -> None:
    """Decimation in time, from bit-reversed order, without the division by the size: shares are normalised anyway."""
    half = 1
    stride = real.size >> 1
    while stride > 0:
        for start in range(0, real.size, 2 * half):
            for j in range(half):
                a, b = start + j, start + j + half
                c, s = cosines[j * stride], sines[j * stride]
                br, bi = real[b] * c - imaginary[b] * s, imaginary[b] * c + real[b] * s
                real[b] = real[a] - br
                imaginary[b] = imaginary[a] - bi
                real[a] += br
                imaginary[a] += bi
        half <<= 1
        stride >>= 1


@jitted
def _trim(shares: FloatArray) -> tuple[FloatArray, int, int]:
    """Negative rounding made zero, negligible ends put on the first and last cell kept, and at most CELLS_MAX cells."""
    total = 0.0
    for index in range(shares.size):
        shares[index] = max(shares[index], 0.0)
        total += shares[index]
    for index in range(shares.size):
        shares[index] /= total
    first = 0
    below = 0.0
    while below + shares[first] < WEIGHT_NEGLIGIBLE:
        below += shares[first]
        first += 1
    last = shares.size - 1
    above = 0.0
    while above + shares[last] < WEIGHT_NEGLIGIBLE:
        above += shares[last]
        last -= 1
    kept = shares[first : last + 1].copy()
    kept[0] += below
    kept[-1] += above
    halvings = 0
    while kept.size > CELLS_MAX:
        halved = np.zeros(kept.size // 2 + 1)
        for index in range(kept.size):
            if index & 1:
                halved[index >> 1] += 0.5 * kept[index]
                halved[(index >> 1) + 1] += 0.5 * kept[index]
            else:
                halved[index >> 1] += kept[index]
        kept = halved
        halvings += 1
    return kept, first, halvings
