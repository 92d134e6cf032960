"""Fingerprint of a run: 64 bits over every field of every txn, whatever the order they arrive in.

Owns the hash of a row and its sum over rows. Refuses to own any opinion on which difference matters:
two runs are the same if every internal field of every txn is.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

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


_FIELD_KEYS: Final = _keys(np.arange(N_ROW, dtype=np.uint64))


def row_hashes(rows: Ints, table_ids: Ints) -> Words:
    """Hash of each row and its table ids: a sum of field times position's key, then mixed."""
    check_rows(rows, table_ids)
    lengths = rows[:, ROW_N_TABLES_READ]
    ends = np.cumsum(lengths)
    starts = ends - lengths
    position = np.arange(len(table_ids), dtype=np.int64) - np.repeat(starts, lengths)
    terms = table_ids.astype(np.uint64) * _keys(position.astype(np.uint64) + np.uint64(N_ROW))
    running = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    sums: Words = rows.astype(np.uint64, copy=False) @ _FIELD_KEYS
    return _mix(sums + running[ends] - running[starts])


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
