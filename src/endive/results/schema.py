"""The transaction record: the one contract between the simulator and everything that reads results.

This file defines the Arrow schema and the places of a row's fields, both made from ``endive.vocabulary``. How rows
become Arrow is in ``endive.results.arrow``, what is computed from them in ``endive.results.statistics``, where
they are stored in ``endive.results.writer``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from endive.vocabulary import (
    ABORTED,
    COMMITTED,
    COUNTERS,
    KINDS,
    N_OPERATIONS,
    N_REQUESTS,
    N_ROW,
    NO_REASON,
    NONE,
    OBJECTS,
    OPERATIONS,
    PHASES,
    REASONS,
    REQUESTS,
    ROW_FIELDS,
    STATUSES,
)

__all__ = [  # words of the model that readers of results need beside the schema
    "COUNTERS",
    "KINDS",
    "NONE",
    "N_OPERATIONS",
    "N_REQUESTS",
    "N_ROW",
    "OBJECTS",
    "OPERATIONS",
    "PHASES",
    "REASONS",
    "REQUESTS",
    "ROW_FIELDS",
    "STATUSES",
]

Ints = npt.NDArray[np.int64]

SCHEMA_VERSION: Final = 1  # of TRANSACTION_SCHEMA: bump when a column changes name, type or meaning

# Places of a row's fields; plain ints, so that a compiled kernel may read them as globals.
ROW_TXN_ID: Final = ROW_FIELDS.index("txn_id")
ROW_SOURCE: Final = ROW_FIELDS.index("source")
ROW_CLIENT: Final = ROW_FIELDS.index("client")
ROW_SOURCE_INDEX: Final = ROW_FIELDS.index("source_index")
ROW_KIND: Final = ROW_FIELDS.index("kind")
ROW_STATUS: Final = ROW_FIELDS.index("status")
ROW_REASON: Final = ROW_FIELDS.index("reason")
ROW_SUBMIT_US: Final = ROW_FIELDS.index("submit_us")
ROW_COMMIT_START_US: Final = ROW_FIELDS.index("commit_start_us")
ROW_END_US: Final = ROW_FIELDS.index("end_us")
ROW_ATTEMPTS: Final = ROW_FIELDS.index("attempts")
ROW_RESTARTS: Final = ROW_FIELDS.index("restarts")
ROW_N_BEHIND_FIRST: Final = ROW_FIELDS.index("n_behind_first")
ROW_HAZARD_US: Final = ROW_FIELDS.index("hazard_us")
ROW_PHASES: Final = ROW_HAZARD_US + 1  # one for each phase
ROW_REQUESTS: Final = ROW_PHASES + len(PHASES)  # one for each request: object * len(OPERATIONS) + operation
ROW_BYTES_READ: Final = ROW_FIELDS.index("bytes_read")
ROW_BYTES_WRITTEN: Final = ROW_FIELDS.index("bytes_written")
ROW_HISTORY_LISTS: Final = ROW_FIELDS.index("history_lists")
ROW_COUNTERS: Final = ROW_FIELDS.index(COUNTERS[0])  # one for each counter
ROW_N_TABLES_READ: Final = ROW_FIELDS.index("n_tables_read")
ROW_N_TABLES_WRITTEN: Final = ROW_FIELDS.index("n_tables_written")


def check_rows(rows: Ints, table_ids: Ints) -> None:
    """What an engine promises about the rows it hands over."""
    assert rows.shape == (len(rows), N_ROW), f"rows of {N_ROW} fields, not {rows.shape}"
    assert rows.dtype == table_ids.dtype == np.int64, "rows and table ids are int64"
    n_read = rows[:, ROW_N_TABLES_READ]
    assert table_ids.shape == (n_read.sum(),), f"{n_read.sum()} table ids promised, {table_ids.shape} given"
    assert (rows[:, ROW_N_TABLES_WRITTEN] <= n_read).all(), "a txn reads every table it writes"
    status = rows[:, ROW_STATUS]
    has_reason = rows[:, ROW_REASON] != NO_REASON
    assert ((status == ABORTED) == has_reason).all(), "exactly the aborted txns have a reason"
    has_ended = rows[:, ROW_END_US] != NONE
    assert ((status <= ABORTED) == has_ended).all(), "exactly the txns not in flight have an end"
    never_began = rows[:, ROW_COMMIT_START_US] == NONE
    assert not (never_began & (status == COMMITTED)).any(), "a committed txn began to commit"


# ---- the Arrow schema ------------------------------------------------------------------------------


def _field(name: str, kind: pa.DataType, unit: str, meaning: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit, "meaning": meaning})


_NAME: Final = pa.dictionary(pa.int32(), pa.string())
_TABLES: Final = pa.list_(pa.field("element", pa.int32(), nullable=False))

TRANSACTION_SCHEMA: Final = pa.schema(
    [
        _field("txn_id", pa.int64(), "id", "identity of the txn within its run"),
        _field("source", _NAME, "name", "workload source that submitted it"),
        _field("client", pa.int32(), "id", "client of a closed loop; null in open ones", nullable=True),
        _field("source_index", pa.int64(), "id", "names the txn within its source, and its draws"),
        _field("kind", _NAME, "name", "operation type: " + ", ".join(KINDS)),
        _field("status", _NAME, "name", "committed, aborted or in_flight when the simulation ended"),
        _field("in_flight_stage", _NAME, "name", "executing or committing, if in flight", nullable=True),
        _field("reason", _NAME, "name", "why it aborted, if it did: " + ", ".join(REASONS[1:]), nullable=True),
        _field("submit_ms", pa.float64(), "ms", "simulated time of submission"),
        _field("commit_start_ms", pa.float64(), "ms", "when it first began to commit", nullable=True),
        _field("end_ms", pa.float64(), "ms", "when it committed or aborted", nullable=True),
        _field("commit_latency_ms", pa.float64(), "ms", "end_ms - commit_start_ms", nullable=True),
        _field("total_latency_ms", pa.float64(), "ms", "end_ms - submit_ms", nullable=True),
        _field("attempts", pa.int32(), "count", "commit attempts"),
        _field("retries", pa.int32(), "count", "attempts - 1, or 0 if it made none"),
        _field("restarts", pa.int32(), "count", "how often the whole txn began again"),
        _field("n_behind_first", pa.int64(), "count", "n_behind at the first attempt", nullable=True),
        _field("hazard_window_ms", pa.float64(), "ms", "hazard window of the last attempt", nullable=True),
        *(_field(f"phase_{phase}_ms", pa.float64(), "ms", f"time spent in {phase}") for phase in PHASES),
        *(
            _field(f"requests_{obj}_{op}", pa.int32(), "count", f"{op} requests for {obj} objects")
            for obj in OBJECTS
            for op in OPERATIONS
        ),
        _field("bytes_read", pa.int64(), "bytes", "bytes read from storage"),
        _field("bytes_written", pa.int64(), "bytes", "bytes written to storage"),
        _field("history_lists", pa.int32(), "count", "manifest lists read to validate history"),
        *(_field(counter, pa.int32(), "count", counter.replace("_", " ")) for counter in COUNTERS),
        _field("tables_read", _TABLES, "id", "tables in the read set"),
        _field("tables_written", _TABLES, "id", "tables in the write set"),
    ]
)
