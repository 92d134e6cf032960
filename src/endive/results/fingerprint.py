"""Fingerprint of a run: 64 bits over every field of every txn, whatever the order they arrive in.

This file defines the hash of a row and its sum over rows. Not here: any opinion on which difference matters:
two runs are the same if every internal field of every txn is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from endive.kernel import jitted
from endive.results.columns import (
    COUNT_FIELDS,
    FIRST_COUNT,
    LONG_FIELDS,
    REASON,
    ROW_REASON,
    ROW_STATUS,
    ROW_TABLES_READ,
    ROW_TABLES_WRITTEN,
    STAGE,
    STATUS,
    TIME_FIELDS,
    Columns,
    Floats,
    Int32s,
    whole_us,
)
from endive.results.schema import Ints
from endive.vocabulary import N_ROW, VALIDATION_EXCEPTION

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


def row_hashes(columns: Columns) -> Words:
    """Hash of each row and its table ids: a sum of field times position's key, then mixed."""
    n = columns.n_rows
    ids_max = int(np.diff(columns.read_ends[: n + 1]).max(initial=0))
    keys = _FIELD_KEYS if ids_max <= _IDS_AT_FIRST else _keys(np.arange(N_ROW + ids_max, dtype=np.uint64))
    sums = np.zeros(n, dtype=np.uint64)
    _sum_columns(columns.times, columns.longs, columns.counts, columns.is_used, keys, sums)
    _sum_tables(columns.read_ids, columns.read_ends, columns.written_ends, keys, sums)
    return _mix(sums)


@jitted
def _sum_columns(
    times: Floats, longs: Ints, counts: Int32s, is_used: npt.NDArray[np.uint8], keys: Words, sums: Words
) -> None:
    """Add to the sum of every row what its columns bring; what is zero brings nothing."""
    for field in range(len(TIME_FIELDS)):
        column, key = TIME_FIELDS[field, 0], keys[TIME_FIELDS[field, 1]]
        if is_used[column]:
            for row in range(len(sums)):
                sums[row] += np.uint64(whole_us(times[column, row])) * key
    for field in range(len(LONG_FIELDS)):
        column, key = LONG_FIELDS[field, 0], keys[LONG_FIELDS[field, 1]]
        for row in range(len(sums)):
            sums[row] += np.uint64(longs[column, row]) * key
    for field in range(len(COUNT_FIELDS)):
        column, key = COUNT_FIELDS[field, 0], keys[COUNT_FIELDS[field, 1]]
        if is_used[FIRST_COUNT + column]:
            for row in range(len(sums)):
                sums[row] += np.uint64(counts[column, row]) * key
    for row in range(len(sums)):
        status = counts[STATUS, row] + max(counts[STAGE, row], 0)
        sums[row] += np.uint64(status) * keys[ROW_STATUS]
        sums[row] += np.uint64(counts[REASON, row] + VALIDATION_EXCEPTION) * keys[ROW_REASON]


@jitted
def _sum_tables(ids: Int32s, read_ends: Int32s, written_ends: Int32s, keys: Words, sums: Words) -> None:
    """Add what its tables bring."""
    for row in range(len(sums)):
        first, end = read_ends[row], read_ends[row + 1]
        sums[row] += np.uint64(end - first) * keys[ROW_TABLES_READ]
        sums[row] += np.uint64(written_ends[row + 1] - written_ends[row]) * keys[ROW_TABLES_WRITTEN]
        for position in range(end - first):
            sums[row] += np.uint64(ids[first + position]) * keys[N_ROW + position]


class Fingerprint:
    """Sum modulo 2^64 of the hashes of the rows seen so far."""

    __slots__ = ("_sum",)

    def __init__(self) -> None:
        self._sum = 0

    def update(self, columns: Columns) -> None:
        """Count this batch in."""
        total = int(row_hashes(columns).sum(dtype=np.uint64))
        self._sum = (self._sum + total) % 2**64

    def hexdigest(self) -> str:
        """Sixteen hexadecimal digits."""
        return f"{self._sum:016x}"
