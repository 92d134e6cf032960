"""Bins for counts that may be small or large: one per value below 4, then two to an octave (4-5, 6-7, 8-11, ...).

Attempts and n_behind are drawn in these bins. Their arithmetic is here, for arrays and for Spark.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from endive.results.schema import Ints

EXACT_BELOW: Final = 4
BINS: Final = 2 * 63  # more than any count has


def place_of_count(counts: Ints) -> Ints:
    """The number of the bin in which each count lies; counts are not negative and below 2**53."""
    lengths = np.frexp(counts.astype(np.float64))[1].astype(np.int64)  # in binary digits
    upper_half = (counts >> np.maximum(lengths - 2, 0)) & 1
    return np.where(counts < EXACT_BELOW, counts, 2 * (lengths - 1) + upper_half)


def smallest_count(places: Ints) -> Ints:
    """The smallest count of each bin."""
    return np.where(places < EXACT_BELOW, places, (2 + places % 2) << np.maximum(places // 2 - 1, 0))


def smallest_count_sql(count: str) -> str:
    """The smallest count of the bin of a count, in SQL; it is not negative."""
    whole = f"cast({count} as bigint)"
    shift = f"length(bin({whole})) - 2"  # all but the first two of its binary digits
    return f"if({count} < {EXACT_BELOW}, {whole}, shiftleft(shiftright({whole}, {shift}), {shift}))"


def largest_count(smallest: Ints) -> Ints:
    """The largest count of the bin that begins at each of ``smallest``."""
    return smallest_count(place_of_count(smallest) + 1) - 1
