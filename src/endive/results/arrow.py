"""A batch of columns becomes an Arrow record batch, without copying a number.

The arrays are ``endive.results.columns``'s, the columns ``endive.results.schema``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.results.columns import COLUMNS, FIRST_COUNT, FIRST_LONG, Columns, Int32s
from endive.results.schema import TRANSACTION_SCHEMA
from endive.vocabulary import IN_FLIGHT_EXECUTING, KINDS, REASONS, STATUSES

Numbers = npt.NDArray[Any]

_NAMES: Final = {  # of the codes in a column; ``source`` has those of the run
    "kind": KINDS,
    "status": (*STATUSES[:IN_FLIGHT_EXECUTING], "in_flight"),
    "in_flight_stage": tuple(name.removeprefix("in_flight_") for name in STATUSES[IN_FLIGHT_EXECUTING:]),
    "reason": REASONS[1:],
}


def to_record_batch(columns: Columns, source_names: Sequence[str]) -> pa.RecordBatch:
    """A batch of ``TRANSACTION_SCHEMA`` over the same memory."""
    names = {"source": tuple(source_names), **_NAMES}
    arrays = [
        _tables(columns, field) if field.name not in _PLACES else _column(columns, field, names.get(field.name))
        for field in TRANSACTION_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=TRANSACTION_SCHEMA)


_PLACES: Final = {name: place for place, name in enumerate(COLUMNS)}


def _column(columns: Columns, field: pa.Field, names: tuple[str, ...] | None) -> pa.Array:
    place = _PLACES[field.name]
    if names is None and not columns.is_used[place]:
        return _zeros(field.type, columns.n_rows)
    values = _numbers(columns, place)
    if names is not None:
        return pa.DictionaryArray.from_arrays(_array(values, field.nullable), _dictionary(names))
    return _array(values, field.nullable)


def _numbers(columns: Columns, place: int) -> Numbers:
    if place >= FIRST_COUNT:
        return columns.counts[place - FIRST_COUNT, : columns.n_rows]
    if place >= FIRST_LONG:
        return columns.longs[place - FIRST_LONG, : columns.n_rows]
    return columns.times[place, : columns.n_rows]


def _array(values: Numbers, is_nullable: bool) -> pa.Array:
    """Numbers where they are; of a nullable column the negative ones are null.

    From buffers, because ``pa.array`` imports pandas first, wherever it is installed.
    """
    bits = None
    if is_nullable:
        is_valid = values >= 0
        if not is_valid.all():
            bits = pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [bits, pa.py_buffer(values)])


def _tables(columns: Columns, field: pa.Field) -> pa.Array:
    is_read = field.name == "tables_read"
    ids, ends = (columns.read_ids, columns.read_ends) if is_read else (columns.written_ids, columns.written_ends)
    offsets: Int32s = ends[: columns.n_rows + 1]
    return pa.ListArray.from_arrays(_array(offsets, False), _array(ids[: offsets[-1]], False), type=field.type)


@lru_cache(maxsize=64)
def _dictionary(names: tuple[str, ...]) -> pa.Array:
    texts = [name.encode() for name in names]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(b"".join(texts)))


@lru_cache(maxsize=8)
def _zeros(kind: pa.DataType, count: int) -> pa.Array:
    """A column of zeros: most counters of most runs are nothing else, and all of them can share one."""
    return _array(np.zeros(count, kind.to_pandas_dtype()), False)
