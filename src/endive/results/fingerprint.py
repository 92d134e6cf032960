"""Fingerprint of a run: 64 bits over every field of every txn, whatever the order they arrive in.

Two runs are the same if every internal field of every txn is: no difference matters less than another. A field is
known by its name, so what is zero may come and go: a new column, or one that nobody fills, leaves fingerprints as they
are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from endive.kernel import jitted
from endive.results.columns import (
    COUNT_FIELDS,
    FIRST_COUNT,
    LONG_FIELDS,
    REASON,
    STAGE,
    STATUS,
    TIME_FIELDS,
    Columns,
    Floats,
    Int32s,
    whole_us,
)
from endive.results.schema import Ints
from endive.vocabulary import NARROW_FIELDS, VALIDATION_EXCEPTION, WIDE_FIELDS

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


# Fields have the keys of the places they first had in a row, with counts of requests for every object and operation,
# and the tables those behind them; a field that came later has a key made from its name.
_FIRST_OBJECTS: Final = ("catalog", "metadata", "manifest_list", "manifest", "log")
_FIRST_OPERATIONS: Final = ("read", "write", "cas", "append", "tail_append", "head", "delete")
FIRST_FIELDS: Final = (
    *("txn_id", "source", "client", "source_index", "kind", "status", "reason"),
    *("submit_us", "commit_start_us", "end_us", "attempts", "restarts", "n_behind_first", "hazard_window_us"),
    *("phase_catalog_read_us", "phase_metadata_us", "phase_history_us", "phase_manifests_us"),
    *("phase_manifest_list_us", "phase_commit_us", "phase_backoff_us", "phase_runtime_us"),
    *(f"requests_{obj}_{op}" for obj in _FIRST_OBJECTS for op in _FIRST_OPERATIONS),
    *("bytes_read", "bytes_written", "history_lists", "false_conflicts", "real_conflicts"),
    *("append_physical_success", "append_physical_failure", "append_logical_success", "append_logical_conflict"),
    *("append_compactions_triggered", "append_compactions_completed", "append_duplicates"),
    *("manifest_append_physical_success", "manifest_append_physical_failure", "manifest_append_sealed_rewrite"),
    *("n_tables_read", "n_tables_written"),
)
_IDS_AT_FIRST: Final = 64  # tables of one txn for which the keys are ready


def _id_keys(count: int) -> Words:
    return _keys(len(FIRST_FIELDS) + np.arange(count, dtype=np.uint64))


def _field_keys(fields: Sequence[str]) -> Words:
    return np.array([_field_key(field) for field in fields], np.uint64)


def _field_key(field: str) -> int:
    if field in FIRST_FIELDS:
        return int(_keys(np.array([FIRST_FIELDS.index(field)], np.uint64))[0])
    return int.from_bytes(hashlib.blake2b(field.encode(), digest_size=8).digest(), "little") | 1


_ID_KEYS: Final = _id_keys(_IDS_AT_FIRST)
_TIME_KEYS: Final = _field_keys([WIDE_FIELDS[place] for place in TIME_FIELDS[:, 1]])
_LONG_KEYS: Final = _field_keys([WIDE_FIELDS[place] for place in LONG_FIELDS[:, 1]])
_COUNT_KEYS: Final = _field_keys([NARROW_FIELDS[place] for place in COUNT_FIELDS[:, 1]])
_STATUS_KEY, _REASON_KEY, _READ_KEY, _WRITTEN_KEY = _field_keys(
    ["status", "reason", "n_tables_read", "n_tables_written"]
)


def row_hashes(columns: Columns) -> Words:
    """Hash of each row and its table ids: a sum of each field times its key, then mixed."""
    n = columns.n_rows
    ids_max = int(np.diff(columns.read_ends[: n + 1]).max(initial=0))
    id_keys = _ID_KEYS if ids_max <= _IDS_AT_FIRST else _id_keys(ids_max)
    sums = np.zeros(n, dtype=np.uint64)
    _sum_columns(columns.times, columns.longs, columns.counts, columns.is_used, sums)
    _sum_tables(columns.read_ids, columns.read_ends, columns.written_ends, id_keys, sums)
    return _mix(sums)


@jitted
def _sum_columns(times: Floats, longs: Ints, counts: Int32s, is_used: npt.NDArray[np.uint8], sums: Words) -> None:
    """Add to the sum of every row what its columns bring; what is zero brings nothing."""
    for field in range(len(TIME_FIELDS)):
        column, key = TIME_FIELDS[field, 0], _TIME_KEYS[field]
        if is_used[column]:
            for row in range(len(sums)):
                sums[row] += np.uint64(whole_us(times[column, row])) * key
    for field in range(len(LONG_FIELDS)):
        column, key = LONG_FIELDS[field, 0], _LONG_KEYS[field]
        for row in range(len(sums)):
            sums[row] += np.uint64(longs[column, row]) * key
    for field in range(len(COUNT_FIELDS)):
        column, key = COUNT_FIELDS[field, 0], _COUNT_KEYS[field]
        if is_used[FIRST_COUNT + column]:
            for row in range(len(sums)):
                sums[row] += np.uint64(counts[column, row]) * key
    for row in range(len(sums)):
        status = counts[STATUS, row] + max(counts[STAGE, row], 0)
        sums[row] += np.uint64(status) * _STATUS_KEY
        sums[row] += np.uint64(counts[REASON, row] + VALIDATION_EXCEPTION) * _REASON_KEY


@jitted
def _sum_tables(ids: Int32s, read_ends: Int32s, written_ends: Int32s, id_keys: Words, sums: Words) -> None:
    """Add what its tables bring."""
    for row in range(len(sums)):
        first, end = read_ends[row], read_ends[row + 1]
        sums[row] += np.uint64(end - first) * _READ_KEY
        sums[row] += np.uint64(written_ends[row + 1] - written_ends[row]) * _WRITTEN_KEY
        for position in range(end - first):
            sums[row] += np.uint64(ids[first + position]) * id_keys[position]


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
