"""Latencies on a fixed logarithmic grid: counts that merge without error.

In whole microseconds: ``BINS_PER_OCTAVE`` bins of equal width from each power of two to the next, so a value is known
to within 1 / ``BINS_PER_OCTAVE`` of itself, and below twice that many microseconds exactly. The grid never depends on
the data, so counts of many runs are added bin by bin. What is counted is ``endive.results.statistics``'s.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from endive.results.schema import Ints

BITS: Final = 7
BINS_PER_OCTAVE: Final = 1 << BITS


def bins_of(values_us: Ints) -> Ints:
    """The bin of every value; values are not negative."""
    shifts = np.maximum(bit_lengths(values_us) - (BITS + 1), 0)
    return (shifts << BITS) + (values_us >> shifts)


def bin_low_us(bins: Ints) -> Ints:
    """The smallest value of each bin."""
    shifts = _shifts(bins)
    return (bins - (shifts << BITS)) << shifts


def bin_high_us(bins: Ints) -> Ints:
    """The largest value of each bin."""
    return bin_low_us(bins) + (np.int64(1) << _shifts(bins)) - 1


def count_bins(values_us: Ints) -> tuple[Ints, Ints]:
    """The bins that hold a value, in order, and how many each holds."""
    bins, counts = np.unique(bins_of(values_us), return_counts=True)
    return bins, counts.astype(np.int64)


def _shifts(bins: Ints) -> Ints:
    """By how many bits the values of a bin are wider than 1."""
    shifts: Ints = np.maximum((bins >> BITS) - 1, 0)
    return shifts


def bit_lengths(values_us: Ints) -> Ints:
    """Of whole numbers below 2**53, which a float holds exactly."""
    lengths: Ints = np.frexp(values_us.astype(np.float64))[1].astype(np.int64)
    return lengths
