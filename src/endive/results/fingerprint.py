"""Fingerprint of a run: 64 bits over every field of every txn, whatever the order they arrive in.

This file defines the hash of a row and its sum over rows. Not here: any opinion on which difference matters:
two runs are the same if every internal field of every txn is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from endive.kernel import jitted
from endive.results.schema import N_ROW, ROW_N_TABLES_READ, Ints, check_rows

Words = npt.NDArray[np.uint64]

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


def _mix(words: Words) -> Words:
    """SplitMix64's finaliser (Steele, Lea and Flood 2014): a bijection that spreads every bit."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _keys(positions: Words) -> Words:
    """One odd multiplier per position, so that a change of any single field changes the row's hash."""
    return _mix((positions + np.uint64(1)) * _GOLDEN) | np.uint64(1)


_IDS_AT_FIRST: Final = 64  # tables of one txn for which the keys are ready
_FIELD_KEYS: Final = _keys(np.arange(N_ROW + _IDS_AT_FIRST, dtype=np.uint64))


def row_hashes(rows: Ints, table_ids: Ints) -> Words:
    """Hash of each row and its table ids: a sum of field times position's key, then mixed."""
    check_rows(rows, table_ids)
    ids_max = int(rows[:, ROW_N_TABLES_READ].max(initial=0))
    keys = _FIELD_KEYS if ids_max <= _IDS_AT_FIRST else _keys(np.arange(N_ROW + ids_max, dtype=np.uint64))
    sums = np.empty(len(rows), dtype=np.uint64)
    _sum_rows(np.ascontiguousarray(rows), np.ascontiguousarray(table_ids), keys, sums)
    return _mix(sums)


@jitted
def _sum_rows(rows: Ints, table_ids: Ints, keys: Words, sums: Words) -> None:
    """Fill in the sum of every row."""
    next_id = 0
    for row in range(len(rows)):
        total = np.uint64(0)
        for field in range(N_ROW):
            total += np.uint64(rows[row, field]) * keys[field]
        for position in range(rows[row, ROW_N_TABLES_READ]):
            total += np.uint64(table_ids[next_id]) * keys[N_ROW + position]
            next_id += 1
        sums[row] = total


class Fingerprint:
    """Sum modulo 2^64 of the hashes of the rows seen so far."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        self._sum = 0

    def update(self, rows: Ints, table_ids: Ints) -> None:
        """Count these rows in."""
        total = int(row_hashes(rows, table_ids).sum(dtype=np.uint64))
        self._sum = (self._sum + total) % 2**64

    def hexdigest(self) -> str:
        """Sixteen hexadecimal digits."""
        return f"{self._sum:016x}"
