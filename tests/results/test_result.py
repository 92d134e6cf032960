"""Rows pass the sink once and come out as one result."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from endive.errors import OutputError
from endive.results import (
    MODEL_VERSION,
    Fingerprint,
    Provenance,
    ResultWriter,
    RowSink,
    Window,
    columns_of,
    package_version,
    to_record_batch,
)
from endive.results import schema as s
from endive.results.columns import TIMES

WINDOW = Window(duration_us=10_000, warmup_us=0, cooldown_us=0)
PROVENANCE = Provenance(
    config_hash="c0ffee", seed=7, engine="reference", version="1.2.3", model_version=11, schema_version=3
)
SOURCES = ("stream", "nightly")


def run(*parts, provenance=PROVENANCE, **options):
    sink = RowSink(WINDOW, SOURCES, **options)
    sink.start(provenance)
    for rows, table_ids in parts:
        sink.add(columns_of(rows, table_ids))
    return sink.finish()


def test_txns_come_out_sorted_by_id_whatever_the_order_they_ended_in(four_outcomes):
    rows, _ = four_outcomes
    result = run((rows[[3, 1]], np.array([6, 5])), (rows[[2, 0]], np.array([4, 9])))

    assert result.transactions.column("txn_id").to_pylist() == [0, 1, 2, 3]
    assert result.transactions.column("tables_read").to_pylist() == [[4, 9], [5], [], [6]]


def test_the_fingerprint_is_that_of_the_rows(four_outcomes):
    fingerprint = Fingerprint()
    fingerprint.update(columns_of(*four_outcomes))

    assert run(four_outcomes).fingerprint == fingerprint.hexdigest()


def test_many_rows_keep_their_own_tables(make_row):
    n = 20_000
    rows = np.repeat(make_row().reshape(1, -1), n, axis=0)
    rows[:, s.ROW_FIELDS.index("txn_id")] = np.arange(n)
    n_read = 1 + np.arange(n) % 2
    rows[:, s.ROW_FIELDS.index("n_tables_read")] = n_read
    result = run((rows, np.repeat(np.arange(n), n_read)))

    assert result.transactions.column("tables_read").to_pylist() == [[i] * (1 + i % 2) for i in range(n)]
    assert result.statistics.n_txns == n


def test_arrow_shares_the_memory_of_the_columns_it_is_given(four_outcomes):
    columns = columns_of(*four_outcomes)
    batch = to_record_batch(columns, SOURCES)

    columns.times[TIMES.index("submit_ms"), 0] = 7.5
    columns.read_ids[0] = 8

    assert [7.5, 0.5, 2.0, 3.0] == batch.column("submit_ms").to_pylist()
    assert [[8, 9], [5], [], [6]] == batch.column("tables_read").to_pylist()


def test_columns_that_stay_zero_are_one_array(four_outcomes):
    batch = to_record_batch(columns_of(*four_outcomes), SOURCES)

    addresses = {batch.column(name).buffers()[1].address for name in ("requests_log_head", "restarts", *s.COUNTERS)}

    assert 1 == len(addresses)


def test_the_json_object_has_the_agreed_keys_and_is_what_the_result_says(four_outcomes):
    result = run(four_outcomes)
    document = result.to_json_dict()

    keys = "config_hash seed engine fingerprint history_checked commits_untold window summary by_operation by_source"
    assert list(document) == [*keys.split(), "requests", "warnings", "figures"]
    assert (document["config_hash"], document["seed"], document["engine"]) == ("c0ffee", 7, "reference")
    assert document["history_checked"] is False
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    told = {"summary": result.summary(), "requests": result.requests(), "warnings": result.warnings}
    assert told.items() <= document.items()
    assert (result.summary()["txns"]["submitted"], result.statistics.counters.committed) == (4, 1)


def test_provenance_travels_with_the_table_and_with_the_file(tmp_path, four_outcomes):
    told = {"config_hash": "c0ffee", "seed": "7", "engine": "reference", "version": "1.2.3"}
    told |= {"model_version": "11", "schema_version": "3"}
    told |= {"duration_ms": "10.0", "warmup_ms": "0.0", "cooldown_ms": "0.0"}
    expected = {f"endive.{name}".encode(): value.encode() for name, value in told.items()}
    result = run(four_outcomes, writers=[ResultWriter(tmp_path / "streamed.parquet")])
    result.write(tmp_path / "t.parquet")

    assert result.transactions.schema.metadata == expected
    assert pq.read_schema(tmp_path / "t.parquet").metadata == expected
    assert pq.read_schema(tmp_path / "streamed.parquet").metadata == expected


def test_a_run_of_this_package_names_its_versions():
    provenance = Provenance(config_hash="c0ffee", seed=7, engine="compiled")

    assert provenance.to_dict() == {
        "config_hash": "c0ffee",
        "seed": 7,
        "engine": "compiled",
        "version": package_version(),
        "model_version": MODEL_VERSION,
        "schema_version": s.SCHEMA_VERSION,
    }


def test_a_written_result_is_the_result(tmp_path, four_outcomes):
    result = run(four_outcomes)
    result.write(tmp_path / "t.parquet")
    result.export_parquet(tmp_path / "same.parquet")

    assert pq.read_table(tmp_path / "t.parquet").to_pylist() == result.transactions.to_pylist()
    assert (tmp_path / "same.parquet").read_bytes() == (tmp_path / "t.parquet").read_bytes()


def test_a_run_streamed_to_files_reads_its_txns_back(tmp_path, four_outcomes):
    rows, _ = four_outcomes
    writers = [ResultWriter(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    streamed = run((rows[::-1], np.array([6, 5, 4, 9])), writers=writers, keep_transactions=False)

    assert streamed.transactions.to_pylist() == run(four_outcomes).transactions.to_pylist()
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_run_that_kept_no_txns_says_so_and_still_measures(four_outcomes):
    result = run(four_outcomes, keep_transactions=False)

    assert result.summary() == run(four_outcomes).summary()
    with pytest.raises(OutputError, match="kept no txns"):
        _ = result.transactions


def test_a_run_without_txns_is_a_result():
    result = run()

    assert (result.transactions.num_rows, result.fingerprint) == (0, "0000000000000000")
