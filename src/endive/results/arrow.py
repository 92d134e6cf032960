"""Internal rows become Arrow record batches, a column at a time.

This file defines the translation of codes to names, microseconds to milliseconds and ``NONE`` to null. Refuses to
own the columns themselves (``endive.results.schema``) and any loop over txns: everything here is
vectorised.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.results import schema as s
from endive.results.schema import Ints, check_rows
from endive.vocabulary import IN_FLIGHT_EXECUTING, VALIDATION_EXCEPTION

_IN_FLIGHT_STAGES = ("executing", "committing")


def to_record_batch(rows: Ints, table_ids: Ints, source_names: Sequence[str]) -> pa.RecordBatch:
    """Rows of ``ROW_FIELDS`` as a batch of ``TRANSACTION_SCHEMA``.

    ``table_ids`` is flat: ``n_tables_read`` entries for each row, in row order, written tables first.
    """
    check_rows(rows, table_ids)
    columns = np.ascontiguousarray(rows.T)
    arrays: dict[str, pa.Array] = {
        **_identity(columns, source_names),
        **_times(columns),
        **_counts(columns),
        **_tables(columns, table_ids),
    }
    return pa.RecordBatch.from_arrays(
        [arrays[name] for name in s.TRANSACTION_SCHEMA.names], schema=s.TRANSACTION_SCHEMA
    )


def _identity(columns: Ints, source_names: Sequence[str]) -> dict[str, pa.Array]:
    status = columns[s.ROW_STATUS]
    reason = columns[s.ROW_REASON]
    client = columns[s.ROW_CLIENT]
    return {
        "txn_id": pa.array(columns[s.ROW_TXN_ID]),
        "source": _names(columns[s.ROW_SOURCE], source_names),
        "client": pa.array(client.astype(np.int32), mask=client == s.NONE),
        "source_index": pa.array(columns[s.ROW_SOURCE_INDEX]),
        "kind": _names(columns[s.ROW_KIND], s.KINDS),
        "status": _names(np.minimum(status, IN_FLIGHT_EXECUTING), (*s.STATUSES[:2], "in_flight")),
        "in_flight_stage": _names(status - IN_FLIGHT_EXECUTING, _IN_FLIGHT_STAGES),
        "reason": _names(reason - VALIDATION_EXCEPTION, s.REASONS[1:]),
    }


def _times(columns: Ints) -> dict[str, pa.Array]:
    submit_us = columns[s.ROW_SUBMIT_US]
    start_us = columns[s.ROW_COMMIT_START_US]
    end_us = columns[s.ROW_END_US]
    hazard_us = columns[s.ROW_HAZARD_US]
    is_open = end_us == s.NONE
    never_began = start_us == s.NONE
    times = {
        "submit_ms": _ms(submit_us),
        "commit_start_ms": _ms(start_us, never_began),
        "end_ms": _ms(end_us, is_open),
        "commit_latency_ms": _ms(end_us - start_us, is_open | never_began),
        "total_latency_ms": _ms(end_us - submit_us, is_open),
        "hazard_window_ms": _ms(hazard_us, hazard_us == s.NONE),
    }
    for offset, phase in enumerate(s.PHASES):
        times[f"phase_{phase}_ms"] = _ms(columns[s.ROW_PHASES + offset])
    return times


def _counts(columns: Ints) -> dict[str, pa.Array]:
    attempts = columns[s.ROW_ATTEMPTS]
    n_behind = columns[s.ROW_N_BEHIND_FIRST]
    counts = {
        "attempts": _count(attempts),
        "retries": _count(np.maximum(attempts - 1, 0)),
        "restarts": _count(columns[s.ROW_RESTARTS]),
        "n_behind_first": pa.array(n_behind, mask=n_behind == s.NONE),
        "bytes_read": pa.array(columns[s.ROW_BYTES_READ]),
        "bytes_written": pa.array(columns[s.ROW_BYTES_WRITTEN]),
        "history_lists": _count(columns[s.ROW_HISTORY_LISTS]),
    }
    for offset, request in enumerate(s.REQUESTS):
        counts[f"requests_{request}"] = _count(columns[s.ROW_REQUESTS + offset])
    for offset, counter in enumerate(s.COUNTERS):
        counts[counter] = _count(columns[s.ROW_COUNTERS + offset])
    return counts


def _tables(columns: Ints, table_ids: Ints) -> dict[str, pa.Array]:
    n_read = columns[s.ROW_N_TABLES_READ]
    n_written = columns[s.ROW_N_TABLES_WRITTEN]
    starts = np.cumsum(n_read) - n_read
    position = np.arange(len(table_ids)) - np.repeat(starts, n_read)
    is_written = position < np.repeat(n_written, n_read)
    return {
        "tables_read": _lists(table_ids, n_read),
        "tables_written": _lists(table_ids[is_written], n_written),
    }


def _lists(values: Ints, lengths: Ints) -> pa.Array:
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    kind = s.TRANSACTION_SCHEMA.field("tables_read").type
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.astype(np.int32)), type=kind)


def _names(codes: Ints, names: Sequence[str]) -> pa.Array:
    """Dictionary of ``names``; a negative code is null."""
    is_null = codes < 0
    indices = pa.array(codes.astype(np.int32), mask=is_null if is_null.any() else None)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _ms(times_us: Ints, is_null: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    if is_null is None and not times_us.any():
        return _zeros(pa.float64(), len(times_us))
    values: Any = times_us / 1000.0
    return pa.array(values, mask=is_null)


def _count(values: Ints) -> pa.Array:
    return pa.array(values.astype(np.int32)) if values.any() else _zeros(pa.int32(), len(values))


@lru_cache(maxsize=8)
def _zeros(kind: pa.DataType, count: int) -> pa.Array:
    """A column of zeros: most counters of most runs are nothing else, and all of them can share one."""
    return pa.array(np.zeros(count, kind.to_pandas_dtype()), kind)
