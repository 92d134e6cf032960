"""The layout of a row, and what its fields become in Arrow."""

import numpy as np
import pyarrow as pa
import pytest

from endive.results import TRANSACTION_SCHEMA, columns_of, to_record_batch
from endive.results import schema as s
from endive.results.columns import check_columns
from endive.results.schema import Ints
from endive.vocabulary import ABORTED, TIMEOUT

SOURCES = ("stream", "nightly")


def test_every_column_says_its_unit_and_its_meaning():
    for field in TRANSACTION_SCHEMA:
        assert field.metadata[b"unit"].decode() in {"ms", "bytes", "count", "id", "name"}
        assert field.metadata[b"meaning"]
        assert field.name.endswith("_ms") == (field.metadata[b"unit"] == b"ms")


def test_a_batch_has_the_schema_survives_a_full_check_and_joins_others_of_its_run(four_outcomes):
    batch = to_record_batch(columns_of(*four_outcomes), SOURCES)

    batch.validate(full=True)
    assert batch.schema.equals(TRANSACTION_SCHEMA, check_metadata=True)
    assert pa.Table.from_batches([batch, batch]).column("source").unify_dictionaries().num_chunks == 2


def test_codes_become_names_microseconds_milliseconds_and_what_does_not_apply_null(four_outcomes):
    batch = to_record_batch(columns_of(*four_outcomes), SOURCES).to_pydict()

    expected = {
        "source": ["stream", "stream", "nightly", "stream"],
        "kind": ["fast_append", "validated_overwrite", "fast_append", "fast_append"],
        "status": ["committed", "aborted", "in_flight", "in_flight"],
        "in_flight_stage": [None, None, "executing", "committing"],
        "reason": [None, "retries_exhausted", None, None],
        "client": [None, 3, None, None],
        "submit_ms": [0.0, 0.5, 2.0, 3.0],
        "commit_start_ms": [1000.0, 1.5, None, 4.0],
        "end_ms": [1100.0, 2.75, None, None],
        "commit_latency_ms": [100.0, 1.25, None, None],
        "total_latency_ms": [1100.0, 2.25, None, None],
        "hazard_window_ms": [50.0, 50.0, None, 50.0],
        "n_behind_first": [0, 7, None, 0],
        "tables_read": [[4, 9], [5], [], [6]],
        "tables_written": [[4], [5], [], []],
    }
    assert expected == {name: batch[name] for name in expected}


def test_retries_are_attempts_less_the_first(four_outcomes):
    batch = to_record_batch(columns_of(*four_outcomes), SOURCES).to_pydict()

    assert ([1, 5, 0, 1], [0, 4, 0, 0]) == (batch["attempts"], batch["retries"])


def test_every_other_field_lands_in_the_column_of_its_name():
    row = np.arange(s.N_ROW, dtype=np.int64).reshape(1, -1)
    told_otherwise = {"source", "kind", "status", "reason", "n_tables_read", "n_tables_written"}
    row[0, [s.ROW_FIELDS.index(name) for name in told_otherwise]] = 0

    record = to_record_batch(columns_of(row, np.empty(0, np.int64)), SOURCES).to_pylist()[0]

    for position, field in enumerate(s.ROW_FIELDS):
        if field.endswith("_us"):
            assert position / 1000.0 == record[field.replace("_us", "_ms")]
        elif field not in told_otherwise:
            assert position == record[field]


def test_no_rows_make_an_empty_batch():
    batch = to_record_batch(columns_of(np.empty((0, s.N_ROW), np.int64), np.empty(0, np.int64)), SOURCES)

    assert (batch.num_rows, batch.schema) == (0, TRANSACTION_SCHEMA)


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ({"n_tables_read": 2}, "2 table ids promised"),
        ({"n_tables_written": 2}, "reads every table it writes"),
        ({"reason": TIMEOUT}, "exactly the aborted txns have a reason"),
        ({"status": ABORTED}, "exactly the aborted txns have a reason"),
        ({"end_us": s.NONE}, "exactly the txns not in flight have an end"),
        ({"commit_start_us": s.NONE}, "a committed txn began to commit"),
    ],
)
def test_a_row_that_breaks_an_engines_promise_is_not_taken(make_row, broken, complaint):
    row: Ints = make_row(**broken).reshape(1, -1)

    with pytest.raises(AssertionError, match=complaint):
        check_columns(columns_of(row, np.zeros(1, np.int64)))
