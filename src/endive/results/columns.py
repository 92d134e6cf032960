"""A batch of txns in columns: one array for each column of ``TRANSACTION_SCHEMA``, in its type and unit.

Both engines write their rows with ``write_row``. The columns and their types are ``endive.results.schema``'s, a row's
fields ``endive.vocabulary``'s; which field goes into which column follows from their names. Arrow takes the arrays as
they are (``endive.results.arrow``).

Columns of one type lie together, each in ``room`` neighbouring numbers, zero at first. What is zero is not written, so
a column nobody writes costs nothing; ``is_used`` tells which ones were. A negative number in a nullable column is null.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.kernel import fill, jitted, records
from endive.record import Int64, Record, names_of, record
from endive.results.schema import TRANSACTION_SCHEMA, Ints
from endive.vectors import bytes_at, floats_at, int32s_at, ints_at
from endive.vocabulary import (
    ABORTED,
    COMMITTED,
    IN_FLIGHT_EXECUTING,
    N_ROW,
    NARROW_FIELDS,
    NO_REASON,
    NONE,
    VALIDATION_EXCEPTION,
    WIDE_FIELDS,
)

US_PER_MS: Final = 1000.0
NULL_MS: Final = NONE / US_PER_MS

TIMES: Final = tuple(field.name for field in TRANSACTION_SCHEMA if field.type == pa.float64())
LONGS: Final = tuple(field.name for field in TRANSACTION_SCHEMA if field.type == pa.int64())
COUNTS: Final = tuple(
    field.name for field in TRANSACTION_SCHEMA if field.type == pa.int32() or pa.types.is_dictionary(field.type)
)  # and codes of names
COLUMNS: Final = (*TIMES, *LONGS, *COUNTS)  # their order in ``is_used``
N_TIMES, N_LONGS, N_COUNTS, N_COLUMNS = (len(names) for names in (TIMES, LONGS, COUNTS, COLUMNS))
FIRST_LONG: Final = N_TIMES
FIRST_COUNT: Final = N_TIMES + N_LONGS

# Columns that are not a field of the row under another type.
STATUS: Final = COUNTS.index("status")
STAGE: Final = COUNTS.index("in_flight_stage")
REASON: Final = COUNTS.index("reason")
RETRIES: Final = COUNTS.index("retries")
COMMIT_LATENCY: Final = TIMES.index("commit_latency_ms")
TOTAL_LATENCY: Final = TIMES.index("total_latency_ms")

# Fields of the row they follow from, among the wide ones and among the narrow ones.
N_WIDE, N_NARROW = len(WIDE_FIELDS), len(NARROW_FIELDS)
ROW_SUBMIT: Final = WIDE_FIELDS.index("submit_us")
ROW_COMMIT_START: Final = WIDE_FIELDS.index("commit_start_us")
ROW_END: Final = WIDE_FIELDS.index("end_us")
ROW_STATUS: Final = NARROW_FIELDS.index("status")
ROW_REASON: Final = NARROW_FIELDS.index("reason")
ROW_ATTEMPTS: Final = NARROW_FIELDS.index("attempts")
ROW_TABLES_READ: Final = NARROW_FIELDS.index("n_tables_read")
ROW_TABLES_WRITTEN: Final = NARROW_FIELDS.index("n_tables_written")

Int32s = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def _fields_of(columns: tuple[str, ...], fields: tuple[str, ...]) -> Ints:
    """For each column that is a field of the row: its place among the columns, and that of the field."""
    made = {field.removesuffix("_us") + "_ms" if field.endswith("_us") else field: field for field in fields}
    pairs = [
        (place, fields.index(made[name]))
        for place, name in enumerate(columns)
        if name in made and name not in ("status", "reason")
    ]
    return np.array(pairs, np.int64)


TIME_FIELDS: Final = _fields_of(TIMES, WIDE_FIELDS)
LONG_FIELDS: Final = _fields_of(LONGS, WIDE_FIELDS)
COUNT_FIELDS: Final = _fields_of(COUNTS, NARROW_FIELDS)
_COLUMN_OF: Final = np.full(len(NARROW_FIELDS), NONE, np.int64)  # of a narrow field, among the counts
_COLUMN_OF[COUNT_FIELDS[:, 1]] = COUNT_FIELDS[:, 0]
_AT_ONCE: Final = 8  # narrow fields, which most often are all zero
assert len(TIME_FIELDS) + len(LONG_FIELDS) + len(COUNT_FIELDS) == N_ROW - 4, "every field has a column, or a rule below"
_ALWAYS_USED: Final = np.ones(len(COLUMNS), np.uint8)
_ALWAYS_USED[TIME_FIELDS[:, 0]] = 0
_ALWAYS_USED[FIRST_COUNT + COUNT_FIELDS[:, 0]] = 0


@record
class Batch(Record):
    """Where compiled code finds the arrays of a batch."""

    room: Int64  # rows it can hold
    ids_room: Int64
    times: Int64
    longs: Int64
    counts: Int64
    is_used: Int64
    read_ids: Int64
    read_ends: Int64
    written_ids: Int64
    written_ends: Int64


class Columns:
    """The arrays of a batch: whoever fills them says how many rows there are, and gives them away."""

    __slots__ = (*(name for name in names_of(Batch) if "room" not in name), "n_rows")

    def __init__(self, room: int, ids_room: int) -> None:
        self.times: Floats = np.zeros((len(TIMES), room))
        self.longs: Ints = np.zeros((len(LONGS), room), np.int64)
        self.counts: Int32s = np.zeros((len(COUNTS), room), np.int32)
        self.is_used = _ALWAYS_USED.copy()
        self.read_ids: Int32s = np.empty(ids_room, np.int32)  # tables read, of one row after another
        self.read_ends: Int32s = np.zeros(room + 1, np.int32)  # where those of each row begin, and the last ends
        self.written_ids: Int32s = np.empty(ids_room, np.int32)
        self.written_ends: Int32s = np.zeros(room + 1, np.int32)
        self.n_rows = 0

    @property
    def batch(self) -> Batch:
        """Where the arrays are; they live as long as this object or a view of them does."""
        arrays = {name: getattr(self, name) for name in Columns.__slots__ if name != "n_rows"}
        addresses = {name: array.ctypes.data for name, array in arrays.items()}
        return Batch(room=self.times.shape[1], ids_room=len(self.read_ids), **addresses)

    def count(self, name: str) -> Int32s:
        """A column of counts or codes."""
        return self.counts[COUNTS.index(name), : self.n_rows]

    def us(self, name: str) -> Ints:
        """A column of times in microseconds, as the engine counted them; ``NONE`` where it is null."""
        times_ms = self.times[TIMES.index(name), : self.n_rows]
        times_us: Ints = np.floor(times_ms * US_PER_MS + 0.5).astype(np.int64)
        return times_us


def columns_of(rows: Ints, table_ids: Ints) -> Columns:
    """Columns of rows of ``ROW_FIELDS``, with ``n_tables_read`` table ids for each of them, the written ones first."""
    assert rows.shape == (len(rows), N_ROW), f"rows of {N_ROW} fields, not {rows.shape}"
    wide, narrow = np.ascontiguousarray(rows[:, :N_WIDE]), rows[:, N_WIDE:].astype(np.int32)
    n_read, n_written = narrow[:, ROW_TABLES_READ], narrow[:, ROW_TABLES_WRITTEN]
    assert table_ids.shape == (n_read.sum(),), f"{n_read.sum()} table ids promised, {table_ids.shape} given"
    assert (n_written <= n_read).all(), "a txn reads every table it writes"
    columns = Columns(len(rows), len(table_ids))
    place = records(Batch, 1)
    fill(place[0], columns.batch)
    _write_rows(place[0], wide, narrow, np.ascontiguousarray(table_ids))
    columns.n_rows = len(rows)
    return columns


def check_columns(columns: Columns) -> None:
    """What an engine promises about the txns it hands over."""
    status, reason = columns.count("status"), columns.count("reason")
    assert ((status == ABORTED) == (reason >= 0)).all(), "exactly the aborted txns have a reason"
    n = columns.n_rows
    has_ended = columns.times[TIMES.index("end_ms"), :n] >= 0
    assert ((status <= ABORTED) == has_ended).all(), "exactly the txns not in flight have an end"
    never_began = columns.times[TIMES.index("commit_start_ms"), :n] < 0
    assert not (never_began & (status == COMMITTED)).any(), "a committed txn began to commit"
    n_read, n_written = np.diff(columns.read_ends[: n + 1]), np.diff(columns.written_ends[: n + 1])
    assert (n_written <= n_read).all(), "a txn reads every table it writes"


@jitted
def whole_us(time_ms: float) -> int:
    """A time in microseconds, as the engine counted it: exact, as long as it is below 2**51."""
    return math.floor(time_ms * US_PER_MS + 0.5)


@jitted
def write_row(batch: Batch, at: int, wide: Ints, narrow: Int32s, tables: Ints) -> None:
    """Write a row and the tables it touches, written ones first, as number ``at`` of a batch."""
    room = batch.room
    times = floats_at(batch.times, N_TIMES * room)
    longs = ints_at(batch.longs, N_LONGS * room)
    counts = int32s_at(batch.counts, N_COUNTS * room)
    is_used = bytes_at(batch.is_used, N_COLUMNS)
    for field in range(len(TIME_FIELDS)):
        time_us = wide[TIME_FIELDS[field, 1]]
        if time_us != 0:
            times[TIME_FIELDS[field, 0] * room + at] = time_us / US_PER_MS
            is_used[TIME_FIELDS[field, 0]] = 1
    for field in range(len(LONG_FIELDS)):
        longs[LONG_FIELDS[field, 0] * room + at] = wide[LONG_FIELDS[field, 1]]
    for first in range(0, N_NARROW, _AT_ONCE):
        end = min(first + _AT_ONCE, N_NARROW)
        ones = 0
        for field in range(first, end):
            ones |= narrow[field]
        if ones == 0:
            continue
        for field in range(first, end):
            if narrow[field] != 0 and _COLUMN_OF[field] >= 0:
                counts[_COLUMN_OF[field] * room + at] = narrow[field]
                is_used[FIRST_COUNT + _COLUMN_OF[field]] = 1
    counts[STATUS * room + at] = min(narrow[ROW_STATUS], IN_FLIGHT_EXECUTING)
    counts[STAGE * room + at] = narrow[ROW_STATUS] - IN_FLIGHT_EXECUTING
    counts[REASON * room + at] = narrow[ROW_REASON] - VALIDATION_EXCEPTION
    counts[RETRIES * room + at] = max(narrow[ROW_ATTEMPTS] - 1, 0)
    end_us, start_us = wide[ROW_END], wide[ROW_COMMIT_START]
    is_known = end_us != NONE and start_us != NONE
    times[COMMIT_LATENCY * room + at] = (end_us - start_us) / US_PER_MS if is_known else NULL_MS
    times[TOTAL_LATENCY * room + at] = (end_us - wide[ROW_SUBMIT]) / US_PER_MS if end_us != NONE else NULL_MS
    _write_ids(batch.read_ids, batch.ids_room, batch.read_ends, at, tables, narrow[ROW_TABLES_READ])
    _write_ids(batch.written_ids, batch.ids_room, batch.written_ends, at, tables, narrow[ROW_TABLES_WRITTEN])


@jitted
def _write_ids(ids_at: int, ids_room: int, ends_at: int, at: int, tables: Ints, count: int) -> None:
    ids = int32s_at(ids_at, ids_room)
    ends = int32s_at(ends_at, at + 2)
    first = ends[at]
    for position in range(count):
        ids[first + position] = tables[position]
    ends[at + 1] = first + count


@jitted
def _write_rows(batch: Batch, wide: Ints, narrow: Int32s, table_ids: Ints) -> None:
    first = 0
    for at in range(len(wide)):
        write_row(batch, at, wide[at], narrow[at], table_ids[first:])
        first += narrow[at, ROW_TABLES_READ]


assert NO_REASON < VALIDATION_EXCEPTION, "the reason of a txn that has none is null"
